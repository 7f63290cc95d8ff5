package ircbridge

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Our own line may be in the buffer before one that somebody said earlier: what we
// said is noted when it is proven, what we heard when it is dealt with. So our own say
// nothing of what was dealt with, but when they are old.
func TestOurOwnLinesAreNoMarks(t *testing.T) {
	begun := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	heard := func(d time.Duration, id string) Line {
		return Line{At: at(d), Channel: "#c", Nick: "ann", Text: "x", MsgID: id}
	}
	own := func(d time.Duration, id string) Line {
		return Line{At: at(d), Channel: "#c", Nick: "coder", Text: "x", MsgID: id, Drop: "k7f3q9m2xd", Upto: 1}
	}
	for name, tt := range map[string]struct {
		lines []Line
		want  irc.Mark
	}{
		"heard last":            {[]Line{own(0, "a"), heard(time.Second, "b")}, irc.Mark{ID: "b", Time: at(time.Second)}},
		"own last":              {[]Line{heard(0, "a"), own(time.Second, "b"), own(time.Minute, "c")}, irc.Mark{ID: "a", Time: at(0)}},
		"own last for an hour":  {[]Line{heard(0, "a"), own(time.Hour, "b")}, irc.Mark{Time: at(time.Hour - ownBehind)}},
		"nothing but our own":   {[]Line{own(0, "a"), own(time.Second, "b")}, irc.Mark{Time: at(time.Second - ownBehind)}},
		"our own answer":        {[]Line{heard(0, "a"), {At: at(1), Channel: "#c", Nick: "swarm", Text: "x", MsgID: "b", Own: true}}, irc.Mark{ID: "a", Time: at(0)}},
		"nothing but the space": {nil, irc.Mark{}},
	} {
		home := t.TempDir()
		ring, err := openRing(home, "#c", 500)
		if err != nil {
			t.Fatal(err)
		}
		for _, l := range tt.lines {
			if _, err := ring.add(l); err != nil {
				t.Fatal(err)
			}
		}
		if err := ring.close(); err != nil {
			t.Fatal(err)
		}
		marks, err := memory{home}.Marks("#c")
		if err != nil {
			t.Fatal(err)
		}
		last := irc.Mark{}
		ids := 0
		for _, m := range marks {
			last = m
			if m.ID != "" {
				ids++
			}
		}
		if last != tt.want || ids < len(tt.lines) {
			t.Errorf("%s: the last mark is %+v, want %+v; %d ids of %d lines", name, last, tt.want, ids, len(tt.lines))
		}
	}
}
