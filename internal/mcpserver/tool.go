package mcpserver

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A tool is one entry of the list.
type tool interface {
	describe() *mcp.Tool
	run(ctx context.Context, c *call, arguments json.RawMessage) (result, error)
}

// A result is what a call gives: its JSON, and the same as text.
type result interface {
	readable() string
}

// A toolOf is a tool with these arguments and this result.
type toolOf[In any, Out result] struct {
	name, what string
	readOnly   bool
	do         func(c *call, ctx context.Context, in In) (Out, error)
}

// reads makes a tool that changes nothing.
func reads[In any, Out result](name, what string, do func(*call, context.Context, In) (Out, error)) tool {
	return toolOf[In, Out]{name, what, true, do}
}

// does makes a tool that does something.
func does[In any, Out result](name, what string, do func(*call, context.Context, In) (Out, error)) tool {
	return toolOf[In, Out]{name, what, false, do}
}

func (t toolOf[In, Out]) describe() *mcp.Tool {
	open := false // it is about this swarm, not about the world
	in := schemaOf[In]()
	in.AdditionalProperties = nil // [check] refuses what a schema does not name, and the model reads every word
	return &mcp.Tool{
		Name: t.name, Description: t.what,
		InputSchema: in, OutputSchema: schemaOf[Out](),
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: t.readOnly, OpenWorldHint: &open},
	}
}

func (t toolOf[In, Out]) run(ctx context.Context, c *call, arguments json.RawMessage) (result, error) {
	var in In
	if err := json.Unmarshal(arguments, &in); err != nil {
		return nil, err
	}
	out, err := t.do(c, ctx, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}

// schemaOf makes the schema of a struct. What the library cannot say of a field
// stands in further tags of it; see the package comment.
func schemaOf[T any]() *jsonschema.Schema {
	s, err := jsonschema.For[T](nil)
	if err != nil {
		panic("mcpserver: a struct of ours has no schema: " + err.Error())
	}
	of := reflect.TypeFor[T]()
	for of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	for i := range of.NumField() {
		f := of.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		p := s.Properties[name]
		if p == nil {
			continue
		}
		if words := f.Tag.Get("enum"); words != "" {
			for word := range strings.SplitSeq(words, ",") {
				p.Enum = append(p.Enum, word)
			}
		}
		p.Minimum, p.Maximum = bound(f, "minimum"), bound(f, "maximum")
		if f.Type.Kind() == reflect.Slice {
			p.Types, p.Type = nil, "array" // a list that is left out is not null
		}
	}
	s.Types, s.Type = nil, "object"
	return s
}

func bound(f reflect.StructField, tag string) *float64 {
	text := f.Tag.Get(tag)
	if text == "" {
		return nil
	}
	n, err := strconv.ParseFloat(text, 64)
	if err != nil {
		panic(fmt.Sprintf("mcpserver: %s of %s: %v", tag, f.Name, err))
	}
	return &n
}

func inputSchema(t *mcp.Tool) *jsonschema.Schema { return t.InputSchema.(*jsonschema.Schema) }
