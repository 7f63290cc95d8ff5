package bridge

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A reader gets advice as time passes and lines arrive.
func TestCheckIn(t *testing.T) {
	home := filepath.Join(t.TempDir(), "irc")
	if err := os.Mkdir(home, 0o700); err != nil {
		t.Fatal(err)
	}
	now := time.Now()
	r := Reader{Dir: home, Name: "coder"}
	state := func(joined ...string) {
		t.Helper()
		s := State{Connected: true, Nick: "swarm"}
		for _, name := range joined {
			s.Channels = append(s.Channels, Channel{Name: name, Joined: name != "#left"})
		}
		if err := writeState(home, s); err != nil {
			t.Fatal(err)
		}
	}
	buffers := map[string]*buffer{}
	come := func(l Line) {
		t.Helper()
		if buffers[l.Channel] == nil {
			buffers[l.Channel] = newBuffer(t, home, l.Channel, 0)
		}
		l.At = now
		if _, err := buffers[l.Channel].add(l); err != nil {
			t.Fatal(err)
		}
	}
	told := func(what, want string) {
		t.Helper()
		if got, err := r.CheckIn(now, "#c", true); err != nil || got != want {
			t.Errorf("CheckIn %s = %q, %v, want %q", what, got, err, want)
		}
	}
	read := func(channel string) {
		t.Helper()
		c, err := r.check()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := r.New(channel, 0); err != nil {
			t.Fatal(err)
		}
		then, err := r.check()
		if err != nil || !then.Since.After(c.Since) && c.Since.Before(time.Now()) || !then.Told.IsZero() {
			t.Errorf("after reading: %+v, %v, before it %+v", then, err, c)
		}
		if err := r.noteCheck(check{Since: now}); err != nil { // now is this test's clock
			t.Fatal(err)
		}
	}
	advice := func(how, minutes string) string {
		return "[CORRECTION] You haven't checked your channels in " + minutes + ". Consider doing " + how + " to see if there's relevant input."
	}

	told("where no bridge ever was", "")
	state("#c", "#general", "#left")
	come(Line{Channel: "#c", Nick: "ann", Text: "hello"})
	now = now.Add(Silence - time.Second)
	told("too early", "")
	now = now.Add(2*time.Minute + time.Second)
	told("in time", advice("an irc_read()", "12 minutes"))
	now = now.Add(time.Hour)
	told("a second time in the same silence", "")

	read("#c")
	now = now.Add(Silence)
	told("with nothing new", "")
	come(Line{Channel: "#c", Nick: "coder", Text: "begins: x", Drop: "aaaabbbbcc", Own: true})
	come(Line{Channel: "#c", Nick: "lead", Text: `begins: "own":true`, Drop: "aaaabbbbcd", Own: true})
	come(Line{Channel: "#c", Nick: "coder", Text: "I am busy", Drop: "aaaabbbbce"})
	come(Line{Channel: "#c", Nick: "swarm", Text: "coder idle"})
	come(Line{Channel: "#left", Nick: "ann", Text: "nobody hears this"})
	told("with words of its own and of the bridge's", "")
	come(Line{Channel: "#general", Nick: "ann", Text: "lunch?"})
	told("with something in another channel", advice(`an irc_read("#general")`, "10 minutes"))

	read("#general")
	come(Line{Channel: "#c", Nick: "tester", Text: `the "own":true build is green`, Drop: "aaaabbbbcf"})
	come(Line{Channel: "#c", Nick: "lead", Text: "done", Drop: "aaaabbbbcg", Own: true})
	now = now.Add(3 * time.Hour)
	told("with words of another agent", advice("an irc_read()", "3 hours"))
	read("#c")
	now = now.Add(72 * time.Hour)
	told("with all read", "")
	come(Line{Channel: "#c", Nick: "ann", Text: "is anybody there?"})
	if got, err := (Reader{Dir: home, Name: "coder", Size: 1}).CheckIn(now, "#project", false); err != nil || got != advice(`a claude-swarm irc read "#c"`, "3 days") {
		t.Errorf("CheckIn from a shell = %q, %v", got, err)
	}
	if lines, err := r.Recent("#c", time.Time{}, 1); err != nil || len(lines) != 1 {
		t.Fatal(lines, err)
	}
	if c, err := r.check(); err != nil || !c.Told.IsZero() {
		t.Errorf("after a look at the newest lines: %+v, %v", c, err)
	}
}

// After a channel's file is deleted, its line numbers start over.
func TestCheckInAfterABufferWasDeleted(t *testing.T) {
	home, now := t.TempDir(), time.Now()
	r := Reader{Dir: home, Name: "coder"}
	if err := r.mark(map[string]int64{fileName("#c"): 100}); err != nil {
		t.Fatal(err)
	}
	if err := r.noteCheck(check{Since: now.Add(-time.Hour)}); err != nil {
		t.Fatal(err)
	}
	if err := writeState(home, State{Channels: []Channel{{Name: "#c", Joined: true}}}); err != nil {
		t.Fatal(err)
	}
	addLines(t, newBuffer(t, home, "#c", 0), 1, 3)
	if got, err := r.CheckIn(now, "#c", true); err != nil || !strings.Contains(got, "60 minutes") {
		t.Errorf("CheckIn = %q, %v", got, err)
	}
}
