package claude

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// builtIn lists the tools that may need permission in the supported and earlier client
// versions. A name that the client does not recognize has no effect.
var builtIn = []string{
	"Agent", "Bash", "BashOutput", "Edit", "EnterWorktree", "ExitWorktree",
	"Glob", "Grep", "KillShell", "LS", "MultiEdit", "NotebookEdit", "Read", "ReportFindings",
	"Skill", "SlashCommand", "Task", "TaskCreate", "TaskGet", "TaskList", "TaskOutput", "TaskStop",
	"TaskUpdate", "TodoWrite", "WebFetch", "WebSearch", "Write",
}

// never lists the tools that no agent gets, even if its configuration allows them.
// AskUserQuestion would never get an answer. The other two can find every session of the
// same user and send messages to it, which bypasses the mailboxes and their rules. Version
// 2.1.330 runs them without asking for permission.
var never = []string{"AskUserQuestion", "ListAgents", "SendMessage"}

// behind lists the tools with which a client can begin work that no message requested, at a
// set time, on an event, or in other sessions, and Workflow, which runs many sub-agents in
// the background even with [noBackground]. An agent gets these tools only if
// [runner.Spec.Background] is set or its list of allowed tools contains them.
var behind = []string{"CronCreate", "CronDelete", "CronList", "Monitor", "ScheduleWakeup", "TeamCreate", "TeamDelete", "Workflow"}

// mail lists the commands that every agent with tools may run.
var mail = []string{
	"Bash(claude-swarm send:*)", "Bash(claude-swarm reply:*)", "Bash(claude-swarm inbox:*)", "Bash(claude-swarm read:*)",
	"Bash(claude-swarm irc send:*)", "Bash(claude-swarm irc read:*)", "Bash(claude-swarm irc ask:*)", "Bash(claude-swarm irc channels:*)", "Bash(claude-swarm irc who:*)",
}

func command(t runner.Turn) []string {
	if len(t.Spec.Command) == 0 {
		return slices.Clone(kind.Command)
	}
	return slices.Clone(t.Spec.Command)
}

// arguments returns the client's flags for a turn.
func arguments(t runner.Turn) []string {
	s := t.Spec
	args := []string{
		"-p", "--input-format", "stream-json", "--output-format", "stream-json",
		"--verbose", "--replay-user-messages",
		"--strict-mcp-config", // otherwise the client starts the servers in the project's .mcp.json without asking
	}
	switch t.Session.How {
	case runner.Resume:
		args = append(args, "--resume", t.Session.ID)
	case runner.Fork:
		args = append(args, "--resume", t.Session.From, "--fork-session", "--session-id", t.Session.ID)
	case runner.Continue:
		args = append(args, "--continue")
	default:
		args = append(args, "--session-id", t.Session.ID)
	}
	if s.System != "" {
		args = append(args, "--append-system-prompt-file", t.System)
	}
	if t.Settings != "" {
		args = append(args, "--settings", t.Settings)
	}
	if hasServers(t) {
		args = append(args, "--mcp-config", t.Servers)
	}
	if s.Model != "" {
		args = append(args, "--model", s.Model)
	}
	if effort, _ := thinking(s.Thinking); effort != "" {
		args = append(args, "--effort", effort)
	}
	args = append(args, capArguments(t)...)
	if t.Partial {
		args = append(args, "--include-partial-messages")
	}
	if mode := permissionMode(s); mode != "" {
		args = append(args, "--permission-mode", mode)
	}
	if s.NoTools {
		return append(args, "--tools", "")
	}
	args = append(args, "--allowedTools")
	args = append(args, allowed(s)...)
	args = append(args, ownTools(t)...)
	args = append(args, "--disallowedTools")
	return append(args, disallowed(t)...)
}

// uncapped is a tool that a turn with a cap does not get, even if the agent's list contains
// it: version 2.1.197 does not stop a workflow at the cap.
const uncapped = "Workflow"

// disallowed returns the tools that are denied to the agent in a turn.
func disallowed(t runner.Turn) []string {
	s := t.Spec
	tools := slices.Clone(never)
	if capOf(t) > 0 {
		tools = append(tools, uncapped)
	}
	if !s.Background {
		for _, tool := range behind {
			if slices.Contains(tools, tool) {
				continue
			}
			if s.AllowedTools == nil || !names(*s.AllowedTools, tool) {
				tools = append(tools, tool)
			}
		}
	}
	for _, tool := range slices.Concat(listed, s.Unsorted) {
		if s.AllowedTools == nil || !names(*s.AllowedTools, tool) {
			tools = append(tools, tool)
		}
	}
	if s.DisallowedTools != nil {
		tools = append(tools, *s.DisallowedTools...)
	}
	return tools
}

// names reports whether a list of rules, such as Bash(git diff:*), has a rule for the
// tool.
func names(rules []string, tool string) bool {
	return slices.ContainsFunc(rules, func(rule string) bool {
		name, _, _ := strings.Cut(rule, "(")
		return strings.TrimSpace(name) == tool
	})
}

func permissionMode(s runner.Spec) string {
	if s.NoTools {
		return modeAllowed
	}
	if s.AllowedTools == nil || s.PermissionMode == modeBypass || s.PermissionMode == modePlan {
		return s.PermissionMode
	}
	return modeAllowed
}

func allowed(s runner.Spec) []string {
	switch {
	case s.AllowedTools != nil:
		return append(slices.Clone(*s.AllowedTools), mail...)
	case s.PermissionMode == modePlan:
		return mail // a list with Bash would allow every command, even in plan mode
	}
	if s.Background {
		return slices.Concat(builtIn, behind, mail, furtherTools(s))
	}
	return slices.Concat(builtIn, mail, furtherTools(s))
}

