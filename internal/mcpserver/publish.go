package mcpserver

import (
	"cmp"
	"context"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
)

type publishArguments struct {
	Topic    string   `json:"topic" jsonschema:"words of a-z, 0-9, - and _ with dots between them: task.created"`
	Text     string   `json:"text" jsonschema:"at most 8192 bytes"`
	Type     string   `json:"type,omitempty" jsonschema:"default: task" enum:"task,question,handoff,status,note"`
	Subject  string   `json:"subject,omitempty" jsonschema:"one line"`
	Priority string   `json:"priority,omitempty" jsonschema:"default: normal" enum:"urgent,normal,low"`
	Thread   string   `json:"thread,omitempty" jsonschema:"default: that of your turn"`
	Attach   []string `json:"attach,omitempty" jsonschema:"paths of files"`
	Key      string   `json:"key,omitempty" jsonschema:"nothing else is published with this key within 7 days"`
}

// A publication is the result of publish.
type publication struct {
	ID        string   `json:"id,omitempty" jsonschema:"of the work, for claim and ack; news has no id"`
	Topic     string   `json:"topic"`
	Offered   []sentTo `json:"offered" jsonschema:"who was offered the work, or got the news"`
	Duplicate bool     `json:"duplicate,omitempty" jsonschema:"it was published before with this key, and not again"`
	Note      string   `json:"note,omitempty"`
}

func (w mail) publish(ctx context.Context, in publishArguments) (*publication, error) {
	m := &dropbox.Message{
		Topic: in.Topic, Type: dropbox.Type(cmp.Or(in.Type, string(dropbox.Task))), Subject: strings.Join(strings.Fields(in.Subject), " "), Key: in.Key,
	}
	if err := topic.Check(in.Topic); err != nil {
		return nil, err
	}
	var err error
	if m.Priority, err = dropbox.ParsePriority(cmp.Or(in.Priority, dropbox.Normal.String())); err != nil {
		return nil, err
	}
	if err := w.goesOn(m, in.Thread, ""); err != nil {
		return nil, err
	}
	if err := w.fill(m, in.Text, in.Attach); err != nil {
		return nil, err
	}
	sent, err := w.Publish(m)
	if sent.ID == "" && len(sent.Offered) == 0 && err != nil {
		return nil, withNext(err)
	}
	p := &publication{ID: sent.ID, Topic: in.Topic, Offered: delivered(sent.Offered), Duplicate: sent.Duplicate}
	switch {
	case err != nil:
		p.Note = "It was published, but not everybody could be told: " + err.Error()
	case sent.Duplicate:
	case len(sent.Offered) > 0:
		p.Note, err = w.daemon.hindrance(ctx)
		return p, err
	case sent.ID == "":
		p.Note = "Nobody subscribes to " + in.Topic + ", so nobody was told."
	default:
		p.Note = "Nobody subscribes to " + in.Topic + ". The work waits; after a while the daemon gives it to the fallback, or tells the lead."
	}
	return p, nil
}

func (p *publication) readable() string {
	var t text
	switch {
	case p.Duplicate:
		t.line("Not published again: a duplicate of %s.", p.ID)
	case p.ID == "":
		t.line("Published on %s.", p.Topic)
	default:
		t.line("Published on %s as %s.", p.Topic, p.ID)
	}
	if len(p.Offered) > 0 {
		t.line("For: %s.", names(p.Offered))
	}
	t.remark(p.Note)
	return t.String()
}

func names(list []sentTo) string {
	var names []string
	for _, one := range list {
		names = append(names, one.To)
	}
	return strings.Join(names, ", ")
}
