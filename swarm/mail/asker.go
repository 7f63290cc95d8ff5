package mail

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Questions from the daemon. When an agent's client asks for permission to use a tool,
// and the agent's rules require the lead to be asked, the daemon sends the question in
// the agent's name, waits for the reply during the turn, and removes the reply from the
// agent's mailbox.
//
//	lead/new --reply--> agent/new --the daemon files it--> agent/done
//	   \--turn over, no answer in time--> lead/done
//
// The turn's .asks file lists the questions that are waiting for a reply. Replies to
// other permission questions are refused.

// An Asker asks the lead in the name of one agent, and waits for answers. It is safe for
// concurrent use.
type Asker struct {
	*Service
	Agent string
	Box   *dropbox.Mailbox // of the agent

	mu   sync.Mutex
	open map[string]*awaited // waiting questions, by id
	seen map[string]bool     // files that do not answer any question in open
}

// awaited is a question that is waiting for its answer.
type awaited struct {
	to     string
	wake   chan struct{}         // wakes the waiting goroutine
	answer chan *dropbox.Message // has room for one answer
}

// A Question asks whether a client may use a tool.
type Question struct {
	Turn     *journal.Record
	To       string // the recipient: the person, or the lead agent
	Number   int    // the question's number in the turn
	What     string // the tool call, on one line
	Text     string
	Patience time.Duration
	// Over returns the reason why the answer is no longer needed, or nil while it is
	// needed.
	Over func() error
}

// ErrNoAnswer means that nobody answered in time.
var ErrNoAnswer = errors.New("no answer")

// permissionKey is the key prefix of permission questions, and permissionSubject is the
// prefix of their subjects.
const (
	permissionKey     = "permission:"
	permissionSubject = "permission: "
)

// The values of answerers: who may answer a question.
const (
	ByHuman = "human" // a person
	ByAny   = "any"   // a person or an agent
	ByFirst = "first" // any of several recipients; only the first answer counts
)

// QuestionKey returns a key for a question. The key says who may answer. It also marks
// the question as one that is over after the first answer.
func QuestionKey(answerers string) string { return answerers + ":" + dropbox.NewID() }

// hasQuestionKey reports whether a message is a question whose key names one of the given
// answerers.
func hasQuestionKey(m *dropbox.Message, answerers ...string) bool {
	return m.Type == dropbox.Question && slices.ContainsFunc(answerers, func(by string) bool { return strings.HasPrefix(m.Key, by+":") })
}

// TakesAgents reports whether an agent may answer a question in the mailbox of a bridge.
func TakesAgents(m *dropbox.Message) bool { return hasQuestionKey(m, ByAny) }

// WhyOver returns the reason why a question no longer needs an answer: its turn is no
// longer waiting for the permission, or somebody who may answer has already done so. It
// returns "" for every other message.
func WhyOver(home journal.Home, m *dropbox.Message) string {
	switch {
	case AsksPermission(m):
		return home.Asks(m.Turn).WhyOver(m.ID)
	case m.Turn != "" && hasQuestionKey(m, ByHuman, ByAny, ByFirst):
		return home.Asks(m.Turn).Settled(m.ID)
	}
	return ""
}

// AsksPermission reports whether a message is a question that an Asker sends.
func AsksPermission(m *dropbox.Message) bool {
	return m.Type == dropbox.Question && strings.HasPrefix(m.Key, permissionKey)
}

// lookAgain is the interval at which Ask checks for the reply even if nothing wakes it,
// because a file system can drop events.
const lookAgain = 2 * time.Second

// Ask sends the question, waits for the reply, and files the reply. The error is
// [ErrNoAnswer], the error of q.Over, the cause of ctx, or the reason why the question
// could not be sent. When Ask returns, the question is no longer open.
func (a *Asker) Ask(ctx context.Context, q Question) (*dropbox.Message, error) {
	id, err := a.send(&q)
	if err != nil {
		return nil, fmt.Errorf("%s could not be asked: %w", q.To, err)
	}
	w := a.await(id, q.To)
	reply, err := a.wait(ctx, w, q)
	a.forget(id)
	if errors.Is(err, ErrNoAnswer) && len(w.answer) > 0 { // the reply arrived at the last moment and has already been filed
		reply, err = <-w.answer, nil
	}
	why := ""
	switch {
	case reply != nil:
		why = reply.From + " has already answered"
	case errors.Is(err, ErrNoAnswer):
		why = NobodyAnswered + q.Patience.String()
	}
	a.Note(a.Home.Asks(q.Turn.Turn).End(id, why))
	if reply == nil {
		a.takeBack(q.To, id)
	}
	return reply, err
}

// send delivers the question, and may change the question's recipient.
func (a *Asker) send(q *Question) (id string, err error) {
	t := q.Turn
	if q.To != dropbox.Lead && a.Store.TooManyHops(t.Hops+1) {
		q.To = dropbox.Lead // after too many hops, only a person may be asked
	}
	m := &dropbox.Message{
		From: a.Agent, To: []string{q.To}, Type: dropbox.Question, Subject: permissionSubject + q.What,
		Thread: t.Thread, Trace: t.Trace, Turn: t.Turn, Hops: t.Hops, Path: t.Path,
		Key: fmt.Sprintf("%s%s:%d", permissionKey, t.Turn, q.Number), Priority: dropbox.Normal, Body: []byte(q.Text),
	}
	if q.To != dropbox.Lead {
		m.Hops, m.Path = t.Hops+1, append(slices.Clone(t.Path), a.Agent)
	}
	now := time.Now().UTC()
	var unnoted error
	d, err := a.deliverNoted(a.Agent, q.To, m, func(noted string) { // recorded first, because otherwise the agent's goroutine would treat the reply as overdue
		id = noted
		unnoted = a.Home.Asks(t.Turn).Begin(journal.Asked{ID: id, Of: q.To, Since: now, Until: now.Add(q.Patience), Call: q.What})
	})
	if err != nil && id != "" && unnoted == nil {
		a.Note(a.Home.Asks(t.Turn).End(id, ""))
	} else if err == nil && unnoted != nil {
		a.takeBack(q.To, d.ID)
		err = unnoted
	}
	return d.ID, err
}

