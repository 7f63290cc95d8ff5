package ircbridge

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// One of our own lines can be in the buffer before a line that was sent earlier, because
// our lines enter the buffer when they are proven, and other people's lines when they are
// handled. Our own lines therefore do not show which lines were handled, unless they are
// old.
func TestOurOwnLinesAreNoMarks(t *testing.T) {
	begun := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	at := func(d time.Duration) time.Time { return begun.Add(d) }
	heard := func(d time.Duration, id string) bridge.Line {
		return bridge.Line{At: at(d), Channel: "#c", Nick: "ann", Text: "x", MsgID: id}
	}
	own := func(d time.Duration, id string) bridge.Line {
		return bridge.Line{At: at(d), Channel: "#c", Nick: "coder", Text: "x", MsgID: id, Drop: "k7f3q9m2xd", Upto: 1}
	}
	for name, tt := range map[string]struct {
		lines []bridge.Line
		want  irc.Mark
	}{
		"heard last":            {[]bridge.Line{own(0, "a"), heard(time.Second, "b")}, irc.Mark{ID: "b", Time: at(time.Second)}},
		"own last":              {[]bridge.Line{heard(0, "a"), own(time.Second, "b"), own(time.Minute, "c")}, irc.Mark{ID: "a", Time: at(0)}},
		"own last for an hour":  {[]bridge.Line{heard(0, "a"), own(time.Hour, "b")}, irc.Mark{Time: at(time.Hour - ownBehind)}},
		"nothing but our own":   {[]bridge.Line{own(0, "a"), own(time.Second, "b")}, irc.Mark{Time: at(time.Second - ownBehind)}},
		"our own answer":        {[]bridge.Line{heard(0, "a"), {At: at(1), Channel: "#c", Nick: "swarm", Text: "x", MsgID: "b", Own: true}}, irc.Mark{ID: "a", Time: at(0)}},
		"nothing but the space": {nil, irc.Mark{}},
	} {
		dir := t.TempDir()
		if err := os.Mkdir(filepath.Join(dir, "buffer"), 0o700); err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		for i, line := range tt.lines {
			line.N = int64(i + 1)
			if err := json.NewEncoder(&file).Encode(line); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.WriteFile(filepath.Join(dir, "buffer", "%23c.jsonl"), file.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		marks, err := memory{dir}.Marks("#c")
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
