package config

import (
	"cmp"
	"errors"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// A reader converts the nodes of one file into values and collects the errors. It
// identifies each key by its path: log.max_size_mb, agents.coder.cwd, irc.map[0].type.
type reader struct {
	path    string   // the path of the file, as the caller specified it
	dir     string   // the folder to which paths are relative
	project string   // the folder to which the agents' paths are relative
	lines   []string // the lines of the file, without line endings
	at      map[string]entry
	errs    Errors
	notes   Errors         // what a person should know about a file without errors
	kinds   []*runner.Kind // the kinds of clients; nil means those of this version
}

// clients returns the kinds of clients that an agent can have.
func (r *reader) clients() []*runner.Kind {
	if r.kinds == nil {
		return backends.Kinds()
	}
	return r.kinds
}

// An entry contains the nodes of a key and its value.
type entry struct{ key, value *yaml.Node }

// find returns the nodes of the key at a path. If the file does not contain the key, find
// returns its nodes under defaults, or else those of the mapping that would contain it.
func (r *reader) find(path string) entry {
	if s, ok := r.at[path]; ok || path == "" {
		return s
	}
	if key, ok := ofAgent(path); ok {
		if s, ok := r.at["defaults."+key]; ok {
			return s
		}
	}
	return r.find(path[:max(0, strings.LastIndexAny(path, ".["))])
}

// ofAgent removes the agent from the path of an agent's key.
func ofAgent(path string) (key string, ok bool) {
	if rest, ok := strings.CutPrefix(path, "agents."); ok {
		_, key, ok = strings.Cut(rest, ".")
		return key, ok
	}
	return "", false
}

var index = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\[\d+\]`) })

// shown returns a path in the form used in messages to a person. It omits the agent and
// the list index, which are clear from the line number.
func shown(path string) string {
	if key, ok := ofAgent(path); ok {
		path = key
	}
	path = strings.TrimPrefix(strings.TrimPrefix(path, "agents."), "defaults.")
	return index().ReplaceAllString(path, "")
}

// below returns the path of a key in the mapping at path.
func below(path, key string) string {
	if path == "" {
		return key
	}
	return path + "." + key
}

// fail records a problem with the value of a key.
func (r *reader) fail(path, try, format string, args ...any) {
	r.report(r.find(path).value, path, wrong(try, format, args...))
}

// report records a problem with its position, and with the name of its key if path is not
// empty. It returns true if e is nil, which means that there is no problem.
func (r *reader) report(n *yaml.Node, path string, e *Error) bool {
	if e == nil {
		return true
	}
	r.errs = append(r.errs, r.placed(n, path, e))
	return false
}

// remark records a note for the person. A note about defaults, which all agents share, is
// recorded only once.
func (r *reader) remark(n *yaml.Node, path string, e *Error) {
	if e = r.placed(n, path, e); !slices.ContainsFunc(r.notes, func(o *Error) bool { return o.Error() == e.Error() }) {
		r.notes = append(r.notes, e)
	}
}

// placed adds the position to a problem, and also the name of the key if path is not
// empty.
func (r *reader) placed(n *yaml.Node, path string, e *Error) *Error {
	if path != "" {
		e.Problem = shown(path) + ": " + e.Problem
	}
	e.Problem, e.Try = oneLine(e.Problem, 300), oneLine(e.Try, 300)
	// The decoder breaks lines at some characters where editors do not.
	e.Path, e.Line = r.path, min(max(n.Line, 1), len(r.lines))
	e.Column = min(max(n.Column, 1), utf8.RuneCountInString(r.lines[e.Line-1])+1)
	return e
}

// failed returns all recorded problems, or nil.
func (r *reader) failed() error {
	if len(r.errs) == 0 {
		return nil
	}
	r.errs.sort()
	return r.errs
}

// maxBytes is far above the size of any real configuration. It prevents a large file that
// was named by mistake from being read into memory.
const maxBytes = 1 << 20

// document decodes the only document in a file. It returns nil after a failure, and for
// an empty file.
func (r *reader) document(text string) *yaml.Node {
	if !r.readable(text) {
		return nil
	}
	dec := yaml.NewDecoder(strings.NewReader(text))
	var doc, second yaml.Node
	err := dec.Decode(&doc)
	if err == nil {
		if err = dec.Decode(&second); err == nil {
			r.report(&second, "", wrong("", "a second YAML document; one file describes one project"))
			return nil
		}
	}
	if !errors.Is(err, io.EOF) {
		r.syntax(err)
		return nil
	}
	if len(doc.Content) == 0 {
		return nil
	}
	return follow(doc.Content[0])
}

// readable checks the size of a file, and finds characters that the YAML decoder would report
// without a line number. It returns false if it has reported a problem.
func (r *reader) readable(text string) bool {
	if len(text) > maxBytes {
		return r.report(&yaml.Node{}, "", wrong("", "the file is larger than 1 MiB; this is not a configuration"))
	}
	for i, c := range text {
		utf := c != utf8.RuneError || strings.HasPrefix(text[i:], string(utf8.RuneError))
		if utf && printable(c) {
			continue
		}
		line := text[strings.LastIndexByte(text[:i], '\n')+1 : i]
		at := &yaml.Node{Line: strings.Count(text[:i], "\n") + 1, Column: utf8.RuneCountInString(line) + 1}
		if !utf {
			return r.report(at, "", wrong("save the file as UTF-8", "byte %#02x is not UTF-8", text[i]))
		}
		return r.report(at, "", wrong("", "character %U is not allowed in YAML", c))
	}
	return true
}

// printable matches the characters of c-printable in YAML 1.2, except the byte order
// mark, which the caller has removed from the beginning.
func printable(c rune) bool {
	return c >= ' ' && c < 0x7f || c == '\t' || c == '\n' || c == '\r' || c == 0x85 ||
		c >= 0xa0 && c != 0xfeff && c != 0xfffe && c != 0xffff
}

// lineOf matches the line number in an error from yaml.v3, which omits the number for
// the first line.
var lineOf = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^yaml: (?:line (\d+): )?`) })

