package ircbridge_test

import (
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/ircbridge"
)

func TestOptionsAreChecked(t *testing.T) {
	store := newStore(t)
	good := func() ircbridge.Options {
		return ircbridge.Options{Store: store, Home: t.TempDir(), Server: ircbridge.Server{Addr: "irc.example", Nick: "swarm"},
			Channels: ircbridge.Channels{Project: "#project-x"}}
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
		"one of them only":  func(o *ircbridge.Options) { o.Allow = []ircbridge.Permit{{May: ircbridge.Rights()}} },
		"allows nothing":    func(o *ircbridge.Options) { o.Allow = []ircbridge.Permit{{Account: "ann"}} },
		"not a right": func(o *ircbridge.Options) {
			o.Allow = []ircbridge.Permit{{Account: "ann", May: []ircbridge.Right{"all"}}}
		},
		"not an account":      func(o *ircbridge.Options) { o.Allow = []ircbridge.Permit{{Account: "*", May: ircbridge.Rights()}} },
		"proves nothing":      func(o *ircbridge.Options) { o.Allow = []ircbridge.Permit{{Nick: "ann", May: ircbridge.Rights()}} },
		"not a mask":          func(o *ircbridge.Options) { o.Allow = []ircbridge.Permit{{Mask: "ann@host", May: ircbridge.Rights()}} },
		"everybody who takes": func(o *ircbridge.Options) { o.Allow = []ircbridge.Permit{{Mask: "ann!*@*", May: ircbridge.Rights()}} },
	} {
		o := good()
		spoil(&o)
		_, err := ircbridge.New(o)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("New = %v, want an error with %q", err, want)
		}
	}
}
