package mcpserver

import (
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// A gist describes a message in a few words.
type gist struct {
	ID       string `json:"id"`
	From     string `json:"from"`
	Proven   bool   `json:"proven" jsonschema:"whether the sender is proven"`
	Type     string `json:"type"`
	Priority string `json:"priority"`
	About    string `json:"about" jsonschema:"its subject, or the beginning of its text"`
	Outcome  string `json:"outcome,omitempty" jsonschema:"refused, if it is the result of a turn in which nothing was permitted and nothing was done"`
	Topic    string `json:"topic,omitempty" jsonschema:"the topic that it was published on"`
	Offer    string `json:"offer,omitempty" jsonschema:"the published work that it offers you: claim it before you do it"`
	Thread   string `json:"thread,omitempty"`
	State    string `json:"state,omitempty"`
	Time     string `json:"time"`
}

func gistOf(c *client.Client, v *view.Message) gist {
	g := gist{
		ID: v.ID, From: c.Called(v.From), Proven: v.Proven, Type: string(v.Type), Priority: v.Priority, About: v.Gist(), Outcome: v.Outcome,
		Topic: v.Topic, Offer: v.Offer, Thread: v.Thread, State: v.State, Time: stamp(v.Created),
	}
	if v.Reason != "" {
		g.About = "cannot be read: " + v.Reason
	}
	return g
}
