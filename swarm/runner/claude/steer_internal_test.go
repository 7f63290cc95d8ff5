package claude

import (
	"testing"
	"time"
)

// A turn waits for the answer to a line that the client has read, and for a while for one
// that it has not read. It waits for no line that needs no turn, unless the client has
// read it.
func TestATurnWaitsForItsLines(t *testing.T) {
	began := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC)
	const patience = time.Minute
	for name, c := range map[string]struct {
		lines   []steered
		results int // so many have come
		soon    bool
		later   bool // after the patience
	}{
		"no line":                          {nil, 1, false, false},
		"a line that was not read":         {[]steered{{uuid: "a"}}, 1, true, false},
		"a line that was read":             {[]steered{{uuid: "a", taken: true, behind: 1}}, 1, true, true},
		"a line that was answered":         {[]steered{{uuid: "a", taken: true, behind: 0}}, 1, false, false},
		"a line that needs no turn":        {[]steered{{uuid: "a", aside: true}}, 1, false, false},
		"the same, but it was read":        {[]steered{{uuid: "a", aside: true, taken: true, behind: 1}}, 1, true, true},
		"one is answered, one is not read": {[]steered{{uuid: "a", taken: true}, {uuid: "b"}}, 1, true, false},
		"one is answered, one is read":     {[]steered{{uuid: "a", taken: true}, {uuid: "b", taken: true, behind: 2}}, 2, true, true},
	} {
		s := steering{lines: c.lines}
		if got := s.open(c.results, began, patience); got != c.soon {
			t.Errorf("%s: the turn waits: %v, want %v", name, got, c.soon)
		}
		if got := s.open(c.results, began.Add(patience), patience); got != c.later {
			t.Errorf("%s: after %v the turn waits: %v, want %v", name, patience, got, c.later)
		}
	}
}
