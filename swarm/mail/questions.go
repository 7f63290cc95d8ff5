package mail

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// Questions manages the daemon's questions to the person. A question is sent only once
// per key, as a message of type question from swarm. The answer goes to swarm's mailbox.
//
//	AskPerson: the question is stored
//	Look:      the question -> lead/new --the person answers--> swarm/new
//	Look:      the answer is stored -> the handler -> the outcome is stored
//	           -> the answerer is told -> lead/done, swarm/done
//
// Each step can be repeated, and Look repeats the steps after a crash, so a handler may be
// called again with the same answer. Only the person may answer. On IRC, the bridge
// determines who that is.
//
// Questions is safe for concurrent use, but only one goroutine calls Look.
type Questions struct {
	mail *Service
	book *journal.Questions
	wake func() // causes the daemon to call Look soon

	mu       sync.Mutex
	handlers map[string]AnswerHandler // by kind

	// seen contains the messages in the person's mailbox at the last call of Look, by their
	// ids: nil for a message that is not an agent's question. Only Look uses it.
	seen map[string]*dropbox.Message
}

// An AnswerHandler carries out the answer to a question, and returns the outcome on one
// line. If it returns an error, the daemon sends the error to the person, and the
// question stays open. If the daemon was interrupted, a handler may be called again with
// the same answer, which then has the same ID. A handler may ask and settle questions.
type AnswerHandler func(q journal.Question, a journal.QuestionAnswer) (happened string, err error)

// OpenQuestions reads the questions of an earlier daemon. wake must cause the daemon to
// call [Questions.Look] soon.
func OpenQuestions(s *Service, wake func()) (*Questions, error) {
	book, err := journal.OpenQuestions(s.Home)
	if err != nil {
		return nil, err
	}
	return &Questions{mail: s, book: book, wake: wake, handlers: map[string]AnswerHandler{}}, nil
}

// Restore writes the file of the questions if another program has deleted it.
func (q *Questions) Restore() error { return q.book.Restore() }

// Handle sets the handler for a kind of question. Handle must be called before the first
// call to Look, because an earlier daemon may have left an answer.
func (q *Questions) Handle(kind string, h AnswerHandler) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.handlers[kind] = h
}

func (q *Questions) handler(kind string) AnswerHandler {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.handlers[kind]
}

// AskPerson asks the person a question, unless a question with the same key has already
// been asked, even if that one has been settled. The caller sets Key, Kind, Subject and
// Words, and may set Agent, About, Body and Notice. If AskPerson returns nil, the
// question is stored, and Look sends it as soon as the person's mailbox is writable.
func (q *Questions) AskPerson(n journal.Question) error {
	if q.handler(n.Kind) == nil || n.Key == "" || len(n.Words) == 0 {
		return fmt.Errorf("question %q of the kind %q: no handler, no key or no words", n.Key, n.Kind)
	}
	fresh, err := q.book.Add(n)
	if err != nil || !fresh {
		return err
	}
	q.mail.Log.Info("a question for the person was stored", "key", n.Key, "subject", n.Subject)
	q.wake()
	return nil
}

// Of returns the question with the given key, or false if it was never asked.
func (q *Questions) Of(key string) (journal.Question, bool) { return q.book.Of(key) }

// Unanswered returns the questions of a kind that are neither answered nor settled.
func (q *Questions) Unanswered(kind string) []journal.Question {
	return slices.DeleteFunc(q.book.Open(), func(n journal.Question) bool { return n.Kind != kind || n.Answer != nil })
}

// Settle ends a question without an answer, and removes it from the person's mailbox.
// Settle does nothing if the question is already settled or was never asked.
func (q *Questions) Settle(key, why string) error {
	n, known := q.book.Of(key)
	if !known || !n.Settled.IsZero() {
		return nil
	}
	_, err := q.book.Change(key, func(n *journal.Question) {
		if n.Settled.IsZero() {
			n.Settled, n.Outcome = time.Now().UTC(), why
		}
	})
	q.wake()
	return err
}

