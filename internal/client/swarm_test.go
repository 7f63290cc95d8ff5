package client_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A swarmOf is a project of agents with mailboxes and tokens, and IRC.
type swarmOf struct {
	client.Project
	tokens map[string]string
}

func newSwarm(t *testing.T, agents ...string) swarmOf {
	t.Helper()
	dir := t.TempDir()
	drop := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(drop); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(drop, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, name := range append([]string{dropbox.Lead, ircbridge.Name}, agents...) {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	home := journal.HomeOf(dir)
	tokens, err := home.Tokens(append([]string{dropbox.Lead}, agents...)...)
	if err != nil {
		t.Fatal(err)
	}
	return swarmOf{client.Project{
		Home: home, Store: store, Agents: agents, Rules: policy.Default(),
		IRC: &client.Channels{Project: "#dev", Alerts: "#alerts", Known: []string{"#dev", "#alerts", "#ops"}},
	}, tokens}
}

// as returns a client whose caller is an agent or the lead.
func (s swarmOf) as(name string) *client.Client {
	return client.New(s.Project, journal.Identity{Name: name, Token: s.tokens[name]})
}

// waiting returns the messages that wait in a mailbox.
func (s swarmOf) waiting(t *testing.T, name string) []*dropbox.Message {
	t.Helper()
	box, err := s.Store.Mailbox(name)
	if err != nil {
		t.Fatal(err)
	}
	list, err := box.Peek()
	if err != nil {
		t.Fatal(err)
	}
	var all []*dropbox.Message
	for _, e := range list {
		m, err := box.Read(e)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	return all
}

// onIRC returns what waits for the bridge: the origin and the text of each message.
func (s swarmOf) onIRC(t *testing.T) (all []bridge.Origin, texts []string) {
	t.Helper()
	for _, m := range s.waiting(t, ircbridge.Name) {
		o, ok := bridge.OriginOf(m, ircbridge.Name)
		if !ok {
			t.Errorf("%s has no origin", m.ID)
		}
		all, texts = append(all, o), append(texts, string(m.Body))
	}
	return all, texts
}

// is reports whether err contains an error of type E.
func is[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}
