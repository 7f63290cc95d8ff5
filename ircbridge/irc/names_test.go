package irc_test

import (
	"testing"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

func TestCaseMapping(t *testing.T) {
	for _, c := range []struct {
		mapping irc.CaseMapping
		a, b    string
		same    bool
	}{
		{irc.ASCII, "Ann", "aNN", true},
		{irc.ASCII, "dup{nick}", "DUP[NICK]", false},
		{irc.RFC1459, "dup{nick}|^", `DUP[NICK]\~`, true},
		{irc.RFC1459Strict, `a|`, `A\`, true},
		{irc.RFC1459Strict, "a^", "A~", false},
		{"", "a^", "A~", true},
		{irc.ASCII, "é", "É", false},
		{irc.ASCII, "a", "ab", false},
		{irc.RFC1459, "\xff[", "\xff{", true},
	} {
		if got := c.mapping.Same(c.a, c.b); got != c.same {
			t.Errorf("%q.Same(%q, %q) = %v", c.mapping, c.a, c.b, got)
		}
		if got := c.mapping.Fold(c.a) == c.mapping.Fold(c.b); got != c.same {
			t.Errorf("%q: Fold(%q) == Fold(%q) is %v", c.mapping, c.a, c.b, got)
		}
	}
}

func TestStripFormat(t *testing.T) {
	for text, want := range map[string]string{
		"plain":                           "plain",
		"\x02bold\x02 \x1dit\x1d\x0f":     "bold it",
		"\x034red\x03":                    "red",
		"\x0304,07both\x03 x":             "both x",
		"\x031234":                        "34",
		"\x034,text":                      ",text",
		"\x03,5text":                      ",5text",
		"\x03":                            "",
		"\x04ff0000,00FF00both":           "both",
		"\x04ff00":                        "ff00",
		"\x11m\x1fu\x1es\x16r":            "musr",
		"a comma\x03, and \x0312,x, five": "a comma, and ,x, five",
	} {
		if got := irc.StripFormat(text); got != want {
			t.Errorf("StripFormat(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestCTCP(t *testing.T) {
	for text, want := range map[string][2]string{
		"\x01ACTION waves\x01": {"ACTION", "waves"},
		"\x01action waves":     {"ACTION", "waves"},
		"\x01VERSION\x01":      {"VERSION", ""},
		"\x01PING 1 2\x01x":    {"PING", "1 2"},
		"plain":                {},
		"\x01\x01":             {},
		"x\x01ACTION y\x01":    {},
	} {
		command, args, ok := irc.CTCP(text)
		if command != want[0] || args != want[1] || ok != (want[0] != "") {
			t.Errorf("CTCP(%q) = %q, %q, %v", text, command, args, ok)
		}
	}
}

func TestPlainText(t *testing.T) {
	for text, want := range map[string]string{
		"a\r\nb\rc\nd":               "a\nb\nc\nd",
		"\x00\x01ACTION x\x01\x1b[m": "\uFFFD\uFFFDACTION x\uFFFD\uFFFD[m",
		"\x02bold\x034":              "\uFFFDbold\uFFFD4",
		"tab\tis text":               "tab\tis text",
		"\xff\u0085\x7f":             "\uFFFD\uFFFD\uFFFD",
		"👩‍👩‍👧 grüße":                "👩‍👩‍👧 grüße",
	} {
		if got := irc.PlainText(text); got != want {
			t.Errorf("PlainText(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestMentions(t *testing.T) {
	for _, c := range []struct {
		text, nick string
		want       bool
	}{
		// The nick alone, with or without @, colon and comma.
		{"ann", "ann", true},
		{"@ann", "ann", true},
		{"ann: look", "ann", true},
		{"ann, look", "ann", true},
		{"@ann: look", "ann", true},
		{"please ask ann", "ann", true},
		{"ask ann.", "ann", true},
		{"ann? or bob!", "ann", true},
		{"(ann)", "ann", true},
		{"**ann** is *bold*", "ann", true},
		{"\"ann\"", "ann", true},
		{"ann's turn", "ann", true},
		{"ann:do it", "ann", true},
		{"bob,ann,eve", "ann", true},
		{"<@ann>", "ann", true},
		{"ann... hello", "ann", true},
		{"announce, then ann", "ann", true},
		// In a different case, according to the server's mapping.
		{"ANN: look", "ann", true},
		{"hello DUP[NICK]", "dup{nick}", true},
		// Part of a longer nick or word.
		{"@ann-marie look", "ann", false},
		{"ann-marie", "ann", false},
		{"joann", "ann", false},
		{"ann_", "ann", false},
		{"ann2", "ann", false},
		{"[ann] said so", "ann", false},
		{"`ann`", "ann", false},
		{"|ann|", "ann", false},
		{"annä", "ann", false},
		{"äann", "ann", false},
		// The name is part of an address, a path or a file name.
		{"https://example.org/ann", "ann", false},
		{"https://example.org/?by=ann", "ann", false},
		{"see https://ann.example.org", "ann", false},
		{"/home/ann/notes", "ann", false},
		{"./x,ann", "ann", false},
		{"src/ann.go", "ann", false},
		{"ann.go is new", "ann", false},
		{"ann/notes.md", "ann", false},
		{"bob@ann", "ann", false},
		{"ann@example.org", "ann", false},
		{"#ann is a channel", "ann", false},
		{"www.x.org?ann", "ann", false},
		{"", "ann", false},
		{"anything", "", false},
		// Nicks with unusual characters.
		{"hi ^_^: you", "^_^", true},
		{"a|b, hello", "a|b", true},
		{"C:\\ann\\x", "ann", false},
	} {
		if got := irc.Mentions(c.text, c.nick, irc.RFC1459); got != c.want {
			t.Errorf("Mentions(%q, %q) = %v, want %v", c.text, c.nick, got, c.want)
		}
	}
	if irc.Mentions("DUP[NICK]", "dup{nick}", irc.ASCII) {
		t.Error("ascii treats [ as {")
	}
	text := "well, @ann: look"
	if start, end := irc.FindMention(text, "ann", irc.ASCII); text[start:end] != "@ann:" {
		t.Errorf("FindMention = %q", text[start:end])
	}
}

func FuzzFindMention(f *testing.F) {
	f.Add("well, @ann: look", "ann")
	f.Add("\xffann", "\xff")
	f.Fuzz(func(t *testing.T, text, nick string) {
		start, end := irc.FindMention(text, nick, irc.RFC1459)
		if start < 0 {
			return
		}
		found := text[start:end]
		if len(found) < len(nick) || len(found) > len(nick)+2 {
			t.Fatalf("FindMention(%q, %q) = %q", text, nick, found)
		}
	})
}
