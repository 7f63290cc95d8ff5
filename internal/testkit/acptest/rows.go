package acptest

// A Row is a promise that every backend keeps with its client. Tests with the real clients run
// one test for each row and client.
type Row struct {
	Name    string
	Promise string
}

// Rows are the promises, in the order in which they are printed.
var Rows = []Row{
	{"start", "starts in its tested version"},
	{"turn", "runs a turn, and its last words are filed"},
	{"tool", "asks before a command, and runs it"},
	{"refused", "a refused command does not run"},
	{"cancel", "a turn is stopped, and the agent goes on"},
	{"resume", "another process goes on in the session"},
	{"mcp", "calls the tools of claude-swarm"},
	{"unknown", "says that a session is unknown"},
	{"tokens", "tells the tokens of a turn"},
	{"limit", "a usage limit is no failure of the work"},
	{"429", "nor is status 429"},
	{"500", "nor is status 500"},
	{"kill", "a stopped turn leaves no process"},
}

// Cannot has the rows that a client cannot pass, by client and row, with the reason: the end of
// a sentence that begins with its name.
var Cannot = map[string]map[string]string{
	"gemini": {
		"resume": "deletes a session that it has taken up, unless `~/.gemini/settings.json` has `general.sessionRetention.enabled: false`",
	},
	"opencode": {
		"tokens": "tells the tokens of the last request alone",
	},
	"cline": {
		"tokens": "tells no tokens",
	},
}
