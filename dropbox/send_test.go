package dropbox_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestSend(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "alice", "bob", "carol", "irc")
	signed := make(map[string]string)
	sent, err := s.Send(&dropbox.Message{From: "alice", To: []string{"all", "bob"}, CC: []string{"carol", "lead"}, Body: []byte("hi")},
		func(m *dropbox.Message, to string) string {
			signed[m.ID] = to
			return dropbox.Proof("t", m, to)
		})
	if err != nil {
		t.Fatal(err)
	}
	var to []string
	for _, d := range sent {
		to = append(to, d.To)
		b := mailbox(t, s, d.To)
		m := claim(t, b, list(t, b)[0]).Message
		if m.ID != d.ID || m.Thread != sent[0].Thread || signed[d.ID] != d.To || !dropbox.Proven("t", m, d.To) {
			t.Errorf("%s got %+v", d.To, m)
		}
		if want := d.To == "lead"; (m.Type == dropbox.Note) != want {
			t.Errorf("%s got the type %s", d.To, m.Type)
		}
	}
	if want := []string{"bob", "carol", "lead"}; !slices.Equal(to, want) {
		t.Errorf("sent to %v, want %v", to, want)
	}
	if _, err := s.Send(&dropbox.Message{From: "alice", To: []string{"bob", "carl"}, Body: []byte("x")}, nil); !errors.Is(err, dropbox.ErrNoMailbox) {
		t.Errorf("Send to carl = %v, want ErrNoMailbox", err)
	}
	if n := len(list(t, mailbox(t, s, "bob"))); n != 0 {
		t.Errorf("a refused Send delivered %d", n)
	}
	if _, err := s.Send(&dropbox.Message{Body: []byte("x")}, nil); !errors.Is(err, dropbox.ErrInvalid) {
		t.Errorf("Send without a recipient = %v, want ErrInvalid", err)
	}
}

// Deliver can deliver to the webhooks' mailbox, but Send refuses its name, and "all"
// does not include it.
func TestNobodySendsToTheHooks(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "alice", "bob", dropbox.Hooks)
	sent, err := s.Send(&dropbox.Message{From: "alice", To: []string{"all"}, Body: []byte("hi")}, nil)
	if err != nil || len(sent) != 1 || sent[0].To != "bob" {
		t.Errorf("Send to all = %v, %v, want only bob", sent, err)
	}
	for _, m := range []*dropbox.Message{{To: []string{dropbox.Hooks}}, {To: []string{"bob"}, CC: []string{dropbox.Hooks}}} {
		if sent, err := s.Send(m, nil); !errors.Is(err, dropbox.ErrName) {
			t.Errorf("Send to %v, cc %v = %v, %v, want ErrName", m.To, m.CC, sent, err)
		}
	}
	if _, err := s.Deliver(dropbox.Hooks, &dropbox.Message{From: dropbox.Swarm, Body: []byte("hi")}); err != nil {
		t.Errorf("Deliver to hooks: %v", err)
	}
	if n := len(list(t, mailbox(t, s, dropbox.Hooks))); n != 1 {
		t.Errorf("%d messages wait in hooks, want the one that was delivered", n)
	}
}

// A Send that was interrupted can be repeated, and its thread stays the same.
func TestSendCutOffBetweenRecipients(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "alice", "bob")
	m := &dropbox.Message{To: []string{"alice", "bob"}, Key: "k", Body: []byte("x")}
	cut := reopen(t, s.Dir(), dropbox.Options{Step: func(st dropbox.Step) error {
		if strings.HasPrefix(st.Name, "bob/") {
			return errors.New("cut off")
		}
		return nil
	}})
	first, err := cut.Send(m, nil)
	if err == nil || len(first) != 1 {
		t.Fatalf("Send = %v, %v, want one delivery and an error", first, err)
	}
	second, err := s.Send(m, nil)
	if err != nil || len(second) != 2 || !second[0].Duplicate || second[0].ID != first[0].ID || second[1].Duplicate ||
		second[1].Thread != first[0].Thread {
		t.Errorf("Send again = %+v, %v after %+v", second, err, first)
	}
}
