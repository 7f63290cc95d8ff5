package mcpserver

import (
	"context"
	"encoding/json"
)

// A Tool is the description of a tool, as clients read it.
type Tool struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Input       *Schema     `json:"inputSchema"`
	Output      *Schema     `json:"outputSchema"`
	Annotations annotations `json:"annotations"`
}

// annotations are hints to the client. A tool is about this swarm, not about the world.
type annotations struct {
	ReadOnly  bool `json:"readOnlyHint"`
	OpenWorld bool `json:"openWorldHint"`
}

// A tool is one entry of the list.
type tool interface {
	describe() *Tool
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

func (t toolOf[In, Out]) describe() *Tool {
	in := schemaOf[In]()
	in.Closed = false // [check] refuses what a schema does not name, and the model reads every word
	return &Tool{Name: t.name, Description: t.what, Input: in, Output: schemaOf[Out](), Annotations: annotations{ReadOnly: t.readOnly}}
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
