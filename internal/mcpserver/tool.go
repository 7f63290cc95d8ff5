package mcpserver

import (
	"context"
	"encoding/json"
)

// A Tool is the description of a tool in the form that clients read.
type Tool struct {
	Name        string      `json:"name"`
	Description string      `json:"description"`
	Input       *Schema     `json:"inputSchema"`
	Output      *Schema     `json:"outputSchema"`
	Annotations annotations `json:"annotations"`
}

// annotations are hints to the client. OpenWorld is false for every tool.
type annotations struct {
	ReadOnly  bool `json:"readOnlyHint"`
	OpenWorld bool `json:"openWorldHint"`
}

// A tool is one entry in the list of tools.
type tool interface {
	describe() *Tool
	run(ctx context.Context, c *call, arguments json.RawMessage) (result, error)
}

// A result is the result of a call. It can be shown as JSON and as text.
type result interface {
	readable() string
}

// A toolOf is one tool in a group of tools, with arguments of type In and a result of type
// Out. Its field "of" is the function that creates the group for one call.
type toolOf[Group, In any, Out result] struct {
	name, what string
	readOnly   bool
	of         func(*call) Group
	do         func(g Group, ctx context.Context, in In) (Out, error)
}

// noArguments is the argument type of a tool without arguments.
type noArguments struct{}

// reads creates a tool that is marked as read-only for the client.
func reads[Group, In any, Out result](name, what string, of func(*call) Group, do func(Group, context.Context, In) (Out, error)) tool {
	return toolOf[Group, In, Out]{name, what, true, of, do}
}

// does creates a tool that is not marked as read-only.
func does[Group, In any, Out result](name, what string, of func(*call) Group, do func(Group, context.Context, In) (Out, error)) tool {
	return toolOf[Group, In, Out]{name, what, false, of, do}
}

func (t toolOf[Group, In, Out]) describe() *Tool {
	in := schemaOf[In]()
	in.Closed = false // omitted to save context: [check] rejects unknown arguments anyway
	out := schemaOf[Out]()
	out.Closed = false // every result may contain whispers
	return &Tool{Name: t.name, Description: t.what, Input: in, Output: out, Annotations: annotations{ReadOnly: t.readOnly}}
}

func (t toolOf[Group, In, Out]) run(ctx context.Context, c *call, arguments json.RawMessage) (result, error) {
	var in In
	if err := json.Unmarshal(arguments, &in); err != nil {
		return nil, err
	}
	out, err := t.do(t.of(c), ctx, in)
	if err != nil {
		return nil, err
	}
	return out, nil
}
