package webhook_test

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
)

// If a disk step fails while Run settles the messages in cur/, Run ends at that step.
// The name of each test case says what would be lost if Run continued.
func TestTheTakeUpEndsAtTheFirstRefusal(t *testing.T) {
	refused := errors.New("no space left on device")
	for lost, test := range map[string]struct {
		left   []string
		at     func(dropbox.Step) bool // reports whether this is the step that fails, or the step before which the folder spoil is replaced
		spoil  string                  // the mailbox folder that is replaced with a file; "" means that the step fails instead
		cur    int                     // number of messages still in cur/, if cur/ can be listed
		within string                  // a part of the error
	}{
		"a receipt, in a power cut: the event is posted twice": {
			left: []string{"posted"}, cur: 1, within: "no space left",
			at: func(st dropbox.Step) bool { return st.Op == dropbox.OpSyncDir && st.Name == "hooks/cur" },
		},
		"the look at a receipt that is not filed": {
			left: []string{"posted"}, cur: 0, within: "no space left",
			at: func(st dropbox.Step) bool {
				return st.Op == dropbox.OpReplace && strings.HasSuffix(st.Name, ".receipt.yaml")
			},
		},
		"a giving up that cannot be seen: the event is posted once more": {
			left: []string{"posted", "given up"}, cur: 1, within: "list reasons", spoil: "dead",
			at: func(st dropbox.Step) bool {
				return st.Op == dropbox.OpReplace && strings.HasSuffix(st.Name, ".receipt.yaml")
			},
		},
		"a giving up that is not completed: the event is posted once more": {
			left: []string{"given up"}, cur: 1, within: "no space left",
			at: func(st dropbox.Step) bool {
				return st.Op == dropbox.OpReplace && strings.HasPrefix(st.To, "hooks/dead/")
			},
		},
		"claims that cannot be listed: their events wait until the next start": {
			left: []string{"given up", "claimed"}, within: "list claimed", spoil: "cur",
			at: func(st dropbox.Step) bool { return st.Op == dropbox.OpSyncDir && st.Name == "hooks/new" },
		},
	} {
		t.Run(lost, func(t *testing.T) {
			armed := false
			var sc *scene
			sc = newScene(t, dropbox.Options{Step: func(st dropbox.Step) error {
				if !armed || !test.at(st) {
					return nil
				}
				if test.spoil == "" {
					return refused
				}
				armed = false
				return replaced(filepath.Join(sc.dir, dropbox.Hooks, test.spoil))
			}})
			sc.left(test.left...)
			s, err := webhook.New(sc.o)
			if err != nil {
				t.Fatal(err)
			}
			armed = true
			if err := s.Run(canceled()); err == nil || !strings.Contains(err.Error(), test.within) {
				t.Errorf("Run = %v, want an error with %q", err, test.within)
			}
			if cur, waits := sc.files("cur"), sc.files("new"); len(cur) != test.cur || len(waits) != 0 {
				t.Errorf("in cur/ %v, waiting %v; want %d and none", cur, waits, test.cur)
			}
		})
	}
}
