package runner

import (
	"maps"
	"slices"
	"strings"
)

// A client and all its children have these variables in their environments. If they are
// set, claude-swarm acts on behalf of the agent and the turn that they identify.
const (
	AgentVar = "CLAUDE_SWARM_AGENT" // the agent's name
	DirVar   = "CLAUDE_SWARM_DIR"   // the project's directory
	TokenVar = "CLAUDE_SWARM_TOKEN" // the secret that proves that a message comes from the agent
	MarkVar  = "CLAUDE_SWARM_TURN"  // the turn's id, which identifies its leftovers
	ReadyVar = "CLAUDE_SWARM_READY" // the file that our tool server creates once its tools have been listed; can be unset
)

// VerifierMark is the beginning of the mark of a verifier (see package verify) and of all its
// children. They run the code of an agent without an agent's turn, and may not use the swarm. No
// id of a turn begins with it.
const VerifierMark = "verify-v"

// EnvOptions describes how a client's environment differs from the daemon's.
type EnvOptions struct {
	Drop   []string          // names of variables to remove; PREFIX_* removes all variables with that prefix
	Add    map[string]string // variables to add or replace
	Agent  string
	Dir    string // the project's directory
	Token  string
	TurnID string
	BinDir string // the directory of our own program, which is prepended to PATH; "" leaves PATH unchanged
}

// A client must not conclude that it was started by another client, so Environ removes
// the variables that clients set for their children. It keeps the variables that a
// person's login uses.
var (
	alwaysDropped = []string{"CLAUDE*", "AI_AGENT",
		"CODEX_SESSION_ID", "CODEX_THREAD_ID", "CODEX_TOOL_CALL_ID", "CODEX_CI", "OPENCODE", "OPENCODE_PID", "OPENCODE_CLIENT",
		"COPILOT_CLI", "COPILOT_AGENT_SESSION_ID", "GEMINI_CLI", "CLINE_CONNECTOR_CLI_LAUNCH"}
	alwaysKept = []string{"CLAUDE_CONFIG_DIR", "CLAUDE_CODE_OAUTH_TOKEN", "CLAUDE_CODE_USE_*"}
)

// Environ builds the complete environment of a client from base, which has the form of
// [os.Environ]. The variables in o.Add take precedence over base and over all rules, and
// our own variables take precedence over those. The result is sorted and has one entry
// per name.
func Environ(base []string, o EnvOptions) []string {
	env := make(map[string]string, len(base)+8)
	for _, entry := range base {
		name, value, ok := strings.Cut(entry, "=")
		if !ok || name == "" || matches(o.Drop, name) {
			continue
		}
		if matches(alwaysDropped, name) && !matches(alwaysKept, name) {
			continue
		}
		env[name] = value
	}
	maps.Copy(env, o.Add)
	if o.BinDir != "" {
		env["PATH"] = prefixPath(o.BinDir, env["PATH"])
	}
	env[AgentVar] = o.Agent
	env[DirVar] = o.Dir
	env[TokenVar] = o.Token
	env[MarkVar] = o.TurnID
	out := make([]string, 0, len(env))
	for _, name := range slices.Sorted(maps.Keys(env)) {
		out = append(out, name+"="+env[name])
	}
	return out
}

func matches(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		prefix, wild := strings.CutSuffix(p, "*")
		return wild && strings.HasPrefix(name, prefix) || p == name
	})
}

func prefixPath(dir, path string) string {
	if path == "" {
		return dir // a trailing colon would mean the working directory
	}
	return dir + ":" + path
}

// markIn returns the mark in an environment, or "" if there is no mark in it.
func markIn(env []string) string {
	for _, entry := range slices.Backward(env) { // if there are several entries, the last one applies
		if mark, ok := strings.CutPrefix(entry, MarkVar+"="); ok {
			return mark
		}
	}
	return ""
}
