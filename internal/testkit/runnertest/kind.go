package runnertest

import (
	"encoding/json"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Version is the version that every scripted client reports.
const Version = "1.2.3"

// kind is the default kind of scripted client.
var kind = runner.Kind{Name: "scripted", Cost: runner.CostOfResult, Caps: true, Resumes: true, Forks: true, RunsOnce: true, Steers: true, Compacts: true, Tools: tools{}, Hooks: hooks{}, Login: runner.Login{Vars: []string{"SCRIPTED_KEY", "HOME"}}}

// plain is a scripted client without optional features.
var plain = runner.Kind{Name: kind.Name, Tools: kind.Tools, Hooks: kind.Hooks, Login: kind.Login}

// asking is a scripted client that names its sessions, asks before it uses a tool, reruns
// a prompt that it receives twice, and reports no cost.
var asking = runner.Kind{Name: kind.Name, Resumes: true, NamesSessions: true, Asks: true, Steers: true, Compacts: true, Tools: kind.Tools, Hooks: kind.Hooks, Login: kind.Login}

// quiet is a scripted client that resumes its session, but reports less and reads no mail
// during a turn.
var quiet = runner.Kind{Name: kind.Name, Cost: kind.Cost, Caps: kind.Caps, Resumes: true, RunsOnce: true, Tools: kind.Tools, Login: kind.Login}

// These are the tools of a scripted client.
const (
	Shell = "shell" // runs a command: {"command": "npm test"}
	Save  = "save"  // writes a file: {"path": "a.go"}
)

// tools describes the calls of these tools.
type tools struct{}

func (tools) About(tool string, input []byte) string {
	var in struct{ Command, Path string }
	_ = json.Unmarshal(input, &in) // the input of other tools can be anything
	return in.Command + in.Path
}

func (t tools) Changes(tool string, input []byte) string {
	if tool != Save {
		return ""
	}
	return t.About(tool, input)
}

func (t tools) Runs(tool string, input []byte) string {
	if tool != Shell {
		return ""
	}
	return t.About(tool, input)
}

// Look is a tool that only reads.
const Look = "look"

func (tools) Looks(tool string, _ []byte) bool { return tool == Look }

func (tools) Waits(string, []byte) bool { return false }

func (t tools) Allow(tool string, input []byte) string { return tool + " " + t.About(tool, input) }

// HookRoom is the maximum length of the text that a scripted client accepts from its
// hook.
const HookRoom = 4000

// hooks describes the only hook of a scripted client, which prints text for the model.
type hooks struct{}

const hookEvent = "compacted"

func (hooks) Room() int                 { return HookRoom }
func (hooks) Answer(text string) []byte { return []byte(text) }

func (hooks) Blocked(string, string) string { return "" }

func (hooks) Answered(ev *streamjson.Event) (printed string, ok, ended bool) {
	if ev.Hook == nil || ev.Hook.Event != hookEvent {
		return "", false, false
	}
	return ev.Hook.Output, true, true
}