// syntax reports an error from the YAML decoder. Such an error may have a line number,
// but never a column.
func (r *reader) syntax(err error) {
	m := lineOf().FindStringSubmatch(err.Error() + " ")
	number, _ := strconv.Atoi(m[1])
	at := yaml.Node{Line: min(max(number, 1), len(r.lines))}
	line := r.lines[at.Line-1]
	indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
	e := wrong("", "this is not YAML: %s", err.Error()[len(m[0]):])
	if at.Column = strings.IndexByte(indent, '\t') + 1; at.Column > 0 {
		e = wrong("", "YAML cannot be indented with tabs; use spaces")
	} else {
		at.Column = len(indent) + 1
	}
	r.report(&at, "", e)
}

// each calls f once for each key of a mapping. It reports a node that is not a mapping,
// and keys that occur twice. Null counts as an empty mapping, because YAML reads a
// section that has only comments as null.
func (r *reader) each(n *yaml.Node, path string, f func(key string, k, v *yaml.Node)) {
	if n = follow(n); isNull(n) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.report(n, path, wrong("", "want keys with values, got %s", kind(n)))
		return
	}
	first := make(map[string]int, len(n.Content)/2)
	for i := 0; i+1 < len(n.Content); i += 2 {
		k, v := n.Content[i], follow(n.Content[i+1])
		switch key := follow(k); {
		case key.Kind != yaml.ScalarNode:
			r.report(k, path, wrong("", "a key must be a name, not %s", kind(key)))
		case key.Tag == "!!merge":
			r.report(k, path, wrong("", "<< is not supported; put what agents share under defaults"))
		case first[key.Value] > 0:
			r.report(k, "", wrong("", "%s: written twice, first at line %d", key.Value, first[key.Value]))
		default:
			first[key.Value] = k.Line
			r.at[below(path, key.Value)] = entry{k, v}
			f(key.Value, k, v)
		}
	}
}

// follow returns the node to which an alias refers.
func follow(n *yaml.Node) *yaml.Node {
	if n.Kind == yaml.AliasNode {
		return n.Alias
	}
	return n
}

func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null"
}

// kind describes the kind of a node in words that a person understands.
func kind(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		return "keys with values"
	case yaml.SequenceNode:
		return "a list"
	}
	words := map[string]string{"!!str": "text", "!!int": "a number", "!!float": "a number", "!!bool": "true or false", "!!null": "nothing", "!!timestamp": "a date"}
	return cmp.Or(words[n.ShortTag()], "the tag "+n.ShortTag())
}
