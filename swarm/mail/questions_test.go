package mail_test

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// An asking is a daemon that asks a person questions and whose disk may fail.
type asking struct {
	t         *testing.T
	dir       string
	store     *dropbox.Store
	tokens    *journal.Tokens
	service   *mail.Service
	questions *mail.Questions
	handled   []journal.QuestionAnswer
	fail      error        // returned by the handler
	step      func() error // called before each change on disk; if nil, all changes succeed
}

var dayIsSpent = journal.Question{
	Key: "day 2026-11-22", Kind: "budget", About: "day", Subject: "the day has cost $20", Body: "3 agents wait.",
	Words: []journal.AnswerWord{{Word: "more", Does: "raise the cap to $30"}, {Word: "stop", Does: "stop the swarm"}, {Word: "end", Does: "let the tasks end"}},
}

func newAsking(t *testing.T, dir string) *asking {
	t.Helper()
	f := &asking{t: t, dir: dir}
	box := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		t.Fatal(err)
	}
	step := func() error {
		if f.step == nil {
			return nil
		}
		return f.step()
	}
	var err error
	if f.store, err = dropbox.Open(box, dropbox.Options{Step: func(dropbox.Step) error { return step() }}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.store.Close() })
	home := journal.HomeOf(dir).With(durable.Files{Step: func(durable.Step) error { return step() }})
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	if f.tokens, err = journal.OpenTokens(home, dropbox.Lead, dropbox.Swarm, "irc", "coder"); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{dropbox.Lead, "irc"} {
		if err := f.store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	f.service = &mail.Service{Home: home, Store: f.store, Tokens: f.tokens, Secrets: home.Secrets(), Log: slog.New(slog.DiscardHandler)}
	if f.questions, err = mail.OpenQuestions(f.service, func() {}); err != nil {
		t.Fatal(err)
	}
	f.questions.Handle("budget", func(q journal.Question, a journal.QuestionAnswer) (string, error) {
		f.handled = append(f.handled, a)
		return "the cap of the " + q.About + " is $30 now", f.fail
	})
	return f
}

// mailbox makes the mailbox of an agent.
func (f *asking) mailbox(name string) *dropbox.Mailbox {
	f.t.Helper()
	if err := f.store.MakeMailbox(name); err != nil {
		f.t.Fatal(err)
	}
	box, err := f.store.Mailbox(name)
	if err != nil {
		f.t.Fatal(err)
	}
	return box
}

func (f *asking) look() {
	f.t.Helper()
	if err := f.questions.Look(); err != nil {
		f.t.Fatal(err)
	}
}

func (f *asking) ask() {
	f.t.Helper()
	if err := f.questions.AskPerson(dayIsSpent); err != nil {
		f.t.Fatal(err)
	}
	f.look()
}

