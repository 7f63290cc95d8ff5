package swarm_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// Urgent mail is handled first. The interrupted message then starts over, ahead of later
// mail.
func TestAnInterruptedMessageComesAfterTheUrgentOne(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	if _, err := f.daemon.Interrupt(t.Context(), "coder", "lead", ""); !errors.Is(err, swarm.ErrNoTurn) {
		t.Errorf("Interrupt of an idle agent = %v, want ErrNoTurn", err)
	}
	long := f.send("coder", "long\n@hang")
	f.until("it works on the long one", func() bool { return len(f.backend.Runs()) == 1 })
	f.send("coder", "waiting")
	urgent := f.send("coder", "urgent", func(m *dropbox.Message) { m.Priority = dropbox.Urgent })
	if _, err := f.daemon.Interrupt(t.Context(), "coder", "the lead", urgent); err != nil {
		t.Fatal(err)
	}
	f.answer(urgent)
	f.until("the long one runs again", func() bool { return len(f.backend.Runs()) == 3 })
	var first []string
	for _, b := range f.bodies() {
		line, _, _ := strings.Cut(b, "\n")
		first = append(first, line)
	}
	if want := []string{"long", "urgent", "long"}; !slices.Equal(first, want) {
		t.Errorf("turns for %v, want %v", first, want)
	}
	if prompt := f.backend.Runs()[2].Turn.Prompt; !strings.Contains(prompt, "begun before and cut off") {
		t.Errorf("the second prompt of the long one does not say that it was cut off:\n%s", prompt)
	}
	// An interrupt for the running turn's own message does not end that turn.
	if _, err := f.daemon.Interrupt(t.Context(), "coder", "the lead", long); !errors.Is(err, swarm.ErrNoTurn) {
		t.Errorf("Interrupt for the message that it works on = %v, want ErrNoTurn", err)
	}
	if st := f.status("coder"); st.State != swarm.Working || st.Message == nil || st.Message.ID != long {
		t.Errorf("status = %+v", st)
	}
}

// The reason for giving up an aborted message names the person who aborted its turn, not
// the one who aborted an earlier turn.
func TestAnAbortNamesWhoOrderedIt(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	for n, by := range []string{"ann", "ben"} {
		id := f.send("coder", "work\n@hang")
		f.until("it works", func() bool { return len(f.backend.Runs()) == n+1 && f.status("coder").State == swarm.Working })
		if _, err := f.daemon.Abort(t.Context(), "coder", by, ""); err != nil {
			t.Fatal(err)
		}
		if told := string(f.answer(id).Body); !strings.Contains(told, "aborted by "+by) {
			t.Errorf("the sender of a message that %s aborted is told: %s", by, told)
		}
	}
}
