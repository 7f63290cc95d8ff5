package claude

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// tools interprets calls to the client's tools.
type tools struct{}

// aboutKeys contains, for the most common tools, the name of the argument that best
// describes a call.
var aboutKeys = map[string]string{
	"Bash":         "command",
	"Read":         "file_path",
	"Write":        "file_path",
	"Edit":         "file_path",
	"MultiEdit":    "file_path",
	"NotebookEdit": "notebook_path",
	"Glob":         "pattern",
	"Grep":         "pattern",
	"WebFetch":     "url",
	"WebSearch":    "query",
}

func (tools) About(tool string, input []byte) string {
	key := aboutKeys[tool]
	if key == "" {
		return ""
	}
	return stringField(input, key)
}

// stringField returns the field named key of a JSON object, or "" if the field is missing
// or is not a string.
func stringField(input []byte, key string) string {
	// The field is nearly always the first one and contains no escape sequences.
	if rest, ok := bytes.CutPrefix(input, []byte(`{"`+key+`":"`)); ok {
		if end := bytes.IndexAny(rest, `"\\`); end >= 0 && rest[end] == '"' {
			return string(rest[:end])
		}
	}
	var fields map[string]json.RawMessage
	var field string
	if json.Unmarshal(input, &fields) != nil || json.Unmarshal(fields[key], &field) != nil {
		return ""
	}
	return field
}

func (tools) Changes(tool string, input []byte) string {
	switch tool {
	case "Write", "Edit", "MultiEdit", "NotebookEdit":
	default:
		return ""
	}
	var in struct {
		File     string `json:"file_path"`
		Notebook string `json:"notebook_path"`
	}
	if json.Unmarshal(input, &in) != nil {
		return ""
	}
	return cmp.Or(in.File, in.Notebook)
}

func (tools) Runs(tool string, input []byte) string {
	switch tool {
	case "Bash", "PowerShell":
		return stringField(input, "command")
	}
	return ""
}

// looking lists the built-in tools that change nothing outside the client: they read, search
// and fetch, load a skill, or keep the client's list of tasks.
var looking = []string{
	"AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "Glob", "Grep", "LS", "ListAgents", "ListMcpResourcesTool", "LSP", "NotebookRead", "Read",
	"ReadMcpResourceTool", "ReportFindings", "Skill", "SlashCommand", "TaskCreate", "TaskGet", "TaskList", "TaskUpdate", "TodoRead", "TodoWrite",
	"ToolSearch", "WebFetch", "WebSearch", "CronList",
}

func (tools) Looks(tool string, _ []byte) bool { return slices.Contains(looking, tool) }

func (tools) Waits(tool string, _ []byte) bool {
	switch tool {
	case "TaskOutput", "BashOutput", "AgentOutputTool", "ScheduleWakeup": // BashOutput and AgentOutputTool are from versions before 2.1
		return true
	}
	return false
}

func (tools) Allow(tool string, input []byte) string {
	var in struct {
		Command string `json:"command"`
		URL     string `json:"url"`
	}
	if json.Unmarshal(input, &in) != nil {
		return tool
	}
	switch tool {
	case "Bash":
		if prefix := commandPrefix(in.Command); prefix != "" {
			return "Bash(" + prefix + ":*)"
		}
	case "WebFetch":
		if u, err := url.Parse(in.URL); err == nil && u.Hostname() != "" {
			return "WebFetch(domain:" + u.Hostname() + ")"
		}
	}
	return tool
}

// verbed lists the programs whose first argument is a subcommand. An entry for all calls
// to such a program would allow far more than the denied call.
var verbed = map[string]bool{
	"git": true, "go": true, "npm": true, "yarn": true, "pnpm": true, "cargo": true,
	"make": true, "docker": true, "kubectl": true, "pip": true, "claude-swarm": true,
}

// commandPrefix returns the program of a simple command, followed by the subcommand if
// the program is in verbed. It returns "" for a compound command, because each part would
// need a separate entry.
func commandPrefix(command string) string {
	if strings.ContainsAny(command, ";&|<>()`$\n") {
		return ""
	}
	words := strings.Fields(command)
	switch {
	case len(words) == 0 || strings.Contains(words[0], "="):
		return ""
	case len(words) > 1 && verbed[words[0]] && !strings.HasPrefix(words[1], "-"):
		return words[0] + " " + words[1]
	}
	return words[0]
}
