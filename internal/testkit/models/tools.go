package models

import "encoding/json"

// A clientTool is a built-in tool of one of the clients.
type clientTool struct {
	name  string
	input func(call) any
}

// clientTools lists the tools for the words sh and write. A call uses the first tool in
// the list that the client offers.
var clientTools = map[string][]clientTool{
	"sh": {
		{"exec_command", func(c call) any { return map[string]any{"cmd": c.text} }},                                         // codex
		{"bash", func(c call) any { return map[string]any{"command": c.text, "description": "runs " + firstWord(c.text)} }}, // opencode, copilot
		{"run_shell_command", func(c call) any { return map[string]any{"command": c.text} }},                                // gemini
		{"run_commands", func(c call) any { return map[string]any{"commands": []string{c.text}} }},                          // cline
	},
	"write": {
		{"apply_patch", func(c call) any { return patch(c.name, c.text) }},                                        // codex
		{"write", func(c call) any { return map[string]any{"filePath": c.name, "content": c.text + "\n"} }},       // opencode
		{"create", func(c call) any { return map[string]any{"path": c.name, "file_text": c.text + "\n"} }},        // copilot
		{"write_file", func(c call) any { return map[string]any{"file_path": c.name, "content": c.text + "\n"} }}, // gemini
		{"exec_command", func(c call) any {
			return map[string]any{"cmd": "apply_patch <<'END'\n" + patch(c.name, c.text) + "END\n"}
		}}, // codex, for an unknown model
		{"editor", func(c call) any { return map[string]any{"path": c.name, "new_text": c.text + "\n"} }}, // cline
	},
}

func rawInput(text string) any { return json.RawMessage(text) }

// patch returns the patch text that makes codex's tool create a file.
func patch(file, text string) string {
	return "*** Begin Patch\n*** Add File: " + file + "\n+" + text + "\n*** End Patch\n"
}
