package claude

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// secretVars are the variables with which a client of version 2.1.330 informs its children
// how to reach it, and the marks that replace their values.
var secretVars = map[string]string{
	secretPrefix + "TOKEN":  "[messaging token]",
	secretPrefix + "SOCKET": socketMark,
}

const (
	secretPrefix = "CLAUDE_CODE_MESSAGING_"
	socketMark   = "[messaging socket]"
)

// secrets finds how other sessions could reach the client: the first event names its
// socket, and a tool that prints the environment shows socket and token.
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
