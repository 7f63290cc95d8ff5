package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// work gives one agent access to published work.
type work struct{ *client.Client }

func workOf(c *call) work { return work{c.Client} }

type claimArguments struct {
	ID string `json:"id,omitempty" jsonschema:"the work or its offer; default: that of your turn"`
}

// A claimed is the result of claim.
type claimed struct {
	ID    string `json:"id" jsonschema:"of the published work"`
	Agent string `json:"agent" jsonschema:"whose it is now: yours"`
	At    string `json:"at"`
	Topic string `json:"topic"`
	From  string `json:"from" jsonschema:"who published it, and gets the result"`
	About string `json:"about" jsonschema:"its subject, or the beginning of its text"`
	Note  string `json:"note" jsonschema:"how it is closed"`
}

func (w work) claim(_ context.Context, in claimArguments) (*claimed, error) {
	job, err := w.published(in.ID)
	if err != nil {
		return nil, err
	}
	g, err := w.Claim(job)
	if err != nil {
		return nil, withNext(err)
	}
	note, err := w.closedBy(job)
	return &claimed{g.ID, g.Agent, stamp(g.At), job.Message.Topic, w.Called(job.Message.From), job.Message.Gist(), note}, err
}

// published finds published work by its id; "" means the work that the turn's message
// offers.
func (w work) published(id string) (topic.Publication, error) {
	if id == "" {
		m, err := w.Work()
		if err != nil {
			return topic.Publication{}, err
		}
		if m == nil || m.Offer == "" {
			return topic.Publication{}, errors.New("the argument id is missing: the message of your turn offers no work; topics lists what is open")
		}
		id = m.Offer
	}
	return w.Published(id)
}

// closedBy returns instructions for closing the work that the caller has claimed.
func (w work) closedBy(job topic.Publication) (string, error) {
	m, err := w.Work()
	if err != nil {
		return "", err
	}
	if m != nil && m.Offer == job.ID {
		return "Do it in this turn. The end of the turn closes the work, and your last words are the result; use ack only if you cannot do it.", nil
	}
	return "When it is done, close it with ack and the result; if it cannot be done, with ack and failed.", nil
}

func (c *claimed) readable() string {
	var t text
	t.line("%s is yours: %s on %s, from %s.", c.ID, cmp.Or(c.About, "no text"), c.Topic, c.From)
	t.remark(c.Note)
	return t.String()
}

type ackArguments struct {
	ID     string `json:"id,omitempty" jsonschema:"the work or its offer; default: that of your turn"`
	Text   string `json:"text,omitempty" jsonschema:"what the publisher gets"`
	Failed bool   `json:"failed,omitempty" jsonschema:"the work failed"`
}

// A closing is the result of ack.
type closing struct {
	ID      string `json:"id" jsonschema:"of the published work"`
	Outcome string `json:"outcome" jsonschema:"completed or failed"`
	To      string `json:"to,omitempty" jsonschema:"who got the text"`
	At      string `json:"at"`
}

func (w work) ack(_ context.Context, in ackArguments) (*closing, error) {
	job, err := w.published(in.ID)
	if err != nil {
		return nil, err
	}
	words := strings.TrimSpace(in.Text)
	if words != "" {
		if err := checkBody([]byte(words), w.Rules.BodyLimit(), "send it with attach, and say here where it is"); err != nil {
			return nil, err
		}
	}
	end := topic.Completed
	if in.Failed {
		end = topic.Failed
	}
	if err := w.Ack(job, end, words); err != nil {
		return nil, withNext(err)
	}
	done := &closing{ID: job.ID, Outcome: end, At: stamp(time.Now())}
	if words != "" && job.Message.From != w.Me.Name {
		done.To = job.Message.From
	}
	return done, nil
}

func (d *closing) readable() string {
	var t text
	t.line("%s is %s.", d.ID, d.Outcome)
	if d.To != "" {
		t.add(" %s got your text.", d.To)
	}
	return t.String()
}
