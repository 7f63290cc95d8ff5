package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"
)

// A position is a place in the file; both count from 1.
type position struct {
	line, column int // column in characters
}

// A reader turns the nodes of one file into values and gathers what is wrong.
type reader struct {
	path  string
	lines []string // the lines of the file, without their ends
	errs  Errors

	// Read when the agents are known; nil when they are not written.
	aclNode, mapNode, allowNode *yaml.Node

	tls *bool // irc.tls, where it is written and not auto
}

// fail records a problem at a node and returns it, so that the caller can add
// what is near or what to try.
func (r *reader) fail(n *yaml.Node, format string, args ...any) *Error {
	return r.failAt(position{n.Line, n.Column}, format, args...)
}

// failAt is fail for a place that has no node.
func (r *reader) failAt(p position, format string, args ...any) *Error {
	p = r.inside(p)
	e := &Error{Path: r.path, Line: p.line, Column: p.column, Problem: fmt.Sprintf(format, args...)}
	r.errs = append(r.errs, e)
	return e
}

// inside moves a place into the file: the decoder takes characters for line
// ends that editors do not.
func (r *reader) inside(p position) position {
	line := min(max(p.line, 1), len(r.lines))
	column := min(max(p.column, 1), utf8.RuneCountInString(r.lines[line-1])+1)
	return position{line, column}
}

// placeOf is where the value of a key stands.
func (r *reader) placeOf(n *yaml.Node) *position {
	n = follow(n)
	p := r.inside(position{n.Line, n.Column})
	return &p
}

// document decodes the one document of a file. It returns nil after a failure
// and for a file without content.
func (r *reader) document(data []byte) *yaml.Node {
	if !r.readable(data) {
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc yaml.Node
	if err := dec.Decode(&doc); errors.Is(err, io.EOF) {
		return nil
	} else if err != nil {
		r.syntax(err)
		return nil
	}
	var second yaml.Node
	if err := dec.Decode(&second); err == nil {
		r.fail(&second, "a second YAML document; one file is one project")
		return nil
	} else if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return doc.Content[0]
}

// readable finds what the YAML decoder would refuse without saying where.
func (r *reader) readable(data []byte) bool {
	if len(data) > maxBytes {
		r.failAt(position{1, 1}, "the file is larger than 1 MiB; this is not a configuration")
		return false
	}
	at := position{1, 1}
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		switch {
		case c == utf8.RuneError && size == 1:
			r.failAt(at, "byte %#02x is not UTF-8", data[i]).Try = "save the file as UTF-8"
			return false
		case !printable(c):
			r.failAt(at, "character %U cannot stand in YAML", c)
			return false
		case c == '\n':
			at = position{at.line + 1, 0}
		}
		at.column++
		i += size
	}
	return true
}

// printable is YAML 1.2's c-printable, less the byte order mark, which the
// caller has taken off where it may stand.
func printable(c rune) bool {
	switch {
	case c == '\t', c == '\n', c == '\r', c == 0x85:
		return true
	case c < ' ', c >= 0x7f && c < 0xa0, c == 0xfeff, c == 0xfffe, c == 0xffff:
		return false
	}
	return true
}

// lineOf finds the line number that yaml.v3 puts into its errors; it leaves it
// out for the first line.
var lineOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: line (\d+): `) })

// syntax reports an error of the YAML decoder, which knows the line at most.
func (r *reader) syntax(err error) {
	at := position{1, 1}
	problem := strings.TrimPrefix(err.Error(), "yaml: ")
	if m := lineOf().FindStringSubmatch(err.Error()); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			at.line = min(max(n, 1), len(r.lines))
		}
		problem = err.Error()[len(m[0]):]
	}
	line := r.lines[at.line-1]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	if tab := strings.IndexByte(indent, '\t'); tab >= 0 {
		r.failAt(position{at.line, tab + 1}, "a tab cannot indent YAML; use spaces")
		return
	}
	at.column = len(indent) + 1
	r.failAt(at, "this is not YAML: %s", problem)
}

// each calls f once for every key of a mapping. It reports what is not a mapping
// and keys that are written twice. Nothing written (null) is an empty mapping,
// since a section whose lines are all comments is null to YAML.
func (r *reader) each(n *yaml.Node, name string, f func(key string, k, v *yaml.Node)) {
	n = follow(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%swant keys with values, got %s", prefix(name), kind(n))
		return
	}
	first := make(map[string]*yaml.Node)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		key := follow(k)
		switch {
		case key.Kind != yaml.ScalarNode:
			r.fail(k, "%sa key must be a name, this is %s", prefix(name), kind(key))
			continue
		case key.Tag == "!!merge":
			r.fail(k, "%s<< is not read here; put what agents share under defaults", prefix(name))
			continue
		}
		if before, twice := first[key.Value]; twice {
			r.fail(k, "%s: written twice, first at line %d", key.Value, before.Line)
			continue
		}
		first[key.Value] = k
		f(key.Value, k, v)
	}
}

// follow gives what an alias stands for.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// kind says what a node is, in words for a person.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.ShortTag() {
	case "!!str":
		return "text"
	case "!!int", "!!float":
		return "a number"
	case "!!bool":
		return "true or false"
	case "!!null":
		return "nothing"
	case "!!timestamp":
		return "a date"
	}
	return "the tag " + n.ShortTag()
}

func prefix(name string) string {
	if name == "" {
		return ""
	}
	return name + ": "
}
