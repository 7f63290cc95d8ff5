package swarm_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The daemon asks the person a question, which is also shown on IRC, and gets the answer
// even while all agents are idle.
func TestTheDaemonAsksThePerson(t *testing.T) {
	f := newField(t, "coder")
	f.sweep = 0 // so that only events wake the daemon, not the folder check
	f.announcer = everywhere{}
	tokens, err := journal.HomeOf(f.dir).Tokens(dropbox.Lead, "irc")
	if err != nil {
		t.Fatal(err)
	}
	f.tokens = tokens
	for _, name := range []string{dropbox.Lead, "irc"} {
		if err := f.store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	f.start()
	f.daemon.Questions().Handle("test", func(q journal.Question, a journal.QuestionAnswer) (string, error) {
		return "on with " + q.About + ", says " + a.By, nil
	})
	ask := func(key string) *dropbox.Message {
		t.Helper()
		words := []journal.AnswerWord{{Word: "on", Does: "go on"}, {Word: "off", Does: "stop"}}
		if err := f.daemon.Questions().AskPerson(journal.Question{Key: key, Kind: "test", About: key, Subject: "go on with " + key + "?", Words: words}); err != nil {
			t.Fatal(err)
		}
		var q *dropbox.Message
		f.until("a question about "+key, func() bool {
			for _, m := range f.mail(dropbox.Lead) {
				if m.Type == dropbox.Question && strings.Contains(m.Subject, key) {
					q = m
					return true
				}
			}
			return false
		})
		return q
	}
	first := ask("work")
	var shown *dropbox.Message
	f.until("IRC shows it", func() bool {
		for _, m := range f.mail("irc") {
			if m.From == dropbox.Swarm && m.Type == dropbox.Question && strings.Contains(string(m.Body), "Answer with one of these words") {
				shown = m
			}
		}
		return shown != nil
	})
	told := f.answer(f.reply(first, "on"))
	if string(told.Body) != "on with work, says lead\n" || told.Type != dropbox.Status {
		t.Errorf("told %q", told.Body)
	}
	second := ask("sleep")
	id := f.reply(second, "[IRC @mention in #alerts] <ann> off", from("irc"))
	f.until("ann is told", func() bool {
		for _, m := range f.mail("irc") {
			if m.ReplyTo == id {
				return string(m.Body) == "on with sleep, says ann on IRC\n"
			}
		}
		return false
	})
	for _, q := range []*dropbox.Message{first, second} {
		f.until("the question is filed", func() bool {
			found, err := f.store.Find(q.ID)
			return err == nil && found.State == dropbox.Done
		})
	}
}