// thinking converts the setting to a value for --effort, or to a number of tokens for the
// environment.
func thinking(setting string) (effort, tokens string) {
	if setting == "off" {
		return "", "0"
	}
	if _, err := strconv.ParseUint(setting, 10, 32); err == nil {
		return "", setting
	}
	return setting, ""
}

// maxRetries limits how many times the client retries an API request. The number is the
// default in version 2.1.197. The retries take three minutes in total, which is enough
// for a short overload.
const maxRetries = "CLAUDE_CODE_MAX_RETRIES=10"

// noBackground makes a tool call wait for its command or sub-agent. Version 2.1.330 would
// run sub-agents in the background.
const noBackground = "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS=1"

// noMemory makes the client neither read nor offer its own memory, which all agents and
// all sessions of a repository share. The client (2.1.197 to 2.1.332) still lets every
// agent write it, regardless of the list of allowed tools; [denied] prevents that.
const noMemory = "CLAUDE_CODE_DISABLE_AUTO_MEMORY=1"

func environment(t runner.Turn) []string {
	env := slices.Clone(t.Env)
	ask := func(entry string) {
		name, _, _ := strings.Cut(entry, "=")
		if !slices.ContainsFunc(env, func(e string) bool { return strings.HasPrefix(e, name+"=") }) {
			env = append(env, entry)
		}
	}
	ask(maxRetries)
	ask(noMemory)
	if !t.Spec.Background {
		ask(noBackground)
	}
	env = append(env, connectWaits(env)...)
	if _, tokens := thinking(t.Spec.Thinking); tokens != "" {
		env = slices.DeleteFunc(env, func(e string) bool { return strings.HasPrefix(e, "MAX_THINKING_TOKENS=") })
		env = append(env, "MAX_THINKING_TOKENS="+tokens)
	}
	return env
}

// hookTimeout is how long, in seconds, the client waits for our hook, which reads one
// file. After this time, the turn continues without the hook's output.
const hookTimeout = 20

// settings returns the settings file, which contains the options that have no flag.
func settings(t runner.Turn) []byte {
	type hook struct {
		Type    string `json:"type"`
		Command string `json:"command"`
		Timeout int    `json:"timeout"`
	}
	type matcher struct {
		Matcher string `json:"matcher"`
		Hooks   []hook `json:"hooks"`
	}
	type permissions struct {
		Deny []string `json:"deny"`
	}
	var s struct {
		AutoCompactWindow   int                  `json:"autoCompactWindow,omitempty"`
		CrossSessionInbound string               `json:"crossSessionInbound"`
		Hooks               map[string][]matcher `json:"hooks,omitempty"`
		Permissions         *permissions         `json:"permissions,omitempty"`
	}
	if deny := denied(t.Protected); len(deny) > 0 {
		s.Permissions = &permissions{Deny: deny}
	}
	s.AutoCompactWindow = t.Spec.CompactWindow
	// Make the client drop messages from other sessions of this user, so that messages
	// arrive only through the mailbox.
	s.CrossSessionInbound = "refuse"
	if t.Hook != "" {
		s.Hooks = map[string][]matcher{"SessionStart": {{Matcher: "compact", Hooks: []hook{{"command", t.Hook, hookTimeout}}}}}
	}
	data, err := json.MarshalIndent(s, "", "  ")
	if err != nil {
		panic("claude: settings could not be encoded as JSON: " + err.Error())
	}
	return append(data, '\n')
}

// writeFiles writes the files that the client reads.
func writeFiles(t runner.Turn) error {
	if t.Settings != "" {
		if err := writeChanged(t.Settings, settings(t)); err != nil {
			return fmt.Errorf("write the turn's settings: %w", err)
		}
	}
	if hasServers(t) {
		if err := writeChanged(t.Servers, servers(t)); err != nil {
			return fmt.Errorf("write the turn's MCP servers: %w", err)
		}
	}
	if t.Spec.System != "" {
		if err := writeChanged(t.System, []byte(t.Spec.System)); err != nil {
			return fmt.Errorf("write the turn's system prompt: %w", err)
		}
	}
	return nil
}

// writeChanged writes a file unless it already has this content. Reading a small file
// takes a tenth of the time needed to write it, and the client cannot start before the
// files are written.
func writeChanged(path string, data []byte) error {
	if old, err := os.ReadFile(path); err == nil && bytes.Equal(old, data) {
		return nil
	}
	return os.WriteFile(path, data, 0o600)
}

// connectWaits returns the variables that make the client wait for its MCP servers as long
// as a proof does. It omits variables that env already contains. MCP_TIMEOUT (default 30 s)
// is how long the client tries to connect to one server. Claude Code 2.1.330 also delays
// its first prompt by up to that time, for any server. The second variable limits this
// delay to 30 s, so a hanging server in the user's configuration delays the prompt no
// longer than by default.
func connectWaits(env []string) []string {
	var add []string
	for _, e := range []string{
		"MCP_TIMEOUT=" + strconv.FormatInt(runner.DefaultTiming().Connect.Milliseconds(), 10),
		"CLAUDE_CODE_MCP_STARTUP_WAIT_MS=30000",
	} {
		name, _, _ := strings.Cut(e, "=")
		if !slices.ContainsFunc(env, func(has string) bool { return strings.HasPrefix(has, name+"=") }) {
			add = append(add, e)
		}
	}
	return add
}
