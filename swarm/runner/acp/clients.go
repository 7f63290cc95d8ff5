package acp

import (
	"maps"
	"strconv"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// The clients below were observed in the versions that their rows name, with scripted models
// and without accounts.

// longestRetry is longer than the time for which a client silently retries a model that does
// not answer: 70 s in opencode, 62 s in cline, and more than 45 s in gemini.
const longestRetry = 90 * time.Second

// codex is OpenAI's codex, run through the adapter codex-acp, which includes a copy of
// codex. The sandbox of codex decides what a command may do: codex asks only if the model
// wants to leave the sandbox.
func codex() *Client {
	return row(runner.Kind{
		Name: "codex", Title: "Codex", Command: []string{"codex-acp"},
		Install: "npm install -g @agentclientprotocol/codex-acp",
		Modes:   []string{"read-only", "workspace-write", "agent", "agent-full-access"}, Mode: "workspace-write", Bypass: "agent-full-access", Look: "read-only",
		Steers: true, Asking: "only if the model wants to leave its sandbox, which the mode sets; a forbidden command fails without a question",
		Login: runner.Login{
			Keys: []string{"OPENAI_API_KEY", "CODEX_API_KEY"}, Home: ".codex", File: "auth.json", Folder: "CODEX_HOME",
			Vars: []string{"CODEX_HOME", "HOME", "OPENAI_API_KEY", "CODEX_API_KEY", "OPENAI_BASE_URL"}, Try: "codex login; or OPENAI_API_KEY",
		},
	}, Client{
		Tested: "2.6.0", ModeVar: "INITIAL_AGENT_MODE",
		Notes: []string{"Warning: Model metadata for ", "Config warning: "},
	})
}

// openCode is opencode, which speaks the protocol itself.
func openCode() *Client {
	return row(runner.Kind{
		Name: "opencode", Title: "OpenCode", Command: []string{"opencode", "acp"}, Install: "npm install -g opencode-ai",
		Modes: []string{"build", "plan"}, Mode: "build", Look: "plan",
		Asking: "before each tool that runs a command, changes a file or fetches a page",
		Login: runner.Login{
			Home: ".local/share/opencode", File: "auth.json", Try: "opencode auth login; or the variable of your provider's key",
			Keys: []string{"ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
			Vars: []string{"HOME", "OPENCODE_CONFIG", "OPENCODE_CONFIG_CONTENT", "ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"},
		},
	}, Client{
		Tested: "1.18.33", Silence: longestRetry,
		// Without this variable, opencode asks only about the tools that a person's
		// opencode.json lists, and runs commands without asking.
		Env: map[string]string{"OPENCODE_PERMISSION": `{"bash":"ask","edit":"ask","webfetch":"ask"}`},
	})
}

// copilot is GitHub's copilot. In session/new it refuses MCP servers that are programs, so
// it gets them from a file.
func copilot() *Client {
	return row(runner.Kind{
		Name: "copilot", Title: "GitHub Copilot", Command: []string{"copilot", "--acp"}, Install: "npm install -g @github/copilot",
		Tokens: runner.TokensOfProcess, Modes: []string{"agent", "plan", "autopilot"}, Mode: "agent", Look: "plan",
		Login: runner.Login{
			Home: ".copilot", File: "config.json", Try: "copilot, and /login in it; or COPILOT_GITHUB_TOKEN",
			Keys: []string{"COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"},
			Vars: []string{"HOME", "COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL", "COPILOT_PROVIDER_API_KEY"},
		},
	}, Client{
		Tested:  "1.0.102",
		Args:    []string{"--no-auto-update", "--additional-mcp-config", "@{servers}", "--allow-tool=" + runner.ToolServer},
		Servers: inFile, ModelVar: "COPILOT_MODEL",
		Notes:  []string{"Info: Request failed due to ", "Info: Response was interrupted ", "Info: Operation cancelled by user"},
		Errors: []string{`^Error: (\d{3})?`},
	})
}

// gemini is Google's gemini. Without --skip-trust it starts no MCP server in an untrusted
// folder.
func gemini() *Client {
	return row(runner.Kind{
		Name: "gemini", Title: "Gemini CLI", Command: []string{"gemini", "--acp"}, Install: "npm install -g @google/gemini-cli",
		Modes: []string{"default", "autoEdit", "yolo", "plan"}, Mode: "default", Bypass: "yolo", Look: "plan",
		Login: runner.Login{
			Home: ".gemini", File: "oauth_creds.json", Try: "gemini, and its sign-in; or GEMINI_API_KEY",
			Keys: []string{"GEMINI_API_KEY", "GOOGLE_API_KEY"},
			Vars: []string{"HOME", "GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GEMINI_BASE_URL"},
		},
	}, Client{
		Tested: "0.61.0", Args: []string{"--skip-trust"}, ModelArgs: []string{"-m", "{model}"},
		FreshLoads: true,
		Notes:      []string{"[MODE_UPDATE] "}, LateReplay: true, Stays: true, Tokens: inQuota, Silence: longestRetry,
	})
}

// cline is cline. It reads its MCP servers from a file and starts them with the first
// prompt. Without local sessions it leaves a daemon behind.
func cline() *Client {
	return row(runner.Kind{
		Name: "cline", Title: "Cline", Command: []string{"cline", "--acp"}, Install: "npm install -g cline",
		Modes: []string{"act", "plan"}, Mode: "act", Look: "plan",
		Login: runner.Login{
			Home: ".cline", File: "data/settings/providers.json", Try: "cline auth",
			Vars: []string{"HOME", "CLINE_PROVIDER", "CLINE_API_KEY"},
		},
	}, Client{
		Tested: "3.0.65", Servers: inFile, LateTools: true, Silence: longestRetry,
		Env: map[string]string{"CLINE_SESSION_BACKEND_MODE": "local", "CLINE_MCP_SETTINGS_PATH": "{servers}"},
	})
}

// anyOther is every other program that speaks the protocol. The configuration names its
// command, and backend_options specify what the protocol leaves open.
func anyOther() *Client {
	return row(runner.Kind{
		Name: "acp", Title: "an ACP agent", Steers: true, Asking: "for what the program decides", Install: "install the program that command: names",
		Login: runner.Login{Vars: []string{"HOME"}, Try: "the sign-in of the program"},
	}, Client{Start: 9 * time.Second})
}

// Clients returns the rows of the table, in the order in which they are listed. They never
// change.
func Clients() []*Client { return clients() }

var clients = sync.OnceValue(func() []*Client {
	return []*Client{codex(), openCode(), copilot(), gemini(), cline(), anyOther()}
})

// row adds to a row what all clients of the protocol have in common.
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
	if c.Tested != "" {
		k.Version.Supported, k.Version.Install = c.Tested, k.Install+"@"+c.Tested
	}
	c.Kind = k
	return &c
}

// lacks are the keys that no client of the protocol can honour.
var lacks = map[string]string{
	"allowed_tools":     "permissions: {allow: […]}",
	"disallowed_tools":  "permissions: {deny: […]}",
	"compact_window":    "",
	"thinking":          "",
	"background":        "",
	"attached_mail":     "",
	"session: continue": "session: resume",
}