// Look sends the questions that have not been sent, handles the answers, and removes
// settled questions, and agents' questions for whose answer nobody waits any more, from
// the person's mailbox. The error names the step that must be
// retried.
func (q *Questions) Look() error {
	var failed []error
	for _, n := range q.book.Open() {
		if n.ID == "" {
			failed = append(failed, q.send(n))
		}
	}
	for _, n := range q.book.Open() {
		if n.Answer != nil { // an earlier daemon was interrupted
			_, err := q.handle(n)
			failed = append(failed, err)
		}
	}
	return errors.Join(append(failed, q.answers(), q.fileSettled(), q.fileStale())...)
}

// send delivers a question.
func (q *Questions) send(n journal.Question) error {
	if err := q.mail.Store.MakeMailbox(dropbox.Swarm); err != nil { // the answer goes to this mailbox
		return err
	}
	m := &dropbox.Message{
		From: dropbox.Swarm, To: []string{dropbox.Lead}, Type: dropbox.Question, Subject: screen.Short(n.Subject, 200),
		Key: n.Delivery(), Priority: dropbox.Normal, Body: []byte(questionText(n)),
	}
	d, err := q.mail.Deliver(dropbox.Swarm, dropbox.Lead, m)
	if err != nil {
		return fmt.Errorf("the person has not been asked yet (%s): %w", n.Subject, err)
	}
	_, err = q.book.Change(n.Key, func(n *journal.Question) { n.ID = d.ID })
	return err
}

// NoticeOf returns the notice of the question that a message from swarm asks, or nil if
// the question has no notice.
func (q *Questions) NoticeOf(m *dropbox.Message) *journal.Notice {
	for _, n := range q.book.Open() {
		if n.Delivery() != m.Key {
			continue
		}
		if n.Notice == nil {
			return nil
		}
		told := *n.Notice
		told.Next = cmp.Or(told.Next, answerHint(m.ID, n.Words))
		return &told
	}
	return nil
}

// answerHint says how to answer a question, for example: reply k7f3q9m2xd more, stop or
// end.
func answerHint(id string, words []journal.AnswerWord) string {
	hint := "reply " + id
	for i, w := range words {
		switch {
		case i == 0:
			hint += " " + w.Word
		case i == len(words)-1:
			hint += " or " + w.Word
		default:
			hint += ", " + w.Word
		}
	}
	return "To answer: " + hint
}

// questionText returns the body of a question, which ends with the possible answers.
func questionText(n journal.Question) string {
	var b strings.Builder
	if body := strings.TrimSpace(n.Body); body != "" {
		b.WriteString(screen.Truncate(body, notice.MaxBody) + "\n\n")
	}
	b.WriteString("Answer with one of these words:\n")
	for _, w := range n.Words {
		fmt.Fprintf(&b, "  %s: %s\n", w.Word, w.Does)
	}
	if n.Text != "" {
		fmt.Fprintf(&b, "Or with a text of several words: %s\n", n.Text)
	}
	return b.String()
}

// answers handles the messages in swarm's mailbox.
func (q *Questions) answers() error {
	box, err := q.mail.Store.Mailbox(dropbox.Swarm)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return nil // no question has ever been asked
	} else if err != nil {
		return err
	}
	fresh, err := box.Peek()
	left, err2 := box.Claimed() // an earlier daemon was interrupted while it filed these messages
	if err := errors.Join(err, err2); err != nil {
		return err
	}
	var failed []error
	for _, e := range append(left, fresh...) {
		m, err := box.Read(e)
		switch {
		case errors.Is(err, dropbox.ErrGone):
			continue
		case errors.Is(err, dropbox.ErrInvalid):
			err = box.Refuse(e, err.Error())
		case err == nil:
			err = q.answered(box, e, m)
		}
		if err != nil && !errors.Is(err, dropbox.ErrGone) {
			failed = append(failed, fmt.Errorf("the answer %s could not be handled: %w", e.ID, err))
		}
	}
	return errors.Join(failed...)
}

// answered handles one message in swarm's mailbox, and files it.
func (q *Questions) answered(box *dropbox.Mailbox, e dropbox.Entry, m *dropbox.Message) error {
	if !q.mayAnswer(m) {
		q.mail.Log.Warn("an answer was refused: nothing proves that the person sent it", keyMessage, m.ID, "from", m.From)
		return box.Refuse(e, "only a person may answer the daemon, and nothing proves that a person sent this")
	}
	said, err := q.handleMessage(m)
	if err != nil {
		return err
	}
	if err := q.tell(m, said); err != nil {
		return err
	}
	return box.File(e)
}

