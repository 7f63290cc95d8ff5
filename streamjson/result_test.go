package streamjson_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A result is a failure if either of the two fields that say so does.
func TestAResultThatIsAnError(t *testing.T) {
	for line, want := range map[string]bool{
		`{"type":"result","subtype":"success","is_error":false,"result":"done"}`:           false,
		`{"type":"result","subtype":"success","is_error":true,"result":"API Error"}`:       true,
		`{"type":"result","subtype":"error_during_execution","is_error":false}`:            true,
		`{"type":"result","subtype":"error_during_execution"}`:                             true,
		`{"type":"result","subtype":"error_max_turns","is_error":false,"result":"partly"}`: true,
		`{"type":"result","subtype":"error","is_error":false}`:                             true,
		`{"type":"result","result":"no error here"}`:                                       false,
	} {
		ev, err := streamjson.NewDecoder(strings.NewReader(line+"\n"), 0).Next()
		if err != nil || ev.Result == nil || ev.Result.IsError != want {
			t.Errorf("%s: %+v, %v, want an error: %v", line, ev, err, want)
		}
	}
}
