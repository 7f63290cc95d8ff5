package client_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A tag is the address of all agents that have it, except the sender.
func TestATagIsAnAddress(t *testing.T) {
	file, err := config.Parse(t.TempDir()+"/claude-swarm.yaml", []byte(`agents:
  ann: {tags: [frontend, go]}
  bob: {tags: [frontend]}
  cat: {tags: [docs]}
  dan: {}
`))
	if err != nil {
		t.Fatal(err)
	}
	c := &client.Client{Project: client.ProjectOf(file, nil)}
	for _, x := range []struct {
		me, list string
		want     []string
	}{
		{"lead", "@frontend", []string{"ann", "bob"}},
		{"ann", "@frontend", []string{"bob"}},
		{"dan", "@frontend,@go , cat", []string{"ann", "bob", "cat"}},
		{"dan", "@docs,cat", []string{"cat"}},
		{"cat", "all", []string{"ann", "bob", "dan"}},
	} {
		c.Me = journal.Identity{Name: x.me}
		if got, err := c.Recipients(x.list); err != nil || !slices.Equal(got, x.want) {
			t.Errorf("Recipients(%q) of %s = %q, %v, want %q", x.list, x.me, got, err, x.want)
		}
	}
	c.Me = journal.Identity{Name: "ann"}
	if got, err := c.Recipients("@go,bob"); !errors.Is(err, client.ErrOwnTag) {
		t.Errorf("Recipients(@go,bob) of the only one = %q, %v, want %v", got, err, client.ErrOwnTag)
	}
	all := []string{"docs", "frontend", "go"}
	for tag, want := range map[string]*client.TagError{
		"fronted": {Tag: "fronted", Near: []string{"@frontend"}, Tags: all},
		"bob":     {Tag: "bob", Near: []string{"bob"}, Tags: all},
		"zzzzzz":  {Tag: "zzzzzz", Tags: all},
		"":        {Tag: "", Tags: all},
	} {
		_, err := c.Recipients("@" + tag)
		got, _ := errors.AsType[*client.TagError](err)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Recipients(@%s): %v, -want +got:\n%s", tag, err, diff)
		}
	}
	if text := (&client.TagError{Tag: "x", Tags: all}).Error(); text != `no agent has the tag "x"; the tags are @docs, @frontend, @go` {
		t.Error(text)
	}
	if text := (&client.TagError{Tag: "x"}).Error(); text != `no agent has the tag "x", or any other tag` {
		t.Error(text)
	}
}

// A task on IRC can name a tag in place of agents.
func TestATaskOnIRCTakesATag(t *testing.T) {
	agents, tags := []string{"ann", "bob", "cat"}, map[string][]string{"frontend": {"ann", "bob"}}
	to, what, ok := ircbridge.TaskFor("TASK: @frontend, cat: fix it", agents, tags)
	if want := []string{"ann", "bob", "cat"}; !ok || what != "fix it" || !slices.Equal(to, want) {
		t.Errorf("TaskFor = %q, %q, %v, want %q", to, what, ok, want)
	}
	if to, _, _ := ircbridge.TaskFor("TASK: frontend fix it", agents, tags); len(to) != 0 {
		t.Errorf("without the @ the task is for %q", to)
	}
	if got := ircbridge.WithoutHead("TASK: @frontend fix it", []string{"ann"}); got != "fix it" {
		t.Errorf("WithoutHead = %q", got)
	}
}
