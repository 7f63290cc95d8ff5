package acp

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// In the file for copilot and cline, only a server with a URL has a type. The configuration
// gives every server one.
func TestAProgramHasNoTypeInTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "servers.json")
	err := writeServers(path, map[string]runner.Server{
		"far":   {Type: "http", URL: "https://example.com/mcp"},
		"files": {Type: "stdio", Command: "npx"},
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "mcpServers": {
    "far": {
      "type": "http",
      "url": "https://example.com/mcp",
      "tools": [
        "*"
      ],
      "disabled": false
    },
    "files": {
      "command": "npx",
      "tools": [
        "*"
      ],
      "disabled": false
    }
  }
}
`
	if string(got) != want {
		t.Errorf("the file is\n%s\nwant\n%s", got, want)
	}
}
