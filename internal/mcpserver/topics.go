package mcpserver

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
)

// topics contains the tools for subscriptions and for published work.
type topics struct{ *client.Client }

func topicsOf(c *call) topics { return topics{c.Client} }

// topicList is the result of the tool topics.
type topicList struct {
	Subscriptions []subscription    `json:"subscriptions"`
	Open          []client.OpenWork `json:"open" jsonschema:"published work that is not done"`
}

// A subscription is the result of subscribe and unsubscribe.
type subscription struct {
	Name     string   `json:"name" jsonschema:"of the agent, or lead"`
	Patterns []string `json:"patterns"`
}

func (c topics) list(context.Context, noArguments) (*topicList, error) {
	all, err := c.Subscriptions()
	if err != nil {
		return nil, err
	}
	list := &topicList{Subscriptions: []subscription{}}
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list.Subscriptions = append(list.Subscriptions, subscription{name, all[name]})
	}
	list.Open, err = c.OpenWork()
	return list, err
}

func (l *topicList) readable() string {
	var t text
	for _, s := range l.Subscriptions {
		t.line("%s", s.readable())
	}
	if len(l.Subscriptions) == 0 {
		t.line("Nobody subscribes to anything.")
	}
	for _, w := range l.Open {
		t.line("%s on %s from %s: %s", w.ID, w.Topic, w.From, w.Subject)
		if w.Claimed != "" {
			t.add(" (claimed by %s)", w.Claimed)
		}
	}
	if len(l.Open) == 0 {
		t.line("No published work is open.")
	}
	return t.String()
}

func (s *subscription) readable() string {
	if len(s.Patterns) == 0 {
		return s.Name + " subscribes to nothing."
	}
	return s.Name + " subscribes to " + strings.Join(s.Patterns, " ")
}

type subscribeArguments struct {
	Patterns []string `json:"patterns" jsonschema:"topics such as task.created; * stands for one word (task.*), > at the end for one or more (review.>)"`
}

func (c topics) subscribe(_ context.Context, in subscribeArguments) (*subscription, error) {
	if err := checkPatterns(in.Patterns); err != nil {
		return nil, err
	}
	if len(in.Patterns) == 0 {
		return nil, errors.New("name at least one pattern, such as task.*")
	}
	has, err := c.Subscribe(c.Me.Name, in.Patterns...)
	return &subscription{c.Me.Name, append([]string{}, has...)}, withNext(err)
}

type unsubscribeArguments struct {
	Patterns []string `json:"patterns,omitempty" jsonschema:"as you subscribed to them; default: all"`
}

func (c topics) unsubscribe(_ context.Context, in unsubscribeArguments) (*subscription, error) {
	if err := checkPatterns(in.Patterns); err != nil {
		return nil, err
	}
	has, err := c.Unsubscribe(c.Me.Name, in.Patterns...)
	return &subscription{c.Me.Name, append([]string{}, has...)}, err
}

func checkPatterns(patterns []string) error {
	for _, p := range patterns {
		if err := topic.CheckPattern(p); err != nil {
			return err
		}
	}
	return nil
}
