package swarm_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// told waits until the lead has a message whose body contains the given words.
func (f *field) told(words string) *dropbox.Message {
	f.t.Helper()
	var got *dropbox.Message
	f.until("the lead is told of "+words, func() bool {
		i := slices.IndexFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool { return strings.Contains(string(m.Body), words) })
		if i >= 0 {
			got = f.mail(dropbox.Lead)[i]
		}
		return i >= 0
	})
	return got
}

// A message with an odd body, sender or path is answered or bounced, and does not block
// the next message.
func TestNoAnswerHoldsUpTheNext(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	longPath := func(m *dropbox.Message) {
		for range 256 {
			m.Path = append(m.Path, "x")
		}
	}
	for name, set := range map[string]func(*dropbox.Message){
		"colours in the body":         func(m *dropbox.Message) { m.Body = []byte("\x1b[31mred\x1b[0m " + string(m.Body)) },
		"a sender that is not a name": from("bob@example.com"),
		"a sender that is reserved":   from("operator"),
		"a path as long as it can be": longPath,
	} {
		for _, script := range []string{"@say done so", "@fail not so"} {
			t.Run(name+" "+script[1:5], func(t *testing.T) {
				f := newField(t, "coder")
				f.plan.Agents[0].MaxFailures = 1
				f.start()
				f.send("coder", "\n"+script, set)
				f.told("so")
				f.untilState("coder", swarm.Idle)
				f.nothingLeft("coder")
			})
		}
	}
}

// The reason why a message is invalid may be long. In that case the lead gets a message
// with the beginning of the reason.
func TestALongReasonIsToldToo(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	name := "1-20261121T045102.123456Z-k7f3q9m2xd.md"
	if err := os.WriteFile(filepath.Join(f.store.Dir(), "coder", "new", name), []byte("---\ntype: "+strings.Repeat("x", 12<<10)+"\n---\nwork\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.told("not a valid message")
}

// A file with a line break in its name is reported like any other file.
func TestAStrangeNameIsTold(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	drop(f, "coder", "a\nb.md", "a\x00b")
	f.told("was not taken in")
}

// A result that replies to another message is not the answer to this one.
func TestAnAnswerToAnotherMessageIsNoAnswerToThis(t *testing.T) {
	f := newField(t, "coder")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{
			runnertest.Do(func(context.Context, runner.Turn) error {
				who, err := journal.WhoAmI(journal.HomeOf(f.dir), func(name string) string {
					return map[string]string{runner.AgentVar: "coder", runner.MarkVar: turn.ID}[name]
				})
				if err != nil {
					return err
				}
				return who.Sent([]dropbox.Delivery{{ID: "aaaaaaaaaa", To: dropbox.Lead}}, &dropbox.Message{Type: dropbox.Result, ReplyTo: "bbbbbbbbbb"})
			}),
			runnertest.Say("this one"),
		}
	}
	f.start()
	f.answer(f.send("coder", "work"))
}
