package irc_test

import (
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

func TestParse(t *testing.T) {
	for line, want := range map[string]irc.Message{
		"PING":                                 {Command: "PING"},
		"ping x\n":                             {Command: "PING", Params: []string{"x"}},
		":a!b@c PRIVMSG #d :e f\r\n":           {Source: "a!b@c", Command: "PRIVMSG", Params: []string{"#d", "e f"}},
		":s  005   me  A=b   :are  supported ": {Source: "s", Command: "005", Params: []string{"me", "A=b", "are  supported "}},
		"TOPIC #a :":                           {Command: "TOPIC", Params: []string{"#a", ""}},
		"TOPIC #a ::)":                         {Command: "TOPIC", Params: []string{"#a", ":)"}},
		"JOIN #a   ":                           {Command: "JOIN", Params: []string{"#a"}},
		`@a=1;b;+c/d=x\:\s\\\r\n\q\;time=2 :n PRIVMSG #a b`: {
			Tags:   map[string]string{"a": "1", "b": "", "+c/d": "x; \\\r\nq", "time": "2"},
			Source: "n", Command: "PRIVMSG", Params: []string{"#a", "b"},
		},
		"@ PING x":          {Command: "PING", Params: []string{"x"}},
		"PRIVMSG #a :\xffx": {Command: "PRIVMSG", Params: []string{"#a", "\uFFFDx"}},
	} {
		if line[0] == '@' && strings.Contains(line, `\q\;`) {
			want.Tags["+c/d"] = "x; \\\r\nq" // a backslash before another character or at the end of a value is dropped
		}
		got, err := irc.Parse(line)
		if err != nil {
			t.Errorf("Parse(%q): %v", line, err)
		} else if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", line, diff)
		}
	}
	for _, line := range []string{"", "\r\n", ":only.source", "@tags", "12 x", "PING2 x", "\x00"} {
		if m, err := irc.Parse(line); !errors.Is(err, irc.ErrMessage) {
			t.Errorf("Parse(%q) = %v, %v, want ErrMessage", line, m, err)
		}
	}
}

func TestFewerParamsThanOneIndexes(t *testing.T) {
	m := irc.Msg("JOIN")
	if m.Param(0) != "" || m.Param(-1) != "" || m.Last() != "" || m.Nick() != "" {
		t.Errorf("%v has parameters", m)
	}
}

func TestWhatCannotBeALine(t *testing.T) {
	for _, m := range []irc.Message{
		{},
		irc.Msg("PRIVMSG #a"),
		irc.Msg("PRIVMSG\r\nQUIT"),
		irc.Msg("99"),
		irc.Msg("PRIVMSG", "", "x"),
		irc.Msg("PRIVMSG", "#a b", "x"),
		irc.Msg("PRIVMSG", ":a", "x"),
		{Command: "PING", Source: "a b"},
		{Command: "PING", Tags: map[string]string{"a b": ""}},
		{Command: "PING", Tags: map[string]string{"": ""}},
	} {
		if line, err := m.Append(nil); !errors.Is(err, irc.ErrMessage) {
			t.Errorf("Append(%#v) = %q, %v, want ErrMessage", m, line, err)
		}
	}
}

func TestEveryParameterIsMadeSafe(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{irc.Msg("PRIVMSG", "#a", "x\r\nQUIT :bye\x00").String(), "PRIVMSG #a :x\uFFFD\uFFFDQUIT :bye\uFFFD"},
		{irc.Msg("KICK", "#a\n", "b\rc", "\xff").String(), "KICK #a\uFFFD b\uFFFDc \uFFFD"},
		{irc.Msg("FOO", "b\tr", "\tx\t", "y\tz").String(), "FOO b\tr \tx\t y\tz"}, // RFC 1459 allows a tab in a middle parameter
		{irc.Msg("TOPIC", "#a", "\x01X\x01 \x07\x1b[31m\u009b\tand \x02bold").String(), "TOPIC #a :\uFFFDX\uFFFD \uFFFD\uFFFD[31m\uFFFD\tand \x02bold"},
		{irc.Msg("PRIVMSG", "#a", "\x01ACTION waves\x01 \x01").String(), "PRIVMSG #a :\x01ACTION waves\uFFFD \x01"},
	} {
		if c.got != c.want {
			t.Errorf("wrote %q, want %q", c.got, c.want)
		}
	}
}

// Every message that Append accepts is written as one line, and parsing that line gives the
// message that Clean returns.
func FuzzAppend(f *testing.F) {
	f.Add("key", "value; \\\r\n", "nick!u@h", "PRIVMSG", "#chan", "text\r\nQUIT")
	f.Add("", "", "", "privmsg", "a b", ":x")
	f.Add("+a/b", "\x00", "", "001", "\x01", "\x01ACTION \x01\x01")
	f.Add("a", "\\", "", "NOTICE", "\xff", " ")
	f.Fuzz(func(t *testing.T, key, value, source, command, middle, last string) {
		m := irc.Message{Source: source, Command: command, Params: []string{middle, last}}
		if key != "" {
			m.Tags = map[string]string{key: value}
		}
		line, err := m.Append([]byte("before"))
		if err != nil {
			if !errors.Is(err, irc.ErrMessage) || string(line) != "before" {
				t.Fatalf("Append = %q, %v", line, err)
			}
			return
		}
		text := strings.TrimPrefix(string(line), "before")
		body, ended := strings.CutSuffix(text, "\r\n")
		if !ended || strings.ContainsAny(body, "\r\n\x00") || !utf8.ValidString(body) {
			t.Fatalf("Append wrote %q", text)
		}
		clean, err := m.Clean()
		if err != nil {
			t.Fatal(err)
		}
		got, err := irc.Parse(text)
		if err != nil {
			t.Fatalf("Parse(%q): %v", text, err)
		}
		if diff := cmp.Diff(clean, got); diff != "" {
			t.Fatalf("%q (-meant +read):\n%s", text, diff)
		}
		if again, err := clean.Clean(); err != nil || !cmp.Equal(again, clean) {
			t.Fatalf("Clean(%q) = %q, %v", clean, again, err)
		}
	})
}

// If a parsed message can be written, parsing the written line gives the message that Clean
// returns.
func FuzzParse(f *testing.F) {
	f.Add("@a=b;c :nick!u@h PRIVMSG #c  d :e f\r\n")
	f.Add(":s 353 a = #b :@c +d")
	f.Add("@\\:=\\s\\ PING")
	f.Fuzz(func(t *testing.T, line string) {
		m, err := irc.Parse(line)
		if err != nil {
			return
		}
		written, err := m.Append(nil)
		if err != nil {
			return // a server may send lines that a client must not send
		}
		clean, err := m.Clean()
		if err != nil {
			t.Fatal(err)
		}
		if got, err := irc.Parse(string(written)); err != nil || !cmp.Equal(got, clean) {
			t.Fatalf("%q was written as %q and read as %#v, %v", line, written, got, err)
		}
	})
}
