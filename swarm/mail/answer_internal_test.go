package mail

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// endWell lets a turn on coder's only waiting message end well, and returns its answers in the
// sender's mailbox. begun is called while the turn runs.
func endWell(t *testing.T, in *Inbox, sender string, begun func(j *Job)) (answers []*dropbox.Message) {
	t.Helper()
	waiting, err := in.Box.List()
	if err != nil || len(waiting) != 1 {
		t.Fatalf("waiting: %v, %v", waiting, err)
	}
	j, err := in.Claim(waiting[0])
	if err != nil || j == nil {
		t.Fatalf("Claim = %v, %v", j, err)
	}
	m := j.Claim.Message
	j.Rec = &journal.Record{V: 1, Turn: journal.TurnID(m.ID, j.Claim.Begun, 0), Agent: in.Name, Message: m.ID, Begun: time.Now()}
	begun(j)
	r, err := in.Commit(j, runner.Outcome{End: runner.Done, Text: "It is green.", Ended: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // after a crash, the steps are repeated
		if err := in.Finish(j, r); err != nil {
			t.Fatal(err)
		}
	}
	box, err := in.Store.Mailbox(sender)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		m, err := box.Read(e)
		if err != nil {
			t.Fatal(err)
		}
		if m.From == in.Name {
			answers = append(answers, m)
		}
	}
	return answers
}

// The sender of a task or a question gets the turn's last words, once. A result, a note and the
// daemon get no answer.
func TestWhoGetsTheLastWordsOfATurn(t *testing.T) {
	for name, c := range map[string]struct {
		from string
		as   dropbox.Type
		want bool
	}{
		"a task of another agent":     {"tester", dropbox.Task, true},
		"a question of another agent": {"tester", dropbox.Question, true},
		"a result":                    {"tester", dropbox.Result, false},
		"a note":                      {"tester", dropbox.Note, false},
		"a task of the daemon":        {dropbox.Swarm, dropbox.Task, false},
	} {
		t.Run(name, func(t *testing.T) {
			in := newInbox(t)
			if err := in.Store.MakeMailbox(c.from); err != nil {
				t.Fatal(err)
			}
			d, err := in.Store.Deliver(in.Name, &dropbox.Message{From: c.from, Type: c.as, Body: []byte("paint\n")})
			if err != nil {
				t.Fatal(err)
			}
			got := endWell(t, in, c.from, func(*Job) {})
			if answered := len(got) == 1; answered != c.want || len(got) > 1 {
				t.Fatalf("%d answers, wanted: %v", len(got), c.want)
			}
			if c.want && (got[0].ReplyTo != d.ID || got[0].Type != dropbox.Result || string(got[0].Body) != "It is green.") {
				t.Errorf("the answer is %+v\n%s", got[0], got[0].Body)
			}
		})
	}
}

// The agent that claimed published work answers the publisher, and the work is closed then. An
// agent that has released it does not answer, and the work stays open.
func TestTheAgentThatHasPublishedWorkAnswers(t *testing.T) {
	for name, keeps := range map[string]bool{"claimed": true, "claimed and released": false} {
		t.Run(name, func(t *testing.T) {
			in := newInbox(t)
			topics := topic.Of(in.Store)
			if err := in.Store.MakeMailbox("tester"); err != nil {
				t.Fatal(err)
			}
			if _, err := topics.Subscribe(in.Name, "builds"); err != nil {
				t.Fatal(err)
			}
			p, err := topics.Publish(&dropbox.Message{From: "tester", Topic: "builds", Type: dropbox.Task, Body: []byte("build\n")}, nil)
			if err != nil || len(p.Offered) != 1 {
				t.Fatalf("published %+v, %v", p, err)
			}
			got := endWell(t, in, "tester", func(j *Job) {
				if _, err := topics.Claim(p.ID, in.Name, j.Rec.Turn); err != nil {
					t.Fatal(err)
				}
				if !keeps {
					if err := topics.Release(p.ID, in.Name); err != nil {
						t.Fatal(err)
					}
				}
			})
			open, err := topics.Open()
			if err != nil {
				t.Fatal(err)
			}
			if answered := len(got) == 1; answered != keeps || len(open) == 1 == keeps {
				t.Errorf("%d answers, %d open; answered and closed: want %v", len(got), len(open), keeps)
			}
			if keeps && got[0].ReplyTo != p.ID {
				t.Errorf("the answer is to %s, want the publication %s", got[0].ReplyTo, p.ID)
			}
		})
	}
}
