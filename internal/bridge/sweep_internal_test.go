package bridge

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// If a disk error prevents a message from being put back, filed or given up, the message
// stays in cur/ without an owner. The next sweep resumes handling such a message. It does
// not touch open questions or messages that are being sent.
func TestSweepTakesUpWhatWasLeft(t *testing.T) {
	r, log := newListener(t, "127.0.0.1", Options{})
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	var ids []string
	for i := range 5 {
		d, err := r.mail.store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Note, Body: fmt.Appendf(nil, "text %d\n", i)})
		ok(err)
		ids = append(ids, d.ID)
	}
	entries, err := r.mail.box.List()
	ok(err)
	var claims []*dropbox.Claim
	for i, e := range entries {
		if i == 3 {
			a, err := r.outbox.box.Take(e, "")
			ok(err)
			claims = append(claims, a.Claim)
			continue
		}
		c, err := r.mail.box.Claim(e)
		ok(err)
		claims = append(claims, c)
	}
	ok(r.mail.box.Commit(claims[1].Entry, []byte("receipt\n")))
	_, err = r.mail.box.BeginGiveUp(claims[2].Entry, "no such channel")
	ok(err)
	r.questions.open = []question{{OpenQuestion: OpenQuestion{ID: ids[4], From: "coder", At: time.Now()}, Own: true}}

	r.sweep(time.Now())
	var got []dropbox.State
	for _, id := range ids {
		f, err := r.mail.store.Find(id)
		ok(err)
		got = append(got, f.State)
	}
	if want := []dropbox.State{dropbox.Waiting, dropbox.Done, dropbox.Dead, dropbox.Claimed, dropbox.Claimed}; !slices.Equal(got, want) {
		t.Errorf("they are %v, want %v\n%s", got, want, log)
	}
	if bounces := r.waitingFor("coder"); len(bounces) != 1 || bounces[0].ReplyTo != ids[2] {
		t.Errorf("coder was told %d times", len(bounces))
	}
}
