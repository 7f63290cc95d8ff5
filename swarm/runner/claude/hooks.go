package claude

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// hooks describes the hook that the client runs after a compaction: a SessionStart hook
// with the source compact.
type hooks struct{}

const hookEvent = "SessionStart"

// Room leaves space for the frame around the text. Version 2.1.197 passes hook output of
// 9,993 characters to the model in full, but shortens output of 10,013 characters to a
// preview.
func (hooks) Room() int { return 9500 }

func (hooks) Answer(text string) []byte {
	data, err := json.Marshal(map[string]any{"hookSpecificOutput": map[string]any{
		"hookEventName":     hookEvent,
		"additionalContext": text,
	}})
	if err != nil {
		panic("claude: strings could not be encoded as JSON: " + err.Error())
	}
	return append(data, '\n')
}

func (hooks) Answered(ev *streamjson.Event) (printed string, ok, ended bool) {
	h := ev.Hook
	if ev.Kind != streamjson.KindHook || h == nil || h.Phase != "response" || h.Event != hookEvent {
		return "", false, false
	}
	return h.Output, h.Outcome == "success" && h.ExitCode == 0, true
}

func (hooks) Blocked(home, dir string) string {
	for _, path := range []string{
		"/etc/claude-code/managed-settings.json", "/Library/Application Support/ClaudeCode/managed-settings.json",
		filepath.Join(home, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.json"), filepath.Join(dir, ".claude", "settings.local.json"),
	} {
		data, err := os.ReadFile(path)
		if err != nil {
			continue
		}
		var set struct{ AllowManagedHooksOnly, DisableAllHooks bool }
		if json.Unmarshal(data, &set) != nil {
			continue
		}
		managed := strings.HasSuffix(path, "managed-settings.json")
		switch {
		case managed && set.AllowManagedHooksOnly:
			return path + " has allowManagedHooksOnly"
		case set.DisableAllHooks:
			return path + " has disableAllHooks"
		}
	}
	return ""
}
