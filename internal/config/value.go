package config

import (
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The methods below read one value each. name is the key, for the error. ok is
// false when a problem was recorded; the value is then to be left as it was.

// text reads a string. Numbers, dates and true are refused: whoever writes
// `model: 4` did not mean the text "4".
func (r *reader) text(n *yaml.Node, name string) (value string, ok bool) {
	n = follow(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		return n.Value, true
	}
	e := r.fail(n, "%s: want text, got %s", name, kind(n))
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		e.Try = name + `: "` + n.Value + `"`
	}
	return "", false
}

// line reads text that has to fit on one line, since it becomes part of one.
func (r *reader) line(n *yaml.Node, name string) (string, bool) {
	s, ok := r.text(n, name)
	if !ok {
		return "", false
	}
	s = strings.TrimSpace(s)
	if strings.ContainsFunc(s, unicode.IsControl) {
		r.fail(follow(n), "%s: must be one line", name)
		return "", false
	}
	return s, true
}

// word reads a line that is not empty, has no spaces and does not look like a
// flag, since it becomes an argument of the client.
func (r *reader) word(n *yaml.Node, name string) (string, bool) {
	s, ok := r.line(n, name)
	switch {
	case !ok:
		return "", false
	case s == "":
		r.fail(follow(n), "%s: is empty", name)
		return "", false
	case strings.ContainsFunc(s, unicode.IsSpace), strings.HasPrefix(s, "-"):
		r.fail(follow(n), "%s: %q must be one word that does not begin with -", name, s)
		return "", false
	}
	return s, true
}

// oneOf reads one of a few words.
func (r *reader) oneOf(n *yaml.Node, name string, words []string) (string, bool) {
	s, ok := r.text(n, name)
	if !ok {
		return "", false
	}
	if !slices.Contains(words, s) {
		e := r.fail(follow(n), "%s: %q is not one of %s", name, s, or(words))
		e.Near = dropbox.Nearest(s, words)
		return "", false
	}
	return s, true
}

// number reads a whole number that is at least least.
func (r *reader) number(n *yaml.Node, name string, least int) (int, bool) {
	n = follow(n)
	var i int
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" {
		got := kind(n)
		if n.Kind == yaml.ScalarNode && !isNull(n) {
			got = n.Value
		}
		r.fail(n, "%s: want a whole number, got %s", name, got)
		return 0, false
	}
	if err := n.Decode(&i); err != nil || i > 1<<31-1 {
		r.fail(n, "%s: %s is too large", name, n.Value)
		return 0, false
	}
	if i < least {
		r.fail(n, "%s: %d is too small; the least is %d", name, i, least)
		return 0, false
	}
	return i, true
}

// truth reads true or false.
func (r *reader) truth(n *yaml.Node, name string) (value, ok bool) {
	n = follow(n)
	if n.Kind == yaml.ScalarNode && n.Tag == "!!bool" && n.Decode(&value) == nil {
		return value, true
	}
	got := kind(n)
	if n.Kind == yaml.ScalarNode && !isNull(n) {
		got = n.Value
	}
	r.fail(n, "%s: want true or false, got %s", name, got)
	return false, false
}

// duration reads a time span; see [ParseSpan].
func (r *reader) duration(n *yaml.Node, name string) (time.Duration, bool) {
	n = follow(n)
	if n.Kind != yaml.ScalarNode || isNull(n) {
		r.fail(n, "%s: want a time span such as 30s, got %s", name, kind(n))
		return 0, false
	}
	d, err := ParseSpan(n.Value)
	if wrong, ok := errors.AsType[*SpanError](err); ok {
		r.fail(n, "%s: %s", name, wrong).Try = name + ": " + wrong.Try
		return 0, false
	}
	return d, true
}

// span is duration, but not zero.
func (r *reader) span(n *yaml.Node, name string) (time.Duration, bool) {
	d, ok := r.duration(n, name)
	if ok && d == 0 {
		r.fail(follow(n), "%s: must be longer than 0", name)
		return 0, false
	}
	return d, ok
}

// list reads a list of lines that are not empty. Nothing written is an empty
// list.
func (r *reader) list(n *yaml.Node, name string) ([]string, bool) {
	n = follow(n)
	if isNull(n) {
		return nil, true
	}
	if n.Kind != yaml.SequenceNode {
		e := r.fail(n, "%s: want a list, got %s", name, kind(n))
		if n.Kind == yaml.ScalarNode {
			e.Try = name + ": [" + n.Value + "]"
		}
		return nil, false
	}
	good := true
	var values []string
	for _, item := range n.Content {
		s, ok := r.line(item, name)
		if ok && s == "" {
			r.fail(follow(item), "%s: an entry is empty", name)
			ok = false
		}
		good = good && ok
		values = append(values, s)
	}
	return values, good
}
