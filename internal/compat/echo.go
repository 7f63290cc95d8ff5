package compat

import (
	"bufio"
	"encoding/json"
	"io"
)

// ServeEcho runs an MCP server with one tool, echo. It returns when its input ends.
func ServeEcho(in io.Reader, out io.Writer) {
	enc := json.NewEncoder(out)
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var q struct {
			ID     json.RawMessage `json:"id"`
			Method string          `json:"method"`
			Params struct {
				Version string `json:"protocolVersion"`
			} `json:"params"`
		}
		if json.Unmarshal(lines.Bytes(), &q) != nil || q.ID == nil {
			continue // a notification
		}
		var result any
		switch q.Method {
		case "initialize":
			result = map[string]any{
				"protocolVersion": q.Params.Version, "capabilities": map[string]any{"tools": map[string]any{}},
				"serverInfo": map[string]any{"name": "compat", "version": "1"},
			}
		case "tools/list":
			result = map[string]any{"tools": []any{map[string]any{
				"name": "echo", "description": "Says it again.", "inputSchema": map[string]any{"type": "object"},
			}}}
		case "tools/call":
			result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "echo"}}}
		default:
			result = map[string]any{}
		}
		if enc.Encode(map[string]any{"jsonrpc": "2.0", "id": q.ID, "result": result}) != nil {
			return
		}
	}
}
