package swarm_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// dependsOn makes a message depend on others.
func dependsOn(ids ...string) func(*dropbox.Message) {
	return func(m *dropbox.Message) { m.DependsOn = ids }
}

// A message waits for two messages of other agents, also through a restart; mail behind it goes
// on. It begins when the second of them is done.
func TestAMessageWaitsForOthers(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "reviewer")
		f.start()
		for _, name := range []string{"reviewer"} {
			f.must(f.daemon.Pause(name, swarm.PauseOrder{By: dropbox.Lead}))
		}
		first, second := f.send("reviewer", "one"), f.send("reviewer", "two")
		waits := f.send("coder", "after both", dependsOn(first, second), func(m *dropbox.Message) { m.Priority = dropbox.Urgent })
		next := f.send("coder", "at once")
		f.until("mail behind it goes on", func() bool { return len(f.files("coder", "new")) == 1 })
		f.receipt("coder", next)
		st := f.untilState("coder", swarm.Queued)
		if want := waits + " waits for " + first; st.Why != want || st.Next != "begins when "+first+" is done; claude-swarm trace "+first {
			t.Errorf("status %q %q, want %q", st.Why, st.Next, want)
		}
		f.halt()
		f.start()
		time.Sleep(3 * time.Second)
		if n := len(f.files("coder", "new")); n != 1 {
			t.Errorf("%d messages wait after a restart, want 1", n)
		}
		f.must(f.daemon.Resume("reviewer", dropbox.Lead))
		f.until("it begins", func() bool { return len(f.files("coder", "new")) == 0 })
		f.untilState("coder", swarm.Idle)
		bodies := strings.Join(f.bodies(), ",")
		if f.receipt("coder", waits); !strings.HasSuffix(bodies, "after both") {
			t.Errorf("the turns: %s", bodies)
		}
	})
}

// If a message on which another depends is taken back, the other waits, and the lead is told
// once, also after a restart. When the first is retried and done, the other begins.
func TestALostDependency(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "reviewer")
		f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Say("done")} }
		f.start()
		f.must(f.daemon.Pause("reviewer", swarm.PauseOrder{By: dropbox.Lead}))
		first := f.send("reviewer", "one")
		waits := f.send("coder", "after it", dependsOn(first))
		box, err := f.store.Mailbox("reviewer")
		if err != nil {
			t.Fatal(err)
		}
		entries, err := box.Peek()
		if err != nil || len(entries) != 1 {
			t.Fatal(err, entries)
		}
		f.must(box.Cancel(entries[0]))
		told := func() (list []string) {
			for _, m := range f.mail(dropbox.Lead) {
				if strings.HasPrefix(m.Subject, waits+" waits for") {
					list = append(list, string(m.Body))
				}
			}
			return list
		}
		f.until("the lead is told", func() bool { return len(told()) > 0 })
		f.halt()
		f.start()
		time.Sleep(3 * time.Second)
		got := told()
		if len(got) != 1 || !strings.Contains(got[0], "claude-swarm dead retry "+first) || !strings.Contains(got[0], "claude-swarm cancel "+waits) {
			t.Errorf("the lead was told %q", got)
		}
		if st := f.status("coder"); st.Why != waits+" waits for "+first+", which was given up or taken back" || st.Next != "claude-swarm dead retry "+first+", or claude-swarm cancel "+waits {
			t.Errorf("status %q %q", st.Why, st.Next)
		}
		letters, err := box.DeadLetters().List()
		if err != nil || len(letters) != 1 {
			t.Fatal(err, letters)
		}
		if err := box.DeadLetters().Retry(letters[0]); err != nil {
			t.Fatal(err)
		}
		f.must(f.daemon.Resume("reviewer", dropbox.Lead))
		f.until("it begins", func() bool { return len(f.files("coder", "new")) == 0 })
		f.untilState("coder", swarm.Idle)
		f.receipt("coder", waits)
	})
}

// A message that depends on an unknown message, or on itself, is refused where it is left.
func TestWrongDependenciesAreRefused(t *testing.T) {
	f := newField(t, "coder")
	deliver := func(ids ...string) error {
		m := &dropbox.Message{DependsOn: ids, Body: []byte("x")}
		_, err := f.store.Deliver("coder", m)
		return err
	}
	if err := deliver("aaaaaaaaaa"); err == nil || !strings.Contains(err.Error(), "depends_on: there is no message aaaaaaaaaa") {
		t.Errorf("unknown: %v", err)
	}
	if err := deliver("nonsense"); err == nil || !strings.Contains(err.Error(), `depends_on "nonsense"`) {
		t.Errorf("no id: %v", err)
	}
	one := f.send("coder", "one")
	two := f.send("coder", "two", dependsOn(one))
	files, err := filepath.Glob(filepath.Join(f.store.Dir(), "coder", "new", "*-"+one+".md"))
	if err != nil || len(files) != 1 {
		t.Fatal(err, files)
	}
	data, err := os.ReadFile(files[0])
	if err != nil {
		t.Fatal(err)
	}
	f.must(os.WriteFile(files[0], []byte(strings.Replace(string(data), "v: 1\n", "v: 1\ndepends_on: ["+two+"]\n", 1)), 0o600))
	if err := deliver(two); err == nil || !strings.Contains(err.Error(), "the messages wait for each other: ") {
		t.Errorf("a cycle: %v", err)
	}
}
