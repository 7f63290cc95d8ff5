package claude

import "github.com/claude-swarm/claude-swarm/swarm/runner"

// Permission modes that mean something to us.
const (
	modePlan    = "plan"              // changes nothing
	modeAllowed = "dontAsk"           // denies what is not allowed
	modeBypass  = "bypassPermissions" // asks for nothing
)

var kind = runner.Kind{
	Name: "claude", Title: "Claude Code", Command: []string{"claude"},
	Modes: []string{"default", "acceptEdits", modePlan, modeAllowed, modeBypass}, Mode: "acceptEdits", Bypass: modeBypass,
	Tools: tools{}, Hooks: hooks{}, Secrets: secrets,
	Login: runner.Login{
		Folder: "CLAUDE_CONFIG_DIR",
		Vars: []string{
			"CLAUDE_CONFIG_DIR", "HOME", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_BASE_URL",
			"CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY",
		},
	},
}

// Kind is what is known of Claude Code without running it.
func Kind() *runner.Kind { return &kind }
