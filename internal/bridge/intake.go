package bridge

import (
	"errors"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// debounce is how long a dropped file must stay unchanged before the bridge takes it in.
const debounce = time.Second

// A resting is a dropped file that the bridge has seen but that may not be complete yet.
type resting struct {
	dropbox.Stray
	since time.Time
}

// takeIn converts the dropped files that have stayed unchanged for debounce into
// messages. wait reports whether other dropped files may still be changing.
func (r *run) takeIn(now time.Time) (wait bool) {
	strays, err := r.mail.box.Drops().List()
	if err != nil {
		r.rec.trouble("dropped files were not listed", err)
		return false
	}
	rest := make(map[string]resting, len(strays))
	for _, st := range strays {
		old, ok := r.resting[st.Name]
		if !ok || !old.Same(st) {
			old = resting{st, now}
		}
		if now.Sub(old.since) < debounce {
			rest[st.Name], wait = old, true
			continue
		}
		_, err := r.mail.box.Drops().TakeIn(st, dropbox.Defaults{From: dropbox.Lead, Type: dropbox.Note})
		switch {
		case err == nil:
			r.outbox.plan.lookAgain()
		case errors.Is(err, dropbox.ErrInvalid) || errors.Is(err, dropbox.ErrTooLarge):
			r.rec.log.Warn("dropped file was set aside", "file", st.Name, keyErr, err)
			r.tellNotTaken(st.Name, err)
		case errors.Is(err, dropbox.ErrChanged):
			wait = true
		case !errors.Is(err, dropbox.ErrGone):
			r.rec.trouble("dropped file was not taken in", err) // the next sweep tries again
		}
	}
	r.resting = rest
	return wait
}

// tellNotTaken tells the lead that a dropped file was rejected and set aside.
func (r *run) tellNotTaken(file string, err error) {
	file = clip(strings.Join(strings.Fields(r.link.Plain(file)), " "), 100) // a file name can contain any bytes
	reason := err.Error()
	if bad, ok := errors.AsType[*dropbox.InvalidError](err); ok {
		reason = bad.Reason
	}
	_, err = r.mail.deliver(dropbox.Lead, &dropbox.Message{
		From: r.mail.name, To: []string{dropbox.Lead}, Type: dropbox.Status, Subject: "not taken in: " + file,
		Body: []byte("The file " + file + " in the mailbox of " + r.mail.name + " was not taken in: " + reason + ".\n\nIt is kept in dead/: claude-swarm dead list " + r.mail.name + "\n"),
	})
	if err != nil {
		r.rec.trouble("nobody was told about a dropped file", err)
	}
}
