package claude

import "testing"

func TestWhatACallIsAbout(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"go test ./...","description":"x"}`, "go test ./..."},
		{"Edit", `{"file_path":"a.go","old_string":"x"}`, "a.go"},
		{"Grep", `{"path":".","pattern":"f.o"}`, "f.o"},
		{"Bash", `{"cmd": 1}`, ""},
		{"mcp__x__y", `{"command":"ls"}`, ""},
		{"Bash", `{"command":"go te`, ""},
		{"Bash", `{"command":"a \"b\"\nc"}`, "a \"b\"\nc"},
		{"Bash", `{"description":"d","command":"a"}`, "a"},
		{"Bash", `{"description":"\"command\":\"no\""}`, ""},
		{"Bash", `{"command":["a"]}`, ""},
		{"Bash", `{"command":"tail\n","x":null}`, "tail\n"},
	} {
		if got := (tools{}).About(c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %s is about %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestWhatACallChanges(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"a.go","content":"x"}`, "a.go"},
		{"MultiEdit", `{"file_path":"a.go"}`, "a.go"},
		{"NotebookEdit", `{"notebook_path":"a.ipynb"}`, "a.ipynb"},
		{"Read", `{"file_path":"a.go"}`, ""},
		{"Write", `{"file_path":"a.g`, ""},
	} {
		if got := (tools{}).Changes(c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %s changes %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}

func TestWhatACallRuns(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Bash", `{"command":"go test","description":"x"}`, "go test"},
		{"PowerShell", `{"command":"dir"}`, "dir"},
		{"Read", `{"command":"dir"}`, ""},
		{"Bash", `{"command":1}`, ""},
	} {
		if got := (tools{}).Runs(c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %s runs %q, want %q", c.tool, c.input, got, c.want)
		}
	}
	for _, tool := range []string{"TaskOutput", "BashOutput", "AgentOutputTool", "ScheduleWakeup"} {
		if !(tools{}).Waits(tool, nil) {
			t.Errorf("%s does not wait", tool)
		}
	}
	if (tools{}).Waits("Bash", []byte(`{"command":"sleep 1"}`)) {
		t.Error("a command counts as a tool that waits")
	}
}

func TestAllowEntries(t *testing.T) {
	for _, c := range []struct{ tool, input, want string }{
		{"Write", `{"file_path":"a.go"}`, "Write"},
		{"Bash", `{"command":"npm test"}`, "Bash(npm test:*)"},
		{"Bash", `{"command":"git commit -m \"a b\""}`, "Bash(git commit:*)"},
		{"Bash", `{"command":"ls -l /tmp"}`, "Bash(ls:*)"},
		{"Bash", `{"command":"git -C x status"}`, "Bash(git:*)"},
		{"Bash", `{"command":"cd x && rm -rf y"}`, "Bash"},
		{"Bash", `{"command":"A=1 make"}`, "Bash"},
		{"Bash", `{"command":""}`, "Bash"},
		{"WebFetch", `{"url":"https://go.dev/doc/x"}`, "WebFetch(domain:go.dev)"},
		{"mcp__dead-drop__send", `not json`, "mcp__dead-drop__send"},
	} {
		if got := (tools{}).Allow(c.tool, []byte(c.input)); got != c.want {
			t.Errorf("%s %s is allowed by %q, want %q", c.tool, c.input, got, c.want)
		}
	}
}