// mayAnswer reports whether a message has a valid proof that it is from the person, or
// from somebody on IRC whom the bridge allows to answer.
func (q *Questions) mayAnswer(m *dropbox.Message) bool {
	token := q.mail.Tokens.Of(m.From)
	return (m.From == dropbox.Lead || dropbox.IsBridge(m.From)) && token != "" && dropbox.Proven(token, m, dropbox.Swarm)
}

// handleMessage carries out the answer in a person's message, and returns the reply to that
// person. If it returns an error, the caller must retry.
func (q *Questions) handleMessage(m *dropbox.Message) (said string, err error) {
	n, known := q.book.Asking(m.ReplyTo)
	if !known {
		return "This does not answer a question from the daemon. Its questions: claude-swarm inbox", nil
	}
	a, wrong := AnswerTo(n, m.From, m.Body)
	a.ID = m.ID
	switch {
	case n.Answer != nil && n.Answer.ID == m.ID && !n.Settled.IsZero():
		return n.Outcome, nil // an earlier daemon was interrupted before it told the person
	case !n.Settled.IsZero():
		return settledText(n), nil
	case wrong != nil:
		return wrong.Error(), nil
	}
	if n, err = q.book.Change(n.Key, func(n *journal.Question) { n.Answer = &a }); err != nil {
		return "", err
	}
	return q.handle(n)
}

// handle passes an answer to its handler, and records the outcome.
func (q *Questions) handle(n journal.Question) (said string, err error) {
	h := q.handler(n.Kind)
	if h == nil {
		h = func(journal.Question, journal.QuestionAnswer) (string, error) {
			return "", fmt.Errorf("another version of the daemon asked this question (%s)", n.Kind)
		}
	}
	happened, err := h(n, *n.Answer)
	if err != nil {
		said := "That was not done: " + err.Error()
		_, err := q.book.Change(n.Key, func(n *journal.Question) { n.Answer = nil })
		return said, err
	}
	q.mail.Log.Info("a question from the daemon was answered", "key", n.Key, "word", n.Answer.Word, "by", n.Answer.By, "outcome", happened)
	_, err = q.book.Change(n.Key, func(n *journal.Question) { // the handler may have settled the question
		n.Settled, n.Outcome = time.Now().UTC(), happened
	})
	return happened, err
}

// settledText returns the reply to an answer that arrives too late.
func settledText(n journal.Question) string {
	if n.Answer == nil {
		return "That no longer needs an answer: " + n.Outcome
	}
	return fmt.Sprintf("%s has already answered that, with %s: %s", n.Answer.By, cmp.Or(n.Answer.Word, "a text"), n.Outcome)
}

// tell sends the outcome of an answer to the person, once.
func (q *Questions) tell(m *dropbox.Message, said string) error {
	note := &dropbox.Message{
		From: dropbox.Swarm, To: []string{m.From}, Type: dropbox.Status, Subject: answerSubject(m), Thread: m.Thread, Trace: m.Trace,
		ReplyTo: m.ID, Key: "answered:" + m.ID, Priority: dropbox.Normal, Body: []byte(strings.TrimSpace(said) + "\n"),
	}
	_, err := q.mail.Deliver(dropbox.Swarm, m.From, note)
	if dropbox.IsUndeliverable(err) {
		q.mail.Log.Warn("the outcome of an answer was not sent to the person", keyMessage, m.ID, keyErr, err)
		return nil
	}
	return err
}

// fileSettled files settled questions that are still in the person's mailbox.
func (q *Questions) fileSettled() error {
	settled := q.book.Settled()
	if len(settled) == 0 {
		return nil
	}
	return fileFromLead(q.mail.Store, func(id string) bool { return settled[id] })
}

