package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// secretVars lists the variables through which the child processes of a 2.1.330 client
// can reach the client. Each is mapped to the text that replaces its value.
var secretVars = map[string]string{
	secretPrefix + "TOKEN":  "[messaging token]",
	secretPrefix + "SOCKET": socketMark,
}

const (
	secretPrefix = "CLAUDE_CODE_MESSAGING_"
	socketMark   = "[messaging socket]"
)

// secrets finds the values with which other sessions could reach the client. The init line
// contains the client's socket path, and a tool that prints the environment reveals the
// socket path and the token.
func secrets(ev *streamjson.Event, found func(secret, mark string)) {
	if ev.Kind == streamjson.KindInit && bytes.Contains(ev.Raw, []byte("messaging_socket_path")) {
		var init struct {
			Socket string `json:"messaging_socket_path"`
		}
		if json.Unmarshal(ev.Raw, &init) == nil {
			found(init.Socket, socketMark)
		}
	}
	for _, b := range ev.Blocks {
		if !strings.Contains(b.Text, secretPrefix) {
			continue
		}
		for name, mark := range secretVars {
			for rest := b.Text; ; {
				_, after, more := strings.Cut(rest, name+"=")
				if !more {
					break
				}
				value, _, _ := strings.Cut(after, "\n")
				found(strings.Trim(strings.TrimSpace(value), `"'`), mark)
				rest = after
			}
		}
	}
}
