package journal

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Question is a question from the daemon to a person. A settled question stays in the
// file for a while, so that the same question is not asked twice.
type Question struct {
	Key   string       `json:"key"`             // a question is asked only once per key
	Kind  string       `json:"kind"`            // names the handler of the answer: budget or escalation
	Agent string       `json:"agent,omitempty"` // the agent that it is about, or ""
	About string       `json:"about,omitempty"` // the message, trace or scope that it is about
	Words []AnswerWord `json:"words"`           // the possible answers
	// Text says what happens to an answer of several words of which the first is none of
	// Words; "" means that such an answer is rejected.
	Text  string    `json:"text,omitempty"`
	Asked time.Time `json:"asked"`

	Subject string `json:"subject"`
	Body    string `json:"body,omitempty"`
	// Notice is the part of the question that webhooks and IRC show. If its Next is
	// empty, they show how to answer. Notice is nil if another event contains the notice.
	Notice *Notice `json:"notice,omitempty"`

	// Secret is part of the key of the message that asks the question. An agent that knew
	// this key could suppress the question.
	Secret string `json:"secret"`
	ID     string `json:"id,omitempty"` // of the message that asks; "" until it is delivered

	Answer  *QuestionAnswer `json:"answer,omitempty"`  // the answer that is being handled, or that settled the question
	Settled time.Time       `json:"settled,omitzero"`  // when it was settled; after that, nobody may answer
	Outcome string          `json:"outcome,omitempty"` // the outcome of the answer, or the reason why there is no answer
}

// An AnswerWord is one of the answers to a question.
type AnswerWord struct {
	Word string `json:"word"` // lower case
	Does string `json:"does"` // such as "raise the cap of the day to $30"
}

// A QuestionAnswer is a person's answer.
type QuestionAnswer struct {
	ID   string `json:"id"`             // of the answering message; it stays the same if the answer is handled again
	Word string `json:"word"`           // one of the question's answer words, or "" for an answer that is a text
	Rest string `json:"rest,omitempty"` // the text after Word, on one line
	By   string `json:"by"`             // "lead", or "ann on IRC"
}

// Delivery returns the key of the message that asks the question.
func (q *Question) Delivery() string { return "question:" + q.Kind + ":" + q.Secret }

// Limits on the number and the age of the settled questions in the file.
const (
	keptQuestions    = 500
	keptQuestionsFor = 90 * 24 * time.Hour
)

// Questions stores the daemon's questions to people durably in questions.json. It is safe
// for concurrent use.
type Questions struct {
	doc *durable.Doc[questionsFile]
}

type questionsFile struct {
	V         durable.Version1    `json:"v"`
	Questions map[string]Question `json:"questions"` // by their keys
}

// OpenQuestions reads the questions. If the file is damaged, OpenQuestions sets it aside,
// so the same questions may be asked again.
func OpenQuestions(home Home) (*Questions, error) {
	doc, err := durable.OpenDoc[questionsFile](home.files, questionsIn(home), durable.DocOptions{})
	if err := durable.SetAside(err); err != nil {
		return nil, fmt.Errorf("read the daemon's questions: %w", err)
	}
	return &Questions{doc}, nil
}

func questionsIn(home Home) string { return filepath.Join(home.dir, "questions.json") }

// QuestionOf reads the question that a message asks. It returns nil if the message does
// not ask a known question.
func QuestionOf(home Home, id string) (*Question, error) {
	var file questionsFile
	if err := durable.ReadJSON(questionsIn(home), &file); err != nil {
		return nil, err
	}
	for _, q := range file.Questions {
		if q.ID == id {
			return &q, nil
		}
	}
	return nil, nil
}

// Of returns the question with the given key, or false if it was never asked.
func (s *Questions) Of(key string) (Question, bool) {
	q, ok := s.doc.Get().Questions[key]
	return q, ok
}

// Asking returns the question that a message asks, or false if the message does not ask a
// question.
func (s *Questions) Asking(id string) (Question, bool) {
	for _, q := range s.doc.Get().Questions {
		if q.ID == id {
			return q, true
		}
	}
	return Question{}, false
}

// Open returns the questions that are not settled, oldest first.
func (s *Questions) Open() []Question {
	all := slices.Collect(maps.Values(s.doc.Get().Questions))
	open := slices.DeleteFunc(all, func(q Question) bool { return !q.Settled.IsZero() })
	slices.SortFunc(open, func(a, b Question) int { return a.Asked.Compare(b.Asked) })
	return open
}

// Settled returns the ids of the messages of settled questions.
func (s *Questions) Settled() map[string]bool {
	ids := map[string]bool{}
	for _, q := range s.doc.Get().Questions {
		if !q.Settled.IsZero() && q.ID != "" {
			ids[q.ID] = true
		}
	}
	return ids
}

// Add adds a question durably. It returns false if a question with the same key already
// exists.
func (s *Questions) Add(q Question) (added bool, err error) {
	err = s.change(func(file *questionsFile) bool {
		if _, known := file.Questions[q.Key]; known {
			return false
		}
		q.Secret, q.Asked = dropbox.NewID(), time.Now().UTC()
		file.forgetOld(q.Asked)
		file.Questions[q.Key] = q
		added = true
		return true
	})
	return added && err == nil, err
}

// Change calls f, which changes the question with the given key, and stores the result
// durably. If a field of the question points to a value, f must replace the value instead
// of modifying it.
func (s *Questions) Change(key string, f func(*Question)) (Question, error) {
	var was, is Question
	err := s.change(func(file *questionsFile) bool {
		was = file.Questions[key]
		is = was
		f(&is)
		file.Questions[key] = is
		return true
	})
	if err != nil {
		return was, err
	}
	return is, nil
}

func (s *Questions) change(f func(*questionsFile) bool) error {
	if err := s.doc.Change(f); err != nil {
		return fmt.Errorf("write the daemon's questions: %w", err)
	}
	return nil
}

// Restore writes the questions if their file is missing.
func (s *Questions) Restore() error {
	if err := s.doc.Restore(); err != nil {
		return fmt.Errorf("write the daemon's questions: %w", err)
	}
	return nil
}

// forgetOld removes the settled questions that exceed the limits.
func (f *questionsFile) forgetOld(now time.Time) {
	var settled []Question
	for _, q := range f.Questions {
		if !q.Settled.IsZero() {
			settled = append(settled, q)
		}
	}
	slices.SortFunc(settled, func(a, b Question) int { return b.Settled.Compare(a.Settled) })
	for i, q := range settled {
		if i >= keptQuestions || now.Sub(q.Settled) > keptQuestionsFor {
			delete(f.Questions, q.Key)
		}
	}
}
