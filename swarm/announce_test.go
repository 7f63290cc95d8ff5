package swarm_test

import (
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// everywhere is an announcer that shows every event in one channel.
type everywhere struct{}

func (everywhere) Bridge() string { return "irc" }

func (everywhere) On() bool { return true }

func (everywhere) Copies(mo notice.Announcement) []notice.Copy {
	return []notice.Copy{{Where: "#all", Extra: fmt.Sprintf("irc: {channel: \"#all\", about: %q, to: %s, moment: %s}\n", mo.About, mo.To, mo.Kind)}}
}

// copies lists the messages in the irc mailbox whose keys begin with "irc-" followed by
// key.
func (f *field) copies(key string) []*dropbox.Message {
	f.t.Helper()
	if !slices.Contains(must(f.store.Mailboxes()), "irc") {
		return nil
	}
	return slices.DeleteFunc(f.mail("irc"), func(m *dropbox.Message) bool { return !strings.HasPrefix(m.Key, "irc-"+key) })
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// shown waits for a copy of an event.
func (f *field) shown(key string) *dropbox.Message {
	f.t.Helper()
	f.until("a copy "+key, func() bool { return len(f.copies(key)) > 0 })
	return f.copies(key)[0]
}

// shownOnce checks after a cut that the end of each task was shown, and that no event was
// shown twice.
func (f *field) shownOnce() {
	f.t.Helper()
	for _, m := range f.mail(dropbox.Lead) {
		if m.ReplyTo != "" {
			f.shown("begun-" + m.ReplyTo)
			f.until("how "+m.ReplyTo+" ended is shown", func() bool {
				return len(f.copies("result-"+m.ReplyTo)) == 1 || len(f.copies("dead-"+m.ReplyTo)) == 1
			})
		}
	}
	var keys []string
	for _, m := range f.copies("") {
		keys = append(keys, m.Key)
	}
	slices.Sort(keys)
	if all := len(keys); len(slices.Compact(slices.Clone(keys))) != all {
		f.t.Errorf("shown twice: %q", keys)
	}
}

func TestAnnounced(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	f.announcer = everywhere{}
	f.restart.MaxMessages = 100 // the breaker must not open here
	f.start()

	id := f.send("coder", "@say the door is green", subject("Paint the door"))
	answer := f.answer(id)
	begun, result := f.shown("begun-"+id), f.shown("result-"+id)
	if begun.From != "lead" || begun.Type != dropbox.Task || begun.Subject != "Paint the door" || begun.Thread != id || begun.Trace != id ||
		begun.ReplyTo != "" || begun.Priority != dropbox.Low || begun.Hops != 0 {
		t.Errorf("the copy of what began: %+v", begun)
	}
	if want := "irc: {channel: \"#all\", about: \"" + id + "\", to: coder, moment: begun}\n"; begun.Extra != want {
		t.Errorf("its extra is %q, want %q", begun.Extra, want)
	}
	if result.From != "coder" || !strings.Contains(string(result.Body), "the door is green") || result.Thread != id ||
		!strings.Contains(result.Extra, "about: \""+answer.ID+"\", to: lead, moment: result") {
		t.Errorf("the copy of the result: %+v", result)
	}
	if mail := f.shown("mail-" + answer.ID); mail.Priority != dropbox.Normal || mail.Thread != id || !dropbox.Proven(f.tokens["coder"], mail, "irc") {
		t.Errorf("the copy of the answer in the lead's mailbox: %+v", mail)
	}

	bad := f.send("coder", "@noresult")
	bounce := f.answer(bad)
	if dead := f.shown("dead-" + bad); dead.From != dropbox.Swarm || !strings.Contains(string(dead.Body), "failed 3 times, last: ") || dead.Thread != bad {
		t.Errorf("the copy of the dead letter: %+v", dead)
	}
	if n := len(f.copies("failed-" + bad)); n != 3 {
		t.Errorf("%d failures were shown, want 3", n)
	}

	stopped := f.send("reviewer", "@status 401")
	f.told("reviewer is stopped")
	alert := f.shown("notice:stopped:reviewer")
	if alert.From != dropbox.Swarm || alert.Subject != "reviewer is stopped" {
		t.Errorf("the copy of the alert: %+v", alert)
	}
	f.shown("begun-" + stopped)

	// The next daemon shows mail that arrived while no daemon was running, and shows no
	// message twice.
	f.halt()
	question := f.send(dropbox.Lead, "Which green?", typed(dropbox.Question), from("coder"))
	f.start()
	f.shown("mail-" + question)
	f.until("the agents rest", func() bool { return f.status("coder").State == swarm.Idle })
	for _, what := range []string{"begun-" + id, "result-" + id, "mail-" + answer.ID, "dead-" + bad, "mail-" + question, "notice:stopped:reviewer"} {
		if n := len(f.copies(what)); n != 1 {
			t.Errorf("%d copies of %s, want 1", n, what)
		}
	}
	if n := len(f.copies("mail-"+bounce.ID)) + len(f.copies("alert-"+bounce.ID)) + len(f.copies("notice:dead")); n != 0 {
		t.Errorf("the bounce was shown besides the dead letter, %d times", n)
	}
	if got := f.files("irc", "cur"); len(got) != 0 {
		t.Errorf("the daemon claimed %v for the bridge", got)
	}
}

// A lead agent receives the alerts. People see them too.
func TestAnnouncedAlertsToAnAgent(t *testing.T) {
	f := newField(t, "planner", "coder")
	f.plan.Lead = "planner"
	f.announcer = everywhere{}
	f.start()
	f.send("coder", "@status 401")
	if m := f.shown("notice:stopped:coder"); m.Subject != "coder is stopped" || m.From != dropbox.Swarm || !strings.Contains(m.Extra, "to: planner") {
		t.Errorf("the copy of the alert: %+v", m)
	}
	f.until("the planner worked on it", func() bool { return len(f.files("planner", "done")) > 0 })
	if n := len(f.copies("notice:stopped:coder")); n != 1 {
		t.Errorf("the alert was shown %d times", n)
	}
}

// A full mailbox, or a disk that refuses the copies, does not stop any agent from working.
// The status reports the trouble while it lasts.
func TestAnnouncingKeepsNobodyFromWork(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.announcer = everywhere{}
		var broken atomic.Bool
		f.reopen(dropbox.Options{Step: func(st dropbox.Step) error {
			if broken.Load() && strings.HasPrefix(st.Name, "irc/") {
				return fmt.Errorf("no space left on device")
			}
			return nil
		}})
		f.start()
		if err := f.store.MakeMailbox("irc"); err != nil {
			t.Fatal(err)
		}
		broken.Store(true)
		f.answer(f.send("coder", "@say fine"))
		f.until("the status complains", func() bool { return f.troubled("IRC does not show what is happening") })
		broken.Store(false)
		f.until("the complaint goes", func() bool { return !f.troubled("IRC does not show what is happening") })

		for i := range 1000 {
			if _, err := f.store.Deliver("irc", &dropbox.Message{Type: dropbox.Note, Body: []byte(fmt.Sprint(i))}); err != nil {
				t.Fatal(err)
			}
		}
		work := func() string {
			id := f.send("coder", "@say fine")
			f.answer(id)
			f.untilState("coder", swarm.Idle)
			return id
		}
		f.until("the status says that copies are left out", func() bool {
			work()
			return f.troubled("too much is waiting in the mailbox irc")
		})
		if id := work(); len(f.copies("begun-"+id)) > 0 {
			t.Error("a full mailbox got a copy")
		}
		id := f.send(dropbox.Lead, "Which green?", typed(dropbox.Question), from("coder"))
		f.shown("mail-" + id) // a full mailbox still accepts alerts for people
	})
}

// A file that a person puts into the irc mailbox waits there like any message.
func TestHandDroppedForIRC(t *testing.T) {
	f := newField(t, "coder")
	f.announcer = everywhere{}
	if err := f.store.MakeMailbox("irc"); err != nil {
		t.Fatal(err)
	}
	f.start()
	drop(f, "irc", "hello.md", "Hello, all!\n")
	f.until("it is taken in", func() bool {
		return slices.ContainsFunc(f.mail("irc"), func(m *dropbox.Message) bool { return string(m.Body) == "Hello, all!\n" })
	})
}
