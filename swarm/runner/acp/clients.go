package acp

import (
	"maps"
	"strconv"
	"strings"
	"sync"
	"time"

	claudeswarm "github.com/claude-swarm/claude-swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The clients below were observed in the versions that clients.lock specifies,
// with scripted models and without accounts.

// longestRetry is longer than the period for which a client silently retries when the model
// does not respond: 70 s in opencode, 62 s in cline, and more than 45 s in gemini.
const longestRetry = 90 * time.Second

// codex is OpenAI's codex, run through the adapter codex-acp, which includes a copy of
// codex. Its sandbox decides what a command may do, and codex asks only if the model
// wants to leave the sandbox.
func codex() *Client {
	return row(runner.Kind{
		Name: "codex", Title: "Codex", Command: []string{"codex-acp"},
		Modes: []string{"read-only", "workspace-write", "agent", "agent-full-access"}, Mode: "workspace-write", Bypass: "agent-full-access", Look: "read-only",
		Steers: true, Asking: "only if the model wants to leave its sandbox, which the mode sets; a forbidden command fails without asking",
		Login: runner.Login{
			Keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY"}, Home: ".codex", File: "auth.json", Folder: "CODEX_HOME",
			Vars: []string{"CODEX_HOME", "HOME", "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"}, Try: "run codex login, or set OPENAI_API_KEY",
		},
		Own: runner.OwnFiles{
			Folder:  []string{"config.toml", "auth.json", "AGENTS.md", "AGENTS.override.md", "prompts", "rules", "skills", "agents", "hooks*"},
			Project: []string{".codex"},
			Memory:  []string{"memories"},
		},
	}, Client{
		ModeVar: "INITIAL_AGENT_MODE",
		Notes:   []string{"Warning: Model metadata for ", "Config warning: "},
	})
}

// openCode is opencode, which speaks the protocol without an adapter.
func openCode() *Client {
	return row(runner.Kind{
		Name: "opencode", Title: "OpenCode", Command: []string{"opencode", "acp"},
		Modes: []string{"build", "plan"}, Mode: "build", Look: "plan",
		Asking: "before each tool that runs a command, changes a file or fetches a page",
		Login: runner.Login{
			Home: ".local/share/opencode", File: "auth.json", Try: "run opencode auth login, or set the variable with your provider's key",
			Keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
			Vars: []string{"HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
		},
		Own: runner.OwnFiles{
			Folder: []string{"auth.json"}, Home: []string{".config/opencode"},
			Project: []string{"opencode.json", "opencode.jsonc", ".opencode"},
		},
	}, Client{
		Silence: longestRetry,
		// Without this variable, opencode asks only about the tools listed in the user's
		// opencode.json, and runs commands without asking.
		Env: map[string]string{"OPENCODE_PERMISSION": `{"bash":"ask","edit":"ask","webfetch":"ask"}`},
	})
}

// copilot is GitHub's copilot. In session/new it rejects MCP servers that are programs, so
// it gets them from a file.
func copilot() *Client {
	return row(runner.Kind{
		Name: "copilot", Title: "GitHub Copilot", Command: []string{"copilot", "--acp"},
		Tokens: runner.TokensOfProcess, Modes: []string{"agent", "plan", "autopilot"}, Mode: "agent", Look: "plan",
		Login: runner.Login{
			Home: ".copilot", File: "config.json", Try: "run copilot and type /login, or set COPILOT_GITHUB_TOKEN",
			Keys: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"},
			Vars: []string{"HOME", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_API_KEY"},
		},
		Own: runner.OwnFiles{
			// Not session-state, where the client writes its plans.
			Folder: []string{
				"config.json", "settings.json", "mcp-config.json", "permissions-config.json", "copilot-instructions.md", "agents", "skills", "hooks",
			},
			Project: []string{".github/copilot", ".github/hooks", ".copilot"},
		},
	}, Client{

		Args:    []string{"--no-auto-update", "--additional-mcp-config", "@{servers}", "--allow-tool=" + runner.ToolServer},
		Servers: inFile, ModelVar: "COPILOT_MODEL",
		Notes:  []string{"Info: Request failed due to ", "Info: Response was interrupted ", "Info: Operation cancelled by user"},
		Errors: []string{`^Error: (\d{3})?`},
	})
}

// gemini is Google's gemini. Without --skip-trust, it starts no MCP servers in an
// untrusted folder.
func gemini() *Client {
	return row(runner.Kind{
		Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--acp"},
		Modes: []string{"default", "autoEdit", "yolo", "plan"}, Mode: "default", Bypass: "yolo", Look: "plan",
		Login: runner.Login{
			Home: ".gemini", File: "oauth_creds.json", Try: "sign in to gemini, or set GEMINI_API_KEY",
			Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
			Vars: []string{"HOME", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GEMINI_BASE_URL"},
		},
		Own: runner.OwnFiles{
			// Not tmp, where the client writes its plans.
			Folder: []string{
				"settings.json", "oauth_creds.json", "trustedFolders.json", "extensions", "commands", "policies", "skills", "agents", "hooks",
			},
			Project: []string{".gemini"},
			Memory:  []string{"GEMINI.md"},
		},
	}, Client{
		Args: []string{"--skip-trust"}, ModelArgs: []string{"-m", "{model}"},
		FreshLoads: true,
		Notes:      []string{"[MODE_UPDATE] "}, LateReplay: true, Stays: true, WholeDiffs: true, Tokens: inQuota, Silence: longestRetry,
	})
}

// cline is the Cline command-line client. It reads its list of MCP servers from a file
// and starts them with the first prompt. Unless its sessions are local, it leaves a
// daemon behind.
func cline() *Client {
	return row(runner.Kind{
		Name: "cline", Title: "Cline", Command: []string{"cline", "--acp"},
		Modes: []string{"act", "plan"}, Mode: "act", Look: "plan",
		Login: runner.Login{
			Home: ".cline", File: "data/settings/providers.json", Try: "cline auth",
			Vars: []string{"HOME", "CLINE_PROVIDER", "CLINE_API_KEY"},
		},
		Own: runner.OwnFiles{
			Folder:  []string{"data/settings", "rules", "hooks", "workflows", "skills"},
			Project: []string{".clinerules", ".cline"},
		},
	}, Client{
		Servers: inFile, LateTools: true, Silence: longestRetry,
		Env: map[string]string{"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_MCP_SETTINGS_PATH": "{servers}"},
	})
}

// anyOther stands for every other program that speaks the protocol. The configuration
// specifies its command, and backend_options specify what the protocol does not define.
func anyOther() *Client {
	return row(runner.Kind{
		Name: "acp", Title: "an ACP agent", Steers: true, Asking: "whenever the program decides to", Install: "install the program that command: specifies",
		Login: runner.Login{Vars: []string{"HOME"}, Try: "the program's own sign-in"},
	}, Client{Start: 9 * time.Second})
}

// Clients returns the descriptions of all clients, in display order. The caller must not
// modify them.
func Clients() []*Client { return clients() }

var clients = sync.OnceValue(func() []*Client {
	return []*Client{codex(), openCode(), copilot(), gemini(), cline(), anyOther()}
})

// row returns c with kind k and with the properties that all clients of the protocol
// share.
func row(k runner.Kind, c Client) *Client {
	k.Resumes, k.NamesSessions, k.Asks = true, true, true
	if k.Asking == "" {
		k.Asking = "before each tool that runs a command or changes a file"
	}
	k.Cost = runner.CostOfSession
	k.Linger = 10 * time.Minute
	k.Tools = tools{}
	k.Lacks = maps.Clone(lacks)
	k.Options = options()
	k.Version = runner.Version{Supported: "all that speak version " + strconv.Itoa(first) + " of the protocol", Install: k.Install, Read: c.readVersion}
	if locked, ok := claudeswarm.Find(k.Name); ok {
		k.Install, c.Tested = locked.Install(), locked.Newest
		k.Version.Supported, k.Version.Install = c.Tested, k.Install+"@"+c.Tested
		if locked.Brings != "" {
			k.Version.Supported += ", which runs " + strings.ReplaceAll(locked.Brings, "@", " ")
		}
	}
	whole := &c
	k.Recorded = whole.recorded
	c.Kind = k
	return whole
}

// lacks are the configuration keys that no client of the protocol supports.
var lacks = map[string]string{
	"allowed_tools":     "permissions: {allow: […]}",
	"disallowed_tools":  "permissions: {deny: […]}",
	"compact_window":    "",
	"thinking":          "",
	"background":        "",
	"attached_mail":     "",
	"session: continue": "session: resume",
}