// in lists the messages of a mailbox in one state.
func (f *asking) in(mailbox string, state dropbox.State) (all []*dropbox.Message) {
	f.t.Helper()
	for found, err := range f.store.All() {
		if err != nil {
			f.t.Fatal(err)
		}
		if found.Mailbox != mailbox || found.State != state {
			continue
		}
		m, err := f.store.Load(found)
		if err != nil {
			f.t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// told returns the daemon's replies to somebody who answered.
func (f *asking) told(to string) (all []string) {
	f.t.Helper()
	for _, m := range f.in(to, dropbox.Waiting) {
		if m.From == dropbox.Swarm && m.Type == dropbox.Status {
			all = append(all, strings.TrimSpace(string(m.Body)))
		}
	}
	return all
}

// question returns the open question in the person's mailbox.
func (f *asking) question() *dropbox.Message {
	f.t.Helper()
	var all []*dropbox.Message
	for _, m := range f.in(dropbox.Lead, dropbox.Waiting) {
		if m.Type == dropbox.Question {
			all = append(all, m)
		}
	}
	if len(all) != 1 {
		f.t.Fatalf("%d questions wait, want 1", len(all))
	}
	return all[0]
}

// answer sends an answer from the given sender, with that sender's proof unless forged is
// set.
func (f *asking) answer(id, from, text string, forged bool) {
	f.t.Helper()
	m := &dropbox.Message{From: from, Type: dropbox.Result, ReplyTo: id, Body: []byte(text + "\n")}
	sign := func(m *dropbox.Message) string { return dropbox.Proof(f.tokens.Of(m.From), m, dropbox.Swarm) }
	if forged {
		sign = nil
	}
	if _, err := f.store.DeliverSigned(dropbox.Swarm, m, sign); err != nil {
		f.t.Fatal(err)
	}
	f.look()
}

// A question may accept a text. Its words count if an answer begins with them, and one other
// word is rejected, because it may be a mistyped one.
func TestAQuestionAcceptsAText(t *testing.T) {
	closed := journal.Question{Words: []journal.AnswerWord{{Word: "resume"}, {Word: "abort"}}}
	open := closed
	open.Text = "it gets it"
	for _, c := range []struct {
		q          journal.Question
		text, word string
		ok         bool
	}{
		{open, "Resume.", "resume", true},
		{open, "abort, please", "abort", true},
		{open, "use another host", "", true},
		{open, "abrot", "abrot", false},
		{open, "stop", "stop", false},
		{open, " \n", "", false},
		{closed, "use another host", "use", false},
	} {
		a, wrong := mail.AnswerTo(c.q, dropbox.Lead, []byte(c.text))
		if a.Word != c.word || (wrong == nil) != c.ok {
			t.Errorf("%q with text %q: %+v, %v; want the word %q, accepted: %t", c.text, c.q.Text, a, wrong, c.word, c.ok)
		}
		if wrong != nil && strings.HasSuffix(wrong.Error(), "; or a text of several words (it gets it)") != (c.q.Text != "") {
			t.Errorf("%q: %v", c.text, wrong)
		}
	}
}

// The text of an answer reaches the agent once, from the person who gave it, with the origin
// on IRC, and in the conversation of the message that the question is about.
func TestTheTextOfAnAnswerReachesTheAgentOnce(t *testing.T) {
	f := newAsking(t, t.TempDir())
	if err := f.store.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	about, err := f.store.Deliver("coder", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Thread: "hosts", Body: []byte("deploy\n")})
	if err != nil {
		t.Fatal(err)
	}
	f.questions.Handle("escalation", func(q journal.Question, a journal.QuestionAnswer) (string, error) {
		f.handled = append(f.handled, a)
		return "done", errors.Join(f.questions.Guide(q.Agent, q.About, a), f.questions.Guide(q.Agent, q.About, a))
	})
	const text = "[IRC #x] <ann> use another host"
	if err := f.questions.AskPerson(journal.Question{Key: "k", Kind: "escalation", Agent: "coder", About: about.ID, Subject: "stuck", Words: []journal.AnswerWord{{Word: "resume"}}, Text: "it gets it"}); err != nil {
		t.Fatal(err)
	}
	f.look()
	q := f.question()
	if !strings.HasSuffix(string(q.Body), "\nOr with a text of several words: it gets it\n") {
		t.Errorf("the question is %s", q.Body)
	}
	f.answer(q.ID, "irc", text, false)
	got := slices.DeleteFunc(f.in("coder", dropbox.Waiting), func(m *dropbox.Message) bool { return m.ID == about.ID })
	if len(got) != 1 {
		t.Fatalf("coder got %d messages, want 1", len(got))
	}
	m := got[0]
	if m.From != "irc" || m.Type != dropbox.Task || m.Priority != dropbox.Urgent || m.Thread != "hosts" || m.Trace != about.ID || string(m.Body) != text+"\n" || !dropbox.Proven(f.tokens.Of("irc"), m, "coder") {
		t.Errorf("coder got %+v\n%s", m, m.Body)
	}
}

func TestThePersonIsAskedOnce(t *testing.T) {
	dir := t.TempDir()
	f := newAsking(t, dir)
	f.ask()
	f.ask()
	q := f.question()
	want := "3 agents wait.\n\nAnswer with one of these words:\n  more: raise the cap to $30\n  stop: stop the swarm\n  end: let the tasks end\n"
	if string(q.Body) != want || q.Subject != "the day has cost $20" || q.From != dropbox.Swarm || !dropbox.Proven(f.tokens.Of(dropbox.Swarm), q, dropbox.Lead) {
		t.Errorf("the question is %+v\n%s", q, q.Body)
	}
	f.answer(q.ID, dropbox.Lead, "More, please", false)
	again := newAsking(t, dir)
	again.ask()
	if n := len(again.in(dropbox.Lead, dropbox.Done)); n != 1 {
		t.Errorf("%d questions are filed, want 1", n)
	}
	if all := again.in(dropbox.Lead, dropbox.Waiting); len(all) != 1 || all[0].Type != dropbox.Status {
		t.Errorf("the person has %d messages, want the outcome of the answer", len(all))
	}
}

func TestAnAnswerToTheDaemon(t *testing.T) {
	for text, c := range map[string]struct {
		from   string
		forged bool
		fail   error
		word   string // the word that the handler gets, or "" if it is not called
		rest   string
		by     string
		told   string
		open   bool // the question is still open afterwards
	}{
		"more":                            {from: dropbox.Lead, word: "more", by: "lead", told: "the cap of the day is $30 now"},
		"**More**, 10 dollars":            {from: dropbox.Lead, word: "more", rest: "10 dollars", by: "lead", told: "the cap of the day is $30 now"},
		"[IRC @mention in #x] <ann> stop": {from: "irc", word: "stop", by: "ann on IRC", told: "the cap of the day is $30 now"},
		"mroe":                            {from: dropbox.Lead, told: `"mroe" is not an answer here. Did you mean more? The words: more (raise the cap to $30), stop (stop the swarm), end (let the tasks end)`, open: true},
		"!?":                              {from: dropbox.Lead, told: "Empty text is not an answer here. The words: more (raise the cap to $30), stop (stop the swarm), end (let the tasks end)", open: true},
		"end":                             {from: dropbox.Lead, fail: errors.New("everything is halted"), word: "end", by: "lead", told: "That was not done: everything is halted", open: true},
		"more (of an agent)":              {from: "coder", open: true},
		"more (without a proof)":          {from: dropbox.Lead, forged: true, open: true},
	} {
		t.Run(text, func(t *testing.T) {
			f := newAsking(t, t.TempDir())
			f.fail = c.fail
			f.ask()
			q := f.question()
			f.answer(q.ID, c.from, text, c.forged)
			var words []string
			for _, a := range f.handled {
				words = append(words, a.Word+"|"+a.Rest+"|"+a.By)
			}
			var want []string
			if c.word != "" {
				want = []string{c.word + "|" + c.rest + "|" + c.by}
			}
			if !slices.Equal(words, want) {
				t.Errorf("handled %q, want %q", words, want)
			}
			to := c.from
			if to == "coder" {
				to = dropbox.Lead
			}
			want = nil
			if c.told != "" {
				want = []string{c.told}
			}
			if got := f.told(to); !slices.Equal(got, want) {
				t.Errorf("told %q, want %q", got, want)
			}
			state := dropbox.Done
			if c.told == "" {
				state = dropbox.Refused
			}
			if n := len(f.in(dropbox.Swarm, state)); n != 1 {
				t.Errorf("%d answers are %s, want 1", n, state)
			}
			if found, err := f.store.Find(q.ID); err != nil || (found.State == dropbox.Waiting) != c.open {
				t.Errorf("the question is %s, %v", found.State, err)
			}
		})
	}
}

func TestAnAnswerThatComesTooLate(t *testing.T) {
	f := newAsking(t, t.TempDir())
	f.ask()
	q := f.question()
	f.answer(q.ID, "irc", "[IRC @mention in #x] <ann> stop", false)
	f.answer(q.ID, dropbox.Lead, "more", false)
	f.answer("aaaaaaaaaa", dropbox.Lead, "more", false)
	want := []string{
		"ann on IRC has already answered that, with stop: the cap of the day is $30 now",
		"This does not answer a question from the daemon. Its questions: claude-swarm inbox",
	}
	if got := f.told(dropbox.Lead); !slices.Equal(got, want) || len(f.handled) != 1 {
		t.Errorf("told %q, want %q; handled %d answers, want 1", got, want, len(f.handled))
	}
}

func TestAQuestionIsSettledWithoutAnAnswer(t *testing.T) {
	f := newAsking(t, t.TempDir())
	f.ask()
	q := f.question()
	for range 2 {
		if err := f.questions.Settle(dayIsSpent.Key, "the day is over"); err != nil {
			t.Fatal(err)
		}
		f.look()
	}
	if n := len(f.in(dropbox.Lead, dropbox.Done)); n != 1 {
		t.Errorf("%d questions are filed, want 1", n)
	}
	f.answer(q.ID, dropbox.Lead, "more", false)
	if got := f.told(dropbox.Lead); len(got) != 1 || got[0] != "That no longer needs an answer: the day is over" || len(f.handled) > 0 {
		t.Errorf("told %q, handled %d", got, len(f.handled))
	}
}

// An agent cannot suppress the question with a message whose key it guesses.
func TestNobodyGuessesTheKeyOfAQuestion(t *testing.T) {
	f := newAsking(t, t.TempDir())
	for _, key := range []string{"question:budget:", "question:budget:" + dayIsSpent.Key} {
		m := &dropbox.Message{From: "coder", Type: dropbox.Note, Key: key, Body: []byte("nothing to see")}
		if _, err := f.store.Deliver(dropbox.Lead, m); err != nil {
			t.Fatal(err)
		}
	}
	f.ask()
	if q := f.question(); q.From != dropbox.Swarm {
		t.Errorf("the question is from %s", q.From)
	}
}

// A daemon can crash at any change on disk. After the next daemon has run, there is still
// exactly one question and one outcome. The handler may be called again with the same
// answer.
func TestADaemonThatDiesWhileItAsks(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	errDead := errors.New("the daemon is dead")
	run := func(f *asking) error {
		err := f.questions.AskPerson(dayIsSpent)
		if err == nil {
			err = f.questions.Look()
		}
		if err != nil {
			return err
		}
		all := f.in(dropbox.Lead, dropbox.Waiting)
		step := f.step
		f.step = nil // the person's program uses another disk, which does not fail
		if len(all) == 1 && len(f.in(dropbox.Swarm, dropbox.Waiting)) == 0 {
			m := &dropbox.Message{From: dropbox.Lead, Type: dropbox.Result, ReplyTo: all[0].ID, Key: "the answer", Body: []byte("more\n")}
			if _, err := f.store.DeliverSigned(dropbox.Swarm, m, func(m *dropbox.Message) string { return dropbox.Proof(f.tokens.Of(m.From), m, dropbox.Swarm) }); err != nil {
				f.t.Fatal(err)
			}
		}
		f.step = step
		return f.questions.Look()
	}
	steps := 0
	probe := newAsking(t, t.TempDir())
	probe.step = func() error { steps++; return nil }
	if err := run(probe); err != nil || steps < 20 {
		t.Fatalf("%d changes, %v", steps, err)
	}
	for n := 1; n <= steps; n++ {
		t.Run(fmt.Sprintf("%02d", n), func(t *testing.T) {
			dir := t.TempDir()
			f, seen := newAsking(t, dir), 0
			f.step = func() error {
				if seen++; seen >= n {
					return errDead
				}
				return nil
			}
			if err := run(f); !errors.Is(err, errDead) {
				t.Fatalf("run = %v, want %v", err, errDead)
			}
			next := newAsking(t, dir)
			for range 2 {
				if err := run(next); err != nil {
					t.Fatal(err)
				}
			}
			ids := map[string]bool{}
			for _, a := range append(f.handled, next.handled...) {
				ids[a.ID+a.Word] = true
			}
			if len(ids) != 1 {
				t.Errorf("the handlers got the answers %v, want one", ids)
			}
			if got := next.told(dropbox.Lead); !slices.Equal(got, []string{"the cap of the day is $30 now"}) {
				t.Errorf("told %q", got)
			}
			if asked, answers := len(next.in(dropbox.Lead, dropbox.Done)), len(next.in(dropbox.Swarm, dropbox.Done)); asked != 1 || answers != 1 {
				t.Errorf("%d questions and %d answers are filed, want 1 and 1", asked, answers)
			}
		})
	}
}
