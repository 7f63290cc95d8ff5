package main

import (
	"context"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// toolsVar is the environment variable that makes this program act as the MCP server that
// the clients start.
const toolsVar = "ACPRECORD_TOOLS"

// serveTools offers one tool, send, as our own server does.
func serveTools(ctx context.Context) error {
	type arguments struct {
		To   string `json:"to" jsonschema:"who gets the message"`
		Text string `json:"text"`
	}
	s := mcp.NewServer(&mcp.Implementation{Name: "dead-drop", Version: "1"}, nil)
	mcp.AddTool(s, &mcp.Tool{Name: "send", Description: "Sends a message."},
		func(_ context.Context, _ *mcp.CallToolRequest, in arguments) (*mcp.CallToolResult, any, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.TextContent{Text: "sent to " + in.To}}}, nil, nil
		})
	return s.Run(ctx, &mcp.StdioTransport{})
}
