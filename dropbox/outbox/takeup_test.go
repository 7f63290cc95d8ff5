package outbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// If the disk refuses a step of Recover, Recover ends there, and what it has not reached stays in
// cur/. The name of each case says what would be lost if Recover went on. Afterwards everything
// is settled.
func TestTheTakeUpEndsAtTheFirstRefusal(t *testing.T) {
	const sent, givenUp, claimed = "sent", "given up", "claimed"
	first := newWorld(t)
	receipt := func(st dropbox.Step) bool {
		return st.Op == dropbox.OpReplace && strings.HasSuffix(st.Name, ".receipt.yaml")
	}
	for lost, c := range map[string]struct {
		left   []string
		at     func(dropbox.Step) bool // the step that is refused, or before which the folder spoil is replaced; nil means before Recover
		spoil  string                  // the folder that is replaced with a file; "" means that the step is refused instead
		cur    int                     // messages that are still in cur/; -1 if cur/ is replaced
		within string                  // a part of the error
	}{
		"a half of a rename: two files for one message": {
			left: []string{claimed}, cur: 1, within: "recover in", spoil: "dead",
		},
		"a receipt, in a power cut: the message is tried twice": {
			left: []string{sent}, cur: 1, within: "no space left",
			at: func(st dropbox.Step) bool { return st.Op == dropbox.OpSyncDir && st.Name == "out/cur" },
		},
		"a receipt that is not filed": {
			left: []string{sent}, cur: 0, within: "no space left", at: receipt,
		},
		"a giving up that cannot be seen: the message is tried once more": {
			left: []string{sent, givenUp}, cur: 1, within: "list reasons", spoil: "dead", at: receipt,
		},
		"a giving up that is not completed: the message is tried once more": {
			left: []string{givenUp}, cur: 1, within: "no space left",
			at: func(st dropbox.Step) bool {
				return st.Op == dropbox.OpReplace && strings.HasPrefix(st.To, "out/dead/")
			},
		},
		"claims that cannot be listed: they wait until the next start": {
			left: []string{givenUp, claimed}, cur: -1, within: "list claimed", spoil: "cur",
			at: func(st dropbox.Step) bool { return st.Op == dropbox.OpSyncDir && st.Name == "out/new" },
		},
		"a claim that is not put back": {
			left: []string{claimed}, cur: 1, within: "no space left",
			at: func(st dropbox.Step) bool {
				return st.Op == dropbox.OpMove && strings.HasPrefix(st.To, "out/new/")
			},
		},
	} {
		t.Run(lost, func(t *testing.T) {
			w := first.again(t)
			w.t = t
			mend, armed := func() {}, false
			spoil := func() {
				folder := filepath.Join(w.dir, "out", c.spoil)
				ok(t, os.Rename(folder, folder+".away"))
				ok(t, os.WriteFile(folder, nil, 0o600))
				armed, mend = false, func() {
					ok(t, os.Remove(folder))
					ok(t, os.Rename(folder+".away", folder))
				}
			}
			wk, end := w.start(func(st dropbox.Step) error {
				if !armed || !c.at(st) {
					return nil
				}
				if c.spoil == "" {
					return errNoSpace
				}
				spoil()
				return nil
			}, alive)
			defer end()
			entries, err := wk.mailbox.List()
			ok(t, err)
			for i, how := range c.left {
				claim, err := wk.mailbox.Claim(entries[i])
				ok(t, err)
				switch how {
				case sent:
					err = wk.mailbox.Commit(claim.Entry, []byte("receipt\n"))
				case givenUp:
					_, err = wk.mailbox.BeginGiveUp(claim.Entry, "no")
				}
				ok(t, err)
			}
			if armed = c.at != nil; !armed {
				spoil()
			}
			if err := wk.box.Recover(); err == nil || !strings.Contains(err.Error(), c.within) {
				t.Errorf("Recover = %v, want an error with %q", err, c.within)
			}
			if cur, _ := filepath.Glob(filepath.Join(w.dir, "out/cur/*.md")); c.cur >= 0 && len(cur) != c.cur {
				t.Errorf("in cur/ %v, want %d", cur, c.cur)
			}
			armed = false
			mend()
			ok(t, wk.box.Recover())
			if n := wk.count(dropbox.Claimed); n != 0 {
				t.Errorf("%d messages are left in cur/", n)
			}
		})
	}
}

// A message that somebody moves while the take-up runs is reported, and the next take-up is
// complete.
func TestAGivenUpMessageThatIsMoved(t *testing.T) {
	w := newWorld(t)
	store := w.open(nil)
	defer store.Close()
	mailbox, err := store.Mailbox("out")
	ok(t, err)
	entries, err := mailbox.List()
	ok(t, err)
	var last dropbox.Entry
	for _, e := range entries[:2] {
		c, err := mailbox.Claim(e)
		ok(t, err)
		_, err = mailbox.BeginGiveUp(c.Entry, "no")
		ok(t, err)
		last = c.Entry
	}
	told := 0
	box := outbox.New(mailbox, outbox.Options{Tell: func(*dropbox.Claim, string, time.Time) error {
		if told++; told == 1 {
			ok(t, os.Remove(filepath.Join(w.dir, "out/cur", last.Name)))
		}
		return nil
	}})
	if err := box.Recover(); !errors.Is(err, dropbox.ErrGone) || told != 1 {
		t.Errorf("Recover = %v after %d notices, want ErrGone after one", err, told)
	}
	ok(t, box.TakeUp())
	if dead := w.count(dropbox.Dead); dead != 1 || told != 1 {
		t.Errorf("%d dead, %d notices; want one of each", dead, told)
	}
}
