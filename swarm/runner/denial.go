package runner

import (
	"encoding/json"
	"net/url"
	"strings"
)

// allowEntry is the entry of allowed_tools that permits a call which was
// denied: as narrow as it can be without being useless for the next call.
func allowEntry(tool string, input json.RawMessage) string {
	var in struct {
		Command string `json:"command"`
		URL     string `json:"url"`
	}
	if json.Unmarshal(input, &in) != nil {
		return tool
	}
	switch tool {
	case "Bash":
		if prefix := commandPrefix(in.Command); prefix != "" {
			return "Bash(" + prefix + ":*)"
		}
	case "WebFetch":
		if u, err := url.Parse(in.URL); err == nil && u.Hostname() != "" {
			return "WebFetch(domain:" + u.Hostname() + ")"
		}
	}
	return tool
}

// Programs whose first argument is what they do; allowing all of them would
// allow far more than was asked for.
var verbed = map[string]bool{
	"git": true, "go": true, "npm": true, "yarn": true, "pnpm": true, "cargo": true,
	"make": true, "docker": true, "kubectl": true, "pip": true, "claude-swarm": true,
}

// commandPrefix is the program of a simple command, with its verb where that
// says what is done. It is "" for a command of several parts, since each part
// would need a separate entry.
func commandPrefix(command string) string {
	if strings.ContainsAny(command, ";&|<>()`$\n") {
		return ""
	}
	words := strings.Fields(command)
	switch {
	case len(words) == 0 || strings.Contains(words[0], "="):
		return ""
	case len(words) > 1 && verbed[words[0]] && !strings.HasPrefix(words[1], "-"):
		return words[0] + " " + words[1]
	}
	return words[0]
}
