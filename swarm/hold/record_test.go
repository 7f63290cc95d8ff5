package hold_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

func TestAttached(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	h, q := hold.Attached{Home: home}, about(journal.Hold{Stopped: &journal.Stop{}})
	check(t, h, q, want{})
	q.Attached = true
	none := want{kind: hold.KindAttached, state: "attached", why: "no session of your own is attached as coder", next: "claude-swarm attach coder"}
	check(t, h, q, none)
	if err := os.MkdirAll(filepath.Join(home.Dir(), "attach", "coder"), 0o700); err != nil {
		t.Fatal(err)
	}
	none.next = "claude --plugin-dir .claude-swarm/attach/coder"
	check(t, h, q, none)
	me, err := runner.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range []struct {
		binding journal.Binding
		want    want
	}{
		{journal.Binding{Agent: "coder", Process: me}, want{kind: hold.KindAttached, state: "attached", why: "your own session handles its mail: pid " + itoa(me.PID)}},
		{journal.Binding{Agent: "coder", Process: runner.Process{PID: me.PID, Start: me.Start + 1}}, none}, // another process has its number
	} {
		unlock, err := home.LockBinding("coder") // makes the folder
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.binding.Write(home), unlock()); err != nil {
			t.Fatal(err)
		}
		check(t, h, q, b.want)
	}
}

func TestStopped(t *testing.T) {
	since := noon.Add(-time.Hour)
	for name, c := range map[string]struct {
		stop    *journal.Stop
		want    want
		breaker bool
	}{
		"not stopped": {nil, want{}, false},
		"by a person": {&journal.Stop{By: "ann", Since: since}, want{kind: hold.KindStopped, state: "stopped", since: -time.Hour, why: "by ann", next: "claude-swarm start coder"}, false},
		"by the breaker": {
			&journal.Stop{By: dropbox.Swarm, Why: "3 failed", Hint: "log in, then claude-swarm start coder", Since: since, Breaker: true},
			want{kind: hold.KindStopped, state: "stopped", since: -time.Hour, why: "3 failed", next: "log in, then claude-swarm start coder"}, true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if got := check(t, hold.Stopped{}, about(journal.Hold{Stopped: c.stop}), c.want); got.Breaker != c.breaker {
				t.Errorf("breaker: %v", got.Breaker)
			}
		})
	}
}

func TestPaused(t *testing.T) {
	since := noon.Add(-time.Hour)
	of := func(mailboxes ...string) (all []journal.PauseQuestion) {
		for _, name := range mailboxes {
			all = append(all, journal.PauseQuestion{ID: "q-" + name, Of: name})
		}
		return all
	}
	bridge := dropbox.Bridges()[0]
	for name, c := range map[string]struct {
		pause *journal.Pause
		next  string
		until time.Duration
	}{
		"not paused":      {pause: nil},
		"without an end":  {&journal.Pause{}, "claude-swarm resume coder", 0},
		"for a while":     {&journal.Pause{Until: noon.Add(time.Hour)}, "continues on its own at " + at(time.Hour) + ", or claude-swarm resume coder", time.Hour},
		"until yesterday": {&journal.Pause{Until: noon.Add(-24 * time.Hour)}, "", 0},
		"until now":       {&journal.Pause{Until: noon}, "", 0},
		"stuck":           {&journal.Pause{Stuck: &journal.Stuck{}}, "claude-swarm resume coder, or claude-swarm abort coder", 0},
		"asks a person":   {&journal.Pause{Questions: of("tester", "lead")}, `claude-swarm reply q-lead "…", or claude-swarm resume coder`, 0},
		"asks on a chat":  {&journal.Pause{Questions: of(bridge, "lead")}, "claude-swarm reply q-" + bridge + ` "…", or claude-swarm resume coder`, 0},
		"asks an agent":   {&journal.Pause{Questions: of("tester")}, "claude-swarm resume coder", 0},
		"asks for a while": {
			&journal.Pause{Questions: of("lead"), Until: noon.Add(time.Hour)},
			"continues on its own at " + at(time.Hour) + `, or claude-swarm reply q-lead "…", or claude-swarm resume coder`, time.Hour,
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := want{}
			if c.pause != nil {
				c.pause.By, c.pause.Why, c.pause.Since = "ann", "lunch", since
			}
			if c.next != "" {
				w = want{kind: hold.KindPaused, state: "paused", since: -time.Hour, until: c.until, why: "lunch (by ann)", next: c.next}
			}
			check(t, hold.Paused{}, about(journal.Hold{Paused: c.pause}), w)
		})
	}
}

func TestBackoff(t *testing.T) {
	for name, c := range map[string]struct {
		until time.Time
		want  want
	}{
		"no failure": {time.Time{}, want{}},
		"later":      {noon.Add(time.Minute), want{kind: hold.KindBackoff, state: "backoff", until: time.Minute, why: "it failed", next: "tries again at " + at(time.Minute) + ", or immediately after claude-swarm resume coder"}},
		"now":        {noon, want{}},
	} {
		t.Run(name, func(t *testing.T) {
			check(t, hold.Backoff{}, about(journal.Hold{Until: c.until, Why: "it failed"}), c.want)
		})
	}
}
