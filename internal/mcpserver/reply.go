package mcpserver

import (
	"cmp"
	"context"
	"fmt"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

type replyArguments struct {
	ID       string   `json:"id" jsonschema:"the start or end of the id is enough"`
	Text     string   `json:"text" jsonschema:"at most 8192 bytes"`
	Type     string   `json:"type,omitempty" jsonschema:"default: result for a task or a question, otherwise note" enum:"task,question,result,status,handoff,note"`
	Priority string   `json:"priority,omitempty" jsonschema:"default: normal" enum:"urgent,normal,low"`
	Attach   []string `json:"attach,omitempty" jsonschema:"paths of files"`
}

func (w mail) reply(ctx context.Context, in replyArguments) (*sentMessages, error) {
	found, old, err := w.Message(in.ID)
	switch {
	case err != nil:
		return nil, err
	case !w.MayReply(found, old):
		return nil, fmt.Errorf("%s is in the mailbox of %s, not in yours; use send", old.ID, found.Mailbox)
	case old.From == dropbox.Swarm:
		return nil, fmt.Errorf("%s is from the daemon itself, which reads no mail", old.ID)
	}
	if err := w.MayAnswer(old); err != nil {
		return nil, err
	}
	m := w.Answer(old, dropbox.Type(in.Type))
	if m.Priority, err = dropbox.ParsePriority(cmp.Or(in.Priority, dropbox.Normal.String())); err != nil {
		return nil, err
	}
	if m.To, err = w.Recipients(cmp.Or(old.From, dropbox.Lead)); err != nil {
		return nil, err
	}
	sent, err := w.post(ctx, m, in.Text, in.Attach)
	if err != nil {
		return nil, err
	}
	if err := w.FileAnswered(found); err != nil {
		return nil, fmt.Errorf("the answer was sent, but %s could not be filed: %w", old.ID, err)
	}
	return sent, nil
}
