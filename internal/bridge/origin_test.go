package bridge_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
)

func TestOriginSurvivesAMailbox(t *testing.T) {
	store := newStore(t, "coder")
	for name, n := range map[string]bridge.Origin{
		"empty":   {},
		"channel": {Channel: "#project-x"},
		"all": {Do: bridge.DoTopic, Channel: "#a,b: {c}", About: "k7f3q9m2xd", To: "coder", Announces: bridge.Begun,
			Nick: "an[n]\\^{}|`", Account: "- yes", MsgID: "'\"#&*!|>%@ x"},
		"numbers": {Channel: "#1", Nick: "12", Account: "0x1F", MsgID: "1e3", About: "true"},
		"long":    {Channel: "#" + strings.Repeat("word ", 60), MsgID: strings.Repeat("m", 300)},
		"letters": {Nick: "Ünïcode-名前-😀"},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := store.Deliver("coder", &dropbox.Message{Body: []byte("x"), Extra: n.Extra("irc")})
			if err != nil {
				t.Fatalf("Deliver with %q: %v", n.Extra("irc"), err)
			}
			got, ok := bridge.OriginOf(load(t, store, d.ID), "irc")
			if diff := cmp.Diff(n, got); diff != "" || !ok {
				t.Errorf("OriginOf = %v (-want +got):\n%s", ok, diff)
			}
			if strings.Count(n.Extra("irc"), "\n") != 1 {
				t.Errorf("Extra is not one line: %q", n.Extra("irc"))
			}
		})
	}
}

func TestOriginOfWhatIsNone(t *testing.T) {
	for _, extra := range []string{"", "color: red\n", "irc: 3\n", "irc: [a]\n", "irc: {channel: [a]}\n", "notirc: {channel: x}\n"} {
		if n, ok := bridge.OriginOf(&dropbox.Message{Extra: extra}, "irc"); ok {
			t.Errorf("OriginOf(%q) = %+v, want none", extra, n)
		}
	}
	if n, ok := bridge.OriginOf(&dropbox.Message{Extra: "color: red\nirc:\n  channel: '#x'\n  size: 3\n"}, "irc"); !ok || n.Channel != "#x" {
		t.Errorf("OriginOf a note by hand = %+v, %v, want #x", n, ok)
	}
}

// FuzzOrigin checks that a line can be delivered for any input from the server.
func FuzzOrigin(f *testing.F) {
	f.Add("#x", "ann", "m1")
	f.Add("#\u2028", "\xff\x00\r\n", "---\n")
	f.Add("", " ", "? !!binary x")
	f.Add("<<", "<<", "<<")
	f.Fuzz(func(t *testing.T, channel, nick, msgid string) {
		if len(channel)+len(nick)+len(msgid) > 2000 {
			return // longer than any possible IRC line
		}
		n := bridge.Origin{Channel: channel, Nick: nick, MsgID: msgid}
		m := &dropbox.Message{V: 1, ID: dropbox.NewID(), From: "irc", To: []string{"coder"}, Type: dropbox.Task, Created: time.Now(), Extra: n.Extra("irc")}
		data, err := m.Encode()
		if err != nil {
			t.Fatalf("Encode with %q: %v", n.Extra("irc"), err)
		}
		back, err := dropbox.Parse(data)
		if err != nil {
			t.Fatalf("Parse %q: %v", data, err)
		}
		if got, ok := bridge.OriginOf(back, "irc"); !ok || got.Extra("irc") != n.Extra("irc") {
			t.Fatalf("OriginOf = %+v, %v, want %+v", got, ok, n)
		}
	})
}

func newStore(t testing.TB, agents ...string) *dropbox.Store {
	t.Helper()
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	for _, name := range agents {
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	return store
}

func load(t testing.TB, store *dropbox.Store, id string) *dropbox.Message {
	t.Helper()
	f, err := store.Find(id)
	if err != nil {
		t.Fatal(err)
	}
	m, err := store.Load(f)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