// fileFromLead files the messages in the person's mailbox, read or unread, whose ids
// the function ids accepts.
func fileFromLead(store *dropbox.Store, ids func(id string) bool) error {
	box, err := store.Mailbox(dropbox.Lead)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return nil
	} else if err != nil {
		return err
	}
	fresh, err := box.Peek()
	read, err2 := box.Claimed()
	failed := []error{err, err2}
	for _, e := range append(fresh, read...) {
		if !ids(e.ID) {
			continue
		}
		if err := box.File(e); !errors.Is(err, dropbox.ErrGone) {
			failed = append(failed, err)
		}
	}
	return errors.Join(failed...)
}

// AnswerTo parses the answer to a question, without the id of its message. If the answer does
// not begin with one of the question's words, it is a text, which needs at least two words, so
// that a mistyped word is not taken for one. wrong is not nil if the question does not accept
// the answer.
func AnswerTo(q journal.Question, from string, body []byte) (a journal.QuestionAnswer, wrong *WordError) {
	a = ReadAnswer(from, body)
	switch {
	case slices.ContainsFunc(q.Words, func(w journal.AnswerWord) bool { return w.Word == a.Word }):
		return a, nil
	case q.Text == "" || a.Rest == "":
		return a, &WordError{Word: a.Word, Words: q.Words, Text: q.Text}
	}
	return journal.QuestionAnswer{By: a.By}, nil
}

// Guide delivers the text of an answer to an agent, as an urgent task from the person who
// answered, in the conversation of the message about. It does so only once.
func (q *Questions) Guide(agent, about string, a journal.QuestionAnswer) error {
	said, err := q.mail.Store.Message(a.ID)
	if err != nil {
		return fmt.Errorf("the text of the answer cannot be read: %w", err)
	}
	m := &dropbox.Message{
		From: said.From, To: []string{agent}, Type: dropbox.Task, Priority: dropbox.Urgent, Key: "guide:" + a.ID, Extra: said.Extra, Body: said.Body,
	}
	if of, err := q.mail.Store.Message(about); err == nil { // the message may be gone
		m.Thread, m.Trace = cmp.Or(of.Thread, of.ID), cmp.Or(of.Trace, of.ID)
	}
	_, err = q.mail.Deliver(said.From, agent, m)
	return err
}

// ReadAnswer returns who gave an answer, its first word in lower case and without
// punctuation, and the text after that word. In a message from a bridge, the person's
// name precedes the text.
func ReadAnswer(from string, body []byte) journal.QuestionAnswer {
	text, by := strings.TrimSpace(string(body[:min(len(body), 4<<10)])), from
	if dropbox.IsBridge(from) {
		if who, what, ok := dropbox.Heard(from, text); ok {
			text, by = what, screen.Short(who, 60)+" on "+strings.ToUpper(from)
		}
	}
	fields := strings.Fields(text)
	if len(fields) == 0 {
		return journal.QuestionAnswer{By: by}
	}
	mark := func(r rune) bool { return unicode.IsPunct(r) || unicode.IsSymbol(r) }
	return journal.QuestionAnswer{Word: strings.ToLower(strings.TrimFunc(fields[0], mark)), Rest: screen.Short(strings.Join(fields[1:], " "), 1000), By: by}
}

// A WordError reports that a word is not one of the answers to a question.
type WordError struct {
	Word  string
	Words []journal.AnswerWord
	Text  string // as [journal.Question.Text]
}

func (e *WordError) Error() string {
	var list []string
	for _, w := range e.Words {
		list = append(list, fmt.Sprintf("%s (%s)", w.Word, w.Does))
	}
	said := "Empty text is not an answer here."
	if e.Word != "" {
		said = fmt.Sprintf("%q is not an answer here.", screen.Short(e.Word, 40))
	}
	if near := e.near(); len(near) > 0 {
		said += " Did you mean " + near[0] + "?"
	}
	said += " The words: " + strings.Join(list, ", ")
	if e.Text != "" {
		said += "; or a text of several words (" + e.Text + ")"
	}
	return said
}

// Nearest returns the word that the person probably meant, or the first word if no word
// is similar.
func (e *WordError) Nearest() string { return append(e.near(), e.Words[0].Word)[0] }

func (e *WordError) near() []string {
	var words []string
	for _, w := range e.Words {
		words = append(words, w.Word)
	}
	return dropbox.Nearest(e.Word, words)
}
