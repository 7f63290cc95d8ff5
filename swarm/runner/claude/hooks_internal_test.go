package claude

import (
	"encoding/json"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

func TestTheHookAnswersAsTheClientReadsIt(t *testing.T) {
	var got struct {
		Output struct{ HookEventName, AdditionalContext string } `json:"hookSpecificOutput"`
	}
	if err := json.Unmarshal(hooks{}.Answer("a \"b\"\n"), &got); err != nil || got.Output.HookEventName != "SessionStart" || got.Output.AdditionalContext != "a \"b\"\n" {
		t.Errorf("the answer is %+v, %v", got, err)
	}
}

func TestTheEndOfAHookIsKnown(t *testing.T) {
	for name, c := range map[string]struct {
		hook      streamjson.Hook
		ok, ended bool
	}{
		"well":      {streamjson.Hook{Phase: "response", Event: "SessionStart", Outcome: "success", Output: "x"}, true, true},
		"cancelled": {streamjson.Hook{Phase: "response", Event: "SessionStart", Outcome: "cancelled", Output: "x"}, false, true},
		"status 1":  {streamjson.Hook{Phase: "response", Event: "SessionStart", Outcome: "success", ExitCode: 1, Output: "x"}, false, true},
		"begun":     {streamjson.Hook{Phase: "started", Event: "SessionStart"}, false, false},
		"another":   {streamjson.Hook{Phase: "response", Event: "Stop", Outcome: "success"}, false, false},
	} {
		printed, ok, ended := hooks{}.Answered(&streamjson.Event{Kind: streamjson.KindHook, Hook: &c.hook})
		if ok != c.ok || ended != c.ended || ended && printed != "x" {
			t.Errorf("%s: %q, ok %v, ended %v", name, printed, ok, ended)
		}
	}
	if _, _, ended := (hooks{}).Answered(&streamjson.Event{Kind: streamjson.KindInit}); ended {
		t.Error("another event ends a hook")
	}
}
