package bridge_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/bridgetest"
)

// TestALinkOfLines runs the bridge's suite on a network other than IRC: a folder with two
// files.
func TestALinkOfLines(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	bridgetest.Run(t, func(t *testing.T) bridgetest.Network { return &lineFiles{dir: t.TempDir()} })
}

// A said is one line in a file.
type said struct {
	ID   string // the message's id; only in the bridge's lines
	From string
	To   string // a channel or a person
	Text string
}

// lineFiles is a network that consists of a folder. People's lines are appended to the
// file "in", and the bridge's lines to the file "out". While a file "down" exists, the
// network is down.
type lineFiles struct{ dir string }

func (f *lineFiles) Name() string { return "lines" }

func (f *lineFiles) path(name string) string { return filepath.Join(f.dir, name) }

func (f *lineFiles) add(name string, s said) error {
	line, err := json.Marshal(s)
	if err != nil {
		return err
	}
	file, err := os.OpenFile(f.path(name), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(append(line, '\n'))
	return errors.Join(err, file.Close())
}

// read returns the lines of a file that start at or after a byte offset, and the byte
// offset of their end.
func (f *lineFiles) read(name string, from int64) (all []said, end int64) {
	data, err := os.ReadFile(f.path(name))
	if err != nil || int64(len(data)) < from {
		return nil, from
	}
	data = data[from:]
	data = data[:bytes.LastIndexByte(data, '\n')+1]
	for lines := bufio.NewScanner(bytes.NewReader(data)); lines.Scan(); {
		var s said
		if json.Unmarshal(lines.Bytes(), &s) == nil {
			all = append(all, s)
		}
	}
	return all, from + int64(len(data))
}

func (f *lineFiles) up() bool {
	_, err := os.Stat(f.path("down"))
	return err != nil
}

// Bridge implements [bridgetest.Network].
func (f *lineFiles) Bridge(t *testing.T, o bridge.Options) func(context.Context) error {
	o.Name, o.Title = "lines", "Lines"
	b, err := bridge.New(o, &fileLink{net: f, in: map[string]bool{o.Channels.Project: true}})
	if err != nil {
		t.Fatal(err)
	}
	return b.Run
}

// Say implements [bridgetest.Network].
func (f *lineFiles) Say(t *testing.T, nick, target, text string) {
	t.Helper()
	if err := f.add("in", said{From: nick, To: target, Text: text}); err != nil {
		t.Fatal(err)
	}
}

// Seen implements [bridgetest.Network].
func (f *lineFiles) Seen(target string) (texts []string) {
	all, _ := f.read("out", 0)
	for _, s := range all {
		if s.To == target {
			texts = append(texts, s.Text)
		}
	}
	return texts
}

// Cut implements [bridgetest.Network].
func (f *lineFiles) Cut(t *testing.T) (mended func()) {
	t.Helper()
	if err := os.WriteFile(f.path("down"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	return func() { os.Remove(f.path("down")) }
}

// A fileLink is the link to a lineFiles network. A written line counts as confirmed, and
// the file "out" serves as the history.
type fileLink struct {
	net   *lineFiles
	host  bridge.Host
	in    map[string]bool // the channels
	at    int64           // offset of the next line in the file "in"
	up    bool
	since time.Time // when up last changed
	count int       // how many times the link has connected
}

var _ bridge.Link = (*fileLink)(nil)

func (l *fileLink) Open(_, kill context.Context, h bridge.Host, joined []string) error {
	l.host, l.since = h, time.Now().UTC()
	for _, name := range joined {
		l.in[name] = true
	}
	_, l.at = l.net.read("in", 0) // earlier lines count as missed
	h.Do(func() func() {
		for kill.Err() == nil && h.Event(l.look) {
			time.Sleep(5 * time.Millisecond)
		}
		return nil
	})
	return nil
}

// look handles the lines that people have written since the last call.
func (l *fileLink) look() {
	if up := l.net.up(); up != l.up {
		l.up, l.since = up, time.Now().UTC()
		if up {
			l.count++
		}
		l.host.Changed()
	}
	if !l.up {
		return
	}
	var all []said
	all, l.at = l.net.read("in", l.at)
	for _, s := range all {
		l.host.Changed()
		l.host.Heard(bridge.Text{
			Time: time.Now(), Target: s.To, Private: !l.IsChannel(s.To), Source: s.From, Nick: s.From, Body: s.Text,
			Who: bridge.Person{Nick: s.From, User: s.From, Host: "here"},
		})
	}
}

func (l *fileLink) Say(s *bridge.Saying) {
	text := s.Text
	if s.Agent {
		text = "[" + s.Name + "] " + text
	}
	landing := bridge.Landing{Fate: bridge.Arrived, Shown: bridge.Shown{Lines: 1}}
	already := false
	if s.Begun > 1 {
		all, _ := l.net.read("out", 0)
		for _, line := range all {
			already = already || line.ID == s.ID
		}
	}
	if !already {
		if err := l.net.add("out", said{ID: s.ID, From: "swarm", To: s.Target, Text: text}); err != nil {
			landing = bridge.Landing{Fate: bridge.Put}
		} else {
			l.host.Keep(s.Line(time.Now(), s.Text, "", len(s.Text)))
		}
	}
	l.host.Landed(s, landing)
}

func (l *fileLink) Tell(target, text, _ string) bridge.Told {
	done := make(chan struct{})
	close(done)
	if err := l.net.add("out", said{From: "swarm", To: target, Text: text}); err != nil {
		l.host.Trouble("an answer was not written", err)
	}
	return told{done}
}

type told struct{ done chan struct{} }

func (t told) Done() <-chan struct{} { return t.done }
func (told) MsgID() string           { return "" }

func (l *fileLink) Fit(text, _, _ string) []string { return strings.Split(text, "\n") }

func (l *fileLink) Describe(s *bridge.State) {
	s.Connected, s.Since, s.Nick, s.Reconnects = l.up, l.since, "swarm", max(l.count-1, 0)
	if !l.up {
		s.Why = "there is a file called down"
	}
	for name := range l.in {
		s.Channels = append(s.Channels, bridge.Channel{Name: name, Joined: l.up})
	}
}

func (l *fileLink) Sweep(time.Time)                     {}
func (l *fileLink) Stop()                               {}
func (l *fileLink) Usable() bool                        { return l.up }
func (l *fileLink) Connection() (int, time.Time)        { return l.count, l.since }
func (l *fileLink) Sound() bool                         { return true }
func (l *fileLink) LookAgain(bool) time.Duration        { return 0 }
func (l *fileLink) Self() string                        { return "swarm" }
func (l *fileLink) Selves() []string                    { return []string{"swarm"} }
func (l *fileLink) Ours(name string) bool               { return name == "swarm" }
func (l *fileLink) Called(string) []string              { return nil }
func (l *fileLink) NowCalled(name string) string        { return name }
func (l *fileLink) Network() string                     { return "files" }
func (l *fileLink) Server() string                      { return l.net.dir }
func (l *fileLink) Vouched() string                     { return "localhost" }
func (l *fileLink) Rooms() bridge.Rooms                 { return l }
func (l *fileLink) Fold(name string) string             { return strings.ToLower(name) }
func (l *fileLink) Same(a, b string) bool               { return strings.EqualFold(a, b) }
func (l *fileLink) Plain(text string) string            { return strings.ToValidUTF8(text, "?") }
func (l *fileLink) IsChannel(target string) bool        { return strings.HasPrefix(target, "#") }
func (l *fileLink) Joined() (all []bridge.ChannelState) { return nil }

// FindMention finds the first word in text that equals the name, with or without an @,
// colon or comma around it.
func (l *fileLink) FindMention(text, name string) (start, end int) {
	for at := 0; at < len(text); {
		word := text[at:]
		if i := strings.IndexByte(word, ' '); i >= 0 {
			word = word[:i]
		}
		if strings.EqualFold(strings.Trim(word, "@:,"), name) {
			return at, at + len(word)
		}
		at += len(word) + 1
	}
	return -1, -1
}

func (l *fileLink) Remedy(reason string) bridge.Remedy {
	if strings.Contains(reason, "holds a space") {
		return bridge.OtherChannel
	}
	return bridge.AnyRemedy
}

func (l *fileLink) CannotBe(name string) string {
	if strings.Contains(name, " ") {
		return name + " holds a space"
	}
	return ""
}

func (l *fileLink) Shut(channel string) string { return l.CannotBe(channel) }

func (l *fileLink) Channel(name string) (bridge.ChannelState, bool) {
	in := l.in[l.Fold(name)]
	return bridge.ChannelState{Name: name, Fixed: name == "#project", Wanted: in, In: in}, in
}

func (l *fileLink) MaySay(channel string, _ bool) bool {
	l.in[l.Fold(channel)] = true
	return true
}

func (l *fileLink) Join(name string, _ bool, then func(bridge.Entry)) {
	l.in[l.Fold(name)] = true
	l.noted()
	then(bridge.Entry{In: true, Name: name})
}

func (l *fileLink) Leave(name string) {
	delete(l.in, l.Fold(name))
	l.noted()
}

func (l *fileLink) noted() {
	var names []string
	for name := range l.in {
		names = append(names, name)
	}
	l.host.Noted(names)
}

func (l *fileLink) SetTopic(_, _ string, then func(error)) {
	then(&bridge.RefusedError{Reason: "files have no topic"})
}