// wait waits for the answer to a question.
func (a *Asker) wait(ctx context.Context, w *awaited, q Question) (*dropbox.Message, error) {
	late := time.NewTimer(q.Patience)
	defer late.Stop()
	again := time.NewTicker(lookAgain)
	defer again.Stop()
	for {
		a.look()
		if err := q.Over(); err != nil && len(w.answer) == 0 {
			return nil, err
		}
		select {
		case m := <-w.answer:
			return m, nil
		case <-late.C:
			return nil, ErrNoAnswer
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-w.wake:
		case <-again.C:
		}
	}
}

// Wake makes the waiting calls to Ask check whether an answer has arrived and whether
// their questions are over.
func (a *Asker) Wake() {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, w := range a.open {
		select {
		case w.wake <- struct{}{}:
		default: // a wake is already pending
		}
	}
}

func (a *Asker) await(id, to string) *awaited {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.open == nil {
		a.open = map[string]*awaited{}
	}
	w := &awaited{to: to, wake: make(chan struct{}, 1), answer: make(chan *dropbox.Message, 1)}
	a.open[id] = w
	a.seen = map[string]bool{} // the answer may already have arrived
	return w
}

func (a *Asker) forget(id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.open, id)
	if len(a.open) == 0 {
		a.seen = nil
	}
}

// Answers reports whether a message replies to an open question.
func (a *Asker) Answers(m *dropbox.Message) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.open[m.ReplyTo] != nil
}

// look removes the answers to open questions from the agent's mailbox, and passes them to
// the waiting goroutines.
func (a *Asker) look() {
	a.mu.Lock()
	defer a.mu.Unlock()
	entries, err := a.Box.Peek()
	if err != nil {
		return // the agent's goroutine reports the error
	}
	for _, e := range entries {
		if a.seen[e.Base()] {
			continue
		}
		m, err := a.Box.Read(e)
		if errors.Is(err, dropbox.ErrGone) {
			continue
		}
		a.seen[e.Base()] = true
		if err != nil {
			continue
		}
		w := a.open[m.ReplyTo]
		if w == nil || !a.mayAnswer(m, w.to) {
			continue
		}
		if err := a.Box.File(e); err != nil && !errors.Is(err, dropbox.ErrGone) {
			delete(a.seen, e.Base())
			a.Log.Warn("answer could not be filed", keyAgent, a.Agent, keyMessage, m.ID, keyErr, err)
			continue
		}
		select {
		case w.answer <- m:
		default: // there is already an answer
		}
	}
}

// mayAnswer calls [MayAnswer] for the agent's mailbox.
func (a *Asker) mayAnswer(m *dropbox.Message, asked string) bool {
	return MayAnswer(m, asked, a.Agent, a.Tokens.Of)
}

// MayAnswer reports whether a message in a mailbox has a valid proof from a sender who
// may answer a question that was sent to the mailbox named asked. These senders are the
// owner of that mailbox, the person (on IRC the bridge determines who may answer), and
// the daemon, which answers that there will be no answer. token returns the secret of a
// sender.
func MayAnswer(m *dropbox.Message, asked, mailbox string, token func(name string) string) bool {
	if m.From != asked && m.From != dropbox.Lead && m.From != dropbox.Swarm && !dropbox.IsBridge(m.From) {
		return false
	}
	return dropbox.Proven(token(m.From), m, mailbox)
}

// takeBack withdraws a question by filing it in the person's mailbox. A question to an
// agent moves to refused/ when that agent claims it.
func (a *Asker) takeBack(to, id string) {
	if to != dropbox.Lead {
		return
	}
	if err := fileFromLead(a.Store, func(of string) bool { return of == id }); err != nil {
		a.Log.Warn("question was not taken back", keyAgent, a.Agent, keyMessage, id, keyErr, err)
	}
}

// TakeBackLeft withdraws a turn's permission questions that an earlier daemon left open.
func (a *Asker) TakeBackLeft(turn string) {
	for _, q := range a.Home.Asks(turn).Open() {
		if q.Call != "" {
			a.Note(a.Home.Asks(turn).End(q.ID, ""))
			a.takeBack(q.Of, q.ID)
		}
	}
}

// overdue returns the reason why no turn needs a message: it is a question that no longer
// needs an answer, or it answers a permission question that no turn is waiting on. It
// returns "" for every other message.
func (s *Service) overdue(m *dropbox.Message) (why string, err error) {
	if why := WhyOver(s.Home, m); why != "" {
		return why, nil
	}
	asked := m
	if !AsksPermission(m) {
		// The subject shows, without a search of all mailboxes, that the message does not
		// answer a permission question.
		if m.ReplyTo == "" || !strings.HasPrefix(m.Subject, "Re: "+permissionSubject) {
			return "", nil
		}
		if asked, err = s.Store.Message(m.ReplyTo); errors.Is(err, dropbox.ErrNotFound) {
			return "", nil
		} else if err != nil {
			return "", err
		}
		if !AsksPermission(asked) {
			return "", nil
		}
	}
	return s.Home.Asks(asked.Turn).WhyOver(asked.ID), nil
}
