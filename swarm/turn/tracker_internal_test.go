package turn

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

func TestRetryWhy(t *testing.T) {
	for name, c := range map[string]struct {
		ev   streamjson.Event
		want string
	}{
		"another event":  {streamjson.Event{Kind: streamjson.KindAssistant}, ""},
		"without a word": {streamjson.Event{Kind: streamjson.KindRetry}, ""},
		"no answer":      {streamjson.Event{Kind: streamjson.KindRetry, Retry: &streamjson.Retry{Attempt: 7, Max: 10}}, "the API does not answer (retry 7 of 10)"},
		"another kind":   {streamjson.Event{Kind: streamjson.KindAssistant, Retry: &streamjson.Retry{Attempt: 7, Max: 10}}, ""},
	} {
		if got := retryWhy(&c.ev); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
	if got := retryWhy(&streamjson.Event{Kind: streamjson.KindRetry, Retry: &streamjson.Retry{Status: 529, Attempt: 1, Max: 10}}); !strings.HasPrefix(got, "the API answers ") {
		t.Errorf("an answer with an error: %q", got)
	}
}
