package ircbridge_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func TestOptionsAreChecked(t *testing.T) {
	store := newStore(t)
	good := func() ircbridge.Options {
		return ircbridge.Options{
			Options: bridge.Options{Store: store, Home: t.TempDir(), Channels: bridge.Channels{Project: "#project-x"}},
			Server:  ircbridge.Server{Addr: "irc.example", Nick: "swarm"},
		}
	}
	if _, err := ircbridge.New(good()); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*ircbridge.Options){
		"store":             func(o *ircbridge.Options) { o.Store = nil },
		"folder":            func(o *ircbridge.Options) { o.Home = "" },
		"no server":         func(o *ircbridge.Options) { o.Server.Addr = "" },
		"no nick":           func(o *ircbridge.Options) { o.Server.Nick = "" },
		"no channel":        func(o *ircbridge.Options) { o.Channels.Project = "" },
		"name of a channel": func(o *ircbridge.Options) { o.Join = []string{"#a b"} },
		"not a style":       func(o *ircbridge.Options) { o.Style = "fancy" },
		"name exactly one":  func(o *ircbridge.Options) { o.Allow = []bridge.Permit{{May: bridge.Rights()}} },
		"allows nothing":    func(o *ircbridge.Options) { o.Allow = []bridge.Permit{{Account: "ann"}} },
		"not a right": func(o *ircbridge.Options) {
			o.Allow = []bridge.Permit{{Account: "ann", May: []bridge.Right{"all"}}}
		},
		"not an account":      func(o *ircbridge.Options) { o.Allow = []bridge.Permit{{Account: "*", May: bridge.Rights()}} },
		"proves nothing":      func(o *ircbridge.Options) { o.Allow = []bridge.Permit{{Nick: "ann", May: bridge.Rights()}} },
		"not a mask":          func(o *ircbridge.Options) { o.Allow = []bridge.Permit{{Mask: "ann@host", May: bridge.Rights()}} },
		"so anyone who takes": func(o *ircbridge.Options) { o.Allow = []bridge.Permit{{Mask: "ann!*@*", May: bridge.Rights()}} },
	} {
		o := good()
		spoil(&o)
		_, err := ircbridge.New(o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want an error with %q", err, want)
		}
	}
}
