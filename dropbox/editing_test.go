package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Each editor's mark counts while the editor may be running, and only for its file.
func TestEdited(t *testing.T) {
	for name, c := range map[string]struct {
		mark         string
		open, link   bool // the editor has the mark open; the mark is a symlink to nothing
		after        time.Duration
		want, leases bool
	}{
		"nothing":                 {mark: "", want: false},
		"vim":                     {mark: ".task.md.swp", open: true, want: true},
		"a second vim":            {mark: ".task.md.swo", open: true, want: true},
		"a vim that has crashed":  {mark: ".task.md.swp", want: false, leases: true},
		"kate":                    {mark: ".task.md.kate-swp", open: true, want: true},
		"vim for another file":    {mark: ".task.swp", open: true, want: false},
		"emacs":                   {mark: ".#task.md", link: true, want: true},
		"an emacs of last night":  {mark: ".#task.md", link: true, after: 2 * time.Hour, want: false},
		"libreoffice":             {mark: ".~lock.task.md#", want: true},
		"word":                    {mark: "~$task.md", want: true},
		"word, for a long name":   {mark: "~$sk.md", want: true},
		"word, for another file":  {mark: "~$other.md", want: false},
		"vim, open for two hours": {mark: ".task.md.swp", open: true, after: 2 * time.Hour, want: false},
	} {
		t.Run(name, func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder")
			b := mailbox(t, s, "coder")
			drop(t, s, "coder", "task.md", "Write a readme.\n")
			st := onlyStray(t, b)
			path := filepath.Join(s.Dir(), "coder", c.mark)
			switch {
			case c.mark == "":
			case c.link:
				if err := os.Symlink("ann@desk.4711:1", path); err != nil {
					t.Fatal(err)
				}
			default:
				f, err := os.Create(path)
				if err != nil {
					t.Fatal(err)
				}
				defer f.Close()
				if !c.open {
					f.Close()
				}
			}
			if c.leases && b.Drops().Writing(st) == dropbox.WritersUnknown {
				t.Log("without leases, the mark of a crashed editor counts for an hour")
				return
			}
			if got := b.Drops().Edited(st, time.Now().Add(c.after)); got != c.want {
				t.Errorf("Edited = %v, want %v", got, c.want)
			}
		})
	}
}

// A dropped file whose envelope names another mailbox is set aside with a word, because the
// agent in whose mailbox it lies is not meant.
func TestAFileInTheWrongMailbox(t *testing.T) {
	for envelope, wrong := range map[string]bool{
		"to: reviewer":            true,
		"to: [reviewer, lead]":    true,
		"to: coder":               false,
		"to: [reviewer, coder]":   false,
		"to: reviewer\ncc: coder": false,
		"to: '@writers'":          false,
		"to: nobody":              false,
		"subject: x":              false,
	} {
		t.Run(envelope, func(t *testing.T) {
			s := newStore(t, dropbox.Options{}, "coder", "reviewer", "lead")
			b := mailbox(t, s, "coder")
			drop(t, s, "coder", "task.md", "---\n"+envelope+"\n---\nLook at it.\n")
			_, err := b.Drops().TakeIn(onlyStray(t, b), dropbox.Defaults{From: "lead"})
			bad, is := errors.AsType[*dropbox.InvalidError](err)
			if is != wrong || wrong && !strings.Contains(bad.Reason, "reviewer") && !strings.Contains(bad.Reason, "lead") {
				t.Errorf("TakeIn = %v, want an error: %v", err, wrong)
			}
		})
	}
}
