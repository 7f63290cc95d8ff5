package swarm_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// bounces returns the messages in the lead's mailbox that reply to a message.
func (f *field) bounces(id string) []*dropbox.Message {
	f.t.Helper()
	return slices.DeleteFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool { return m.ReplyTo != id })
}

// retry retries an agent's dead letter.
func (f *field) retry(name, id string) {
	f.t.Helper()
	box, err := f.store.Mailbox(name)
	if err != nil {
		f.t.Fatal(err)
	}
	dead, err := box.DeadLetters().List()
	if err != nil {
		f.t.Fatal(err)
	}
	for _, d := range dead {
		if d.ID == id {
			if err := box.DeadLetters().Retry(d); err != nil {
				f.t.Fatal(err)
			}
			return
		}
	}
	f.t.Fatalf("%s is not dead", id)
}

// A dead letter that is retried and fails again is reported again.
func TestASecondDeathIsToldAgain(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	id := f.send("coder", "@fail no luck")
	f.answer(id)
	f.until("it is dead", func() bool { return f.status("coder").Dead == 1 })
	f.retry("coder", id)
	f.until("it is dead again", func() bool {
		st := f.status("coder")
		if st.State == swarm.Stopped { // a second consecutive failure may have opened the breaker
			if err := f.daemon.StartAgent("coder", "lead"); err != nil {
				t.Fatal(err)
			}
		}
		return len(f.bodies()) == 6 && st.Dead == 1
	})
	if n := len(f.bounces(id)); n != 2 {
		t.Errorf("the sender was told %d times of two deaths", n)
	}
	// A message that is given up without a turn is also reported again.
	old := f.send("coder", "too late", expires(time.Now().Add(-time.Hour)))
	f.answer(old)
	f.until("it has expired", func() bool { return f.status("coder").Dead == 2 })
	f.retry("coder", old)
	f.until("it has expired again", func() bool { return len(f.bounces(old)) == 2 })
}

// After two consecutive poison messages, the first is given up, and the second gets one
// attempt and opens the breaker. When a person starts the agent, the second message gets
// its remaining attempts, and then the next message runs.
func TestTwoPoisonMessagesInARow(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	first := f.send("coder", "@fail poison")
	second := f.send("coder", "@fail poison too")
	good := f.send("coder", "fine")
	f.answer(first)
	f.untilState("coder", swarm.Stopped)
	if n := len(f.bounces(second)); n != 0 {
		t.Errorf("the second was given up after one try")
	}
	if got := f.files("coder", "new"); len(got) != 2 || !strings.Contains(got[0], second+"~1.1.md") {
		t.Errorf("new/ = %v, want the second with one failure and the good one", got)
	}
	if err := f.daemon.StartAgent("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	f.answer(second)
	f.answer(good)
	f.untilState("coder", swarm.Idle)
	want := []string{"@fail poison", "@fail poison", "@fail poison", "@fail poison too", "@fail poison too", "@fail poison too", "fine"}
	if got := f.bodies(); !slices.Equal(got, want) {
		t.Errorf("turns = %q, want %q", got, want)
	}
	for _, id := range []string{first, second} {
		if n := len(f.bounces(id)); n != 1 {
			t.Errorf("the sender was told %d times of %s", n, id)
		}
	}
}

// The daemon recognizes a message that crashes the machine each time, because the records
// of its turns contain no end. The agent then works on the next message.
func TestAMessageThatEndsTheMachineIsGivenUp(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "kills the machine")
	good := f.send("coder", "fine")
	box, err := f.store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 { // ten attempts; no process of the client is left
		turn := claim(f, "coder", id)
		writeRecord(f, turn, id, runner.Process{PID: 1 << 22, Start: 1})
		entries, err := box.Claimed()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := box.PutBack(entries[0], false); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	if b := f.answer(id); !strings.Contains(string(b.Body), "begun 10 times, but never ended") {
		t.Errorf("bounce = %s", b.Body)
	}
	f.answer(good)
	if got := f.bodies(); !slices.Equal(got, []string{"fine"}) {
		t.Errorf("turns = %q, want the good one alone", got)
	}
}

// A message with many turns that all ended, for example because of a usage limit, is not
// poison, even if the records of its first turns are gone.
func TestAMessageThatIsOftenPutBackIsKept(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	f := newField(t, "coder")
	turns := 0
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		if turns++; turns <= 25 {
			return []runnertest.Step{runnertest.Limited(0)}
		}
		return nil
	}
	f.start()
	id := f.send("coder", "work")
	for n := 1; n <= 25; n++ {
		f.until("a turn", func() bool { return len(f.backend.Runs()) == n })
		f.untilState("coder", swarm.Limited)
		if n > 11 { // as if rotation had removed them
			for _, end := range []string{".json", ".jsonl"} {
				if err := os.Remove(filepath.Join(journal.HomeOf(f.dir).Turns(), fmt.Sprintf("%s-%d%s", id, n-11, end))); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := f.daemon.Resume("coder", "lead"); err != nil {
			t.Fatal(err)
		}
	}
	f.receipt("coder", id)
	if got := f.files("coder", "dead"); len(got) != 0 {
		t.Errorf("dead/ = %v", got)
	}
}
