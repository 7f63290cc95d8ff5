package acptest

// A Row is a guarantee that every backend must provide, apart from the exceptions in
// [Cannot]. Tests with the real clients run one test for each row and client.
type Row struct {
	Name    string
	Promise string
	Full    bool // tested only by make backends-full
}

// Rows contains the guarantees, in the order in which they are printed.
var Rows = []Row{
	{"start", "starts in the tested version", false},
	{"turn", "runs a turn, and its last words are filed", false},
	{"tool", "asks before a command, and runs it", false},
	{"refused", "a refused command does not run", false},
	{"cancel", "a turn is stopped, and the agent continues", false},
	{"resume", "another process continues the session", false},
	{"mcp", "calls claude-swarm's tools", false},
	{"unknown", "reports that a session is unknown", true},
	{"tokens", "reports the tokens of a turn", true},
	{"limit", "a usage limit does not count as a failed attempt", true},
	{"429", "neither does status 429", true},
	{"500", "neither does status 500", true},
	{"kill", "a stopped turn leaves no process", true},
}

// Cannot contains the reason why a client cannot pass a row, keyed by the names of the
// client and the row. The reason completes a sentence that begins with the client's name.
var Cannot = map[string]map[string]string{
	"gemini": {
		"cancel": "forgets a session whose first turn was stopped: the next turn starts a new one",
		"resume": "deletes a session that it has resumed, unless `~/.gemini/settings.json` has `general.sessionRetention.enabled: false`",
	},
	"opencode": {
		"tokens": "reports only the tokens of the last request",
	},
	"cline": {
		"tokens": "reports no tokens",
	},
}
