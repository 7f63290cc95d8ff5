package claude

import "github.com/claude-swarm/claude-swarm/swarm/runner"

// These are the permission modes that we treat specially.
const (
	modePlan    = "plan"              // the client changes nothing
	modeAllowed = "dontAsk"           // the client denies every tool that is not allowed
	modeBypass  = "bypassPermissions" // the client never asks for permission
)

var kind = runner.Kind{
	Name: "claude", Title: "Claude Code", Command: []string{"claude"},
	Modes: []string{"default", "acceptEdits", modePlan, modeAllowed, modeBypass}, Mode: "acceptEdits", Bypass: modeBypass, Look: modePlan,
	Install: locked.Install(), Version: runner.Version{Supported: Supported, Install: locked.Install() + "@" + Newest, Read: readVersion},
	Cost: runner.CostOfProcess, Caps: true, Resumes: true, Forks: true, Attaches: true, RunsOnce: true, Steers: true, Compacts: true,
	Echo: echo,
	Own: runner.OwnFiles{
		// Not plans: in the mode plan, the client writes its plan there.
		Folder: []string{
			"settings*.json", ".credentials.json", ".claude.json", "CLAUDE.md", "projects", "agents", "commands", "skills", "hooks",
			"output-styles", "plugins", "rules",
		},
		Home: []string{".claude.json"},
		// The front matter of agents, commands and skills can name hooks, which run commands.
		Project:       []string{".claude/settings*.json", ".claude/agents", ".claude/commands", ".claude/skills", ".claude/hooks", ".mcp.json"},
		Memory:        []string{"projects/*/memory", "agent-memory"},
		ProjectMemory: []string{".claude/agent-memory*"},
	},
	Unsorted: unsorted,
	Tools:    tools{}, Hooks: hooks{}, Secrets: secrets, Recorded: recorded,
	Login: runner.Login{
		Keys: []string{
			"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
		},
		File: ".credentials.json", Home: ".claude", Try: "run claude and type /login, or set ANTHROPIC_API_KEY",
		Folder: "CLAUDE_CONFIG_DIR",
		Vars: []string{
			"CLAUDE_CONFIG_DIR", "HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
		},
	},
}

// Kind returns the facts about Claude Code that are known without running it.
func Kind() *runner.Kind { return &kind }

// echo returns a shell script that acts as the client and answers the first prompt with
// text.
func echo(text string) string {
	return `read -r prompt && printf '%s\n'` +
		` '{"type":"system","subtype":"init","session_id":"trial"}'` +
		` '{"type":"assistant","message":{"role":"assistant","content":[{"type":"text","text":"` + text + `"}]},"session_id":"trial"}'` +
		` '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"` + text + `","session_id":"trial"}'` +
		` && cat >/dev/null`
}
