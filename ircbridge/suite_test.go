package ircbridge_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/bridgetest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// The link to IRC must pass the same suite as the link to any other network.
func TestIRCIsANetwork(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	bridgetest.Run(t, func(t *testing.T) bridgetest.Network {
		server := irctest.NewServer(t, irctest.Features{MaxLines: 1})
		n := &ircNetwork{server: server, proxy: irctest.NewProxy(t, server.Addr)}
		newPerson(t, server.Addr, "ann", "#project", "#other")
		return n
	})
}

// An ircNetwork is a small server behind a proxy.
type ircNetwork struct {
	server *irctest.Server
	proxy  *irctest.Proxy
}

// Name implements [bridgetest.Network].
func (*ircNetwork) Name() string { return ircbridge.Name }

// Bridge implements [bridgetest.Network].
func (n *ircNetwork) Bridge(t *testing.T, o bridge.Options) func(context.Context) error {
	t.Helper()
	b, err := ircbridge.New(ircbridge.Options{
		Options: o, Server: ircbridge.Server{Addr: n.proxy.Addr, Nick: "swarm", Unlimited: true, RetryMin: 10 * time.Millisecond, RetryMax: 100 * time.Millisecond},
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.Run
}

// Say implements [bridgetest.Network].
func (n *ircNetwork) Say(t *testing.T, nick, target, text string) {
	t.Helper()
	n.server.Say(nick, nick, target, text)
}

// Seen implements [bridgetest.Network].
func (n *ircNetwork) Seen(target string) (texts []string) {
	for _, m := range n.server.Said(target) {
		if strings.HasPrefix(m.Source, "swarm") {
			texts = append(texts, m.Text)
		}
	}
	return texts
}

// Cut implements [bridgetest.Network].
func (n *ircNetwork) Cut(t *testing.T) (mended func()) {
	t.Helper()
	n.proxy.Refuse()
	n.proxy.Cut()
	return n.proxy.Heal
}
