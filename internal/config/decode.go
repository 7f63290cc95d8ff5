package config

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
)

var (
	fileType, agentType         = reflect.TypeFor[File](), reflect.TypeFor[Agent]()
	standardFile, standardAgent = standardOf[File](), standardOf[Agent]()
)

// A checker is a struct that needs checks which the tags of its fields cannot express. ok
// is false if one of its fields has a problem. The checks of a type from another package are
// methods of the reader; see [reader.keys].
type checker interface {
	check(r *reader, path string, ok bool)
}

// keys reads the keys of a struct.
func (r *reader) keys(n *yaml.Node, path string, v reflect.Value) {
	before, fields, written := len(r.errs), fieldsOf(v.Type()), make(map[*field]*yaml.Node)
	r.each(n, path, func(key string, k, n *yaml.Node) {
		if i := slices.IndexFunc(fields, func(f field) bool { return key == f.key || f.also != "" && key == f.also }); i >= 0 {
			f, at := &fields[i], below(path, fields[i].key)
			if first, twice := written[f]; twice {
				r.report(k, "", wrong("", "%s is another name for %s, which is at line %d", f.also, f.key, first.Line))
				return
			}
			written[f], r.at[at] = k, entry{k, n}
			r.value(n, at, f, v.FieldByIndex(f.index))
		} else {
			r.unknown(k, path, key, v.Type())
		}
	})
	switch ok := len(r.errs) == before; s := v.Addr().Interface().(type) {
	case checker:
		s.check(r, path, ok)
	case *runner.Server:
		r.server(s, path, ok)
	case *verify.Settings:
		r.verifier(s, path, ok)
	case *budget.Cap:
		r.cap(s, path, ok)
	case *swarm.TopicRule:
		r.topicRule(s, path, ok)
	}
}

// foreign maps keys that other agent runners use to the corresponding keys of this
// program.
var foreign = map[string]string{"agent": "backend", "directory": "cwd"}

// unknown reports a key that is not allowed where it appears: a key that belongs elsewhere in
// the file, or an unknown word.
func (r *reader) unknown(k *yaml.Node, path, key string, t reflect.Type) {
	e, here := wrong("", "unknown key %q", key), keysOf(t)
	switch {
	case path == "irc" && strings.HasSuffix(key, "password"):
		e = wrong(key+"_file: FILE, or "+key+"_env: NAME", "irc.%s: a password does not belong in this file", key)
	case t == fileType && slices.Contains(keysOf(agentType), key):
		e.Problem += " here; it belongs under an agent or under defaults"
	case t == agentType && slices.Contains(keysOf(fileType), key):
		e.Problem += " here; it belongs at the top level"
	default:
		if meant, ok := foreign[key]; ok && slices.Contains(here, meant) {
			e.Near = []string{meant}
		} else if e.Near = dropbox.Nearest(key, here); len(e.Near) == 0 {
			e.Try = "known here: " + strings.Join(here, ", ")
		}
	}
	r.report(k, "", e)
}

// value reads the value of one key into v. After a problem, v may be incomplete, but then
// [Parse] returns no File.
func (r *reader) value(n *yaml.Node, path string, f *field, v reflect.Value) {
	switch n = follow(n); {
	case f.has("later"):
	case f.null && isNull(n), f.auto && n.Value == "auto":
		v.SetZero()
	case f.short != "":
		v.SetZero() // a cap completely replaces the one in defaults
		r.short(n, path, f, v)
	case v.Kind() == reflect.Struct && n.Kind != yaml.MappingNode && !isNull(n):
		r.report(n, path, wrong(f.example("its keys: ", v.Type()), "want keys with values, got %s", kind(n)))
	case v.Kind() == reflect.Struct:
		r.keys(n, path, v)
	case f.has("added"):
		before := v.Interface().([]string)
		if v.SetZero(); r.list(n, path, f, v) {
			v.Set(reflect.ValueOf(slices.Concat(v.Interface().([]string), before)))
		}
	case v.Kind() == reflect.Map:
		r.names(n, path, f, v)
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Struct:
		r.structs(n, path, f, v)
	case v.Kind() == reflect.Slice:
		r.list(n, path, f, v)
	case v.Kind() == reflect.Pointer:
		if list := reflect.New(v.Type().Elem()); r.list(n, path, f, list.Elem()) {
			v.Set(list)
		}
	default:
		r.report(n, path, r.scalar(n, f, v))
	}
}

// short reads a struct that the file may abbreviate to the value of one of its keys.
func (r *reader) short(n *yaml.Node, path string, f *field, v reflect.Value) {
	switch n.Kind {
	case yaml.MappingNode:
		r.keys(n, path, v)
		return
	case yaml.SequenceNode:
		r.report(n, path, wrong("", "want %s, got a list", strings.Replace(f.what, ", keys with values, or null", " or keys with values", 1)))
		return
	}
	for _, one := range fieldsOf(v.Type()) {
		if one.key == f.short {
			r.report(n, path, r.scalar(n, &one, v.FieldByIndex(one.index)))
		}
	}
}

// scalar reads a string, a number, a time span or a boolean.
func (r *reader) scalar(n *yaml.Node, f *field, v reflect.Value) *Error {
	switch {
	case v.Kind() == reflect.String:
		s, e := r.text(n, f, f.has("raw"))
		if e != nil {
			return e
		}
		v.SetString(s)
	case v.Type() == reflect.TypeFor[time.Duration]():
		d, e := f.span(n)
		if e != nil {
			return e
		}
		v.SetInt(int64(d))
	case v.Kind() == reflect.Float64:
		x, e := f.fraction(n)
		if e != nil {
			return e
		}
		v.SetFloat(x)
	default:
		read := reflect.New(v.Type())
		// Go and YAML use the same names for int and bool.
		if n.ShortTag() != "!!"+v.Kind().String() || n.Decode(read.Interface()) != nil {
			got := n.Value
			if got == "" || isNull(n) {
				got = kind(n)
			}
			return wrong("", "want %s, got %s", strings.Replace(f.what, "number", "a whole number", 1), got)
		}
		if e := f.bounds(read.Elem()); e != nil {
			return e
		}
		v.Set(read.Elem())
	}
	return nil
}

// bounds returns an Error about a number that is outside its bounds.
func (f *field) bounds(v reflect.Value) *Error {
	or := ""
	if f.zero != "" {
		or = ", or 0 " + f.zero
	}
	if !v.CanInt() {
		return nil
	}
	switch i := int(v.Int()); {
	case i < f.least && (i != 0 || f.zero == ""):
		return wrong("", "%d is too small; the minimum is %d%s", i, f.least, or)
	case i > f.most:
		return wrong("", "%d is too large; the maximum is %d%s", i, f.most, or)
	}
	return nil
}

// fraction reads a number that may have decimals.
func (f *field) fraction(n *yaml.Node) (x float64, e *Error) {
	tag := n.ShortTag()
	if tag != "!!int" && tag != "!!float" || n.Decode(&x) != nil || math.IsNaN(x) || math.IsInf(x, 0) {
		got := n.Value
		if got == "" || isNull(n) || n.Kind != yaml.ScalarNode {
			got = kind(n)
		}
		return 0, wrong("", "want %s, such as 0.5, got %s", strings.Replace(strings.TrimSuffix(f.what, " or null"), "number", "a number", 1), got)
	}
	switch {
	case x < f.low:
		return 0, wrong("", "%s is too small; the minimum is %v", n.Value, f.low)
	case x > f.high:
		return 0, wrong("", "%s is too large; the maximum is %s", n.Value, strconv.FormatFloat(f.high, 'f', -1, 64))
	}
	return x, nil
}

// span reads a time span; see [ParseSpan].
func (f *field) span(n *yaml.Node) (time.Duration, *Error) {
	if f.has("switch") && n.ShortTag() == "!!bool" {
		on := false
		if err := n.Decode(&on); err != nil || !on {
			return 0, nil
		}
		return HeartbeatAfter, nil
	}
	if n.Kind != yaml.ScalarNode || isNull(n) {
		return 0, wrong("", "want a time span such as 30s, got %s", kind(n))
	}
	d, err := ParseSpan(n.Value)
	if bad, ok := errors.AsType[*SpanError](err); ok {
		return 0, wrong(f.key+": "+bad.Try, "%v", bad)
	}
	if d == 0 && f.zero == "" {
		return 0, wrong("", "must be longer than 0")
	}
	return d, nil
}

// text reads a string. It refuses numbers, dates and true, because `model: 4` probably does
// not mean the string "4". Unless the field is raw, the string must not contain line
// breaks, because it becomes part of a line.
func (r *reader) text(n *yaml.Node, f *field, raw bool) (s string, e *Error) {
	switch s = n.Value; {
	case f.has("any") && n.Kind == yaml.ScalarNode && !isNull(n):
		return s, nil
	case isNull(n) && (f.has("channel") || f.has("shown")):
		return "", wrong(`"#general", or general`, "want the name of a channel, got nothing; # begins a comment")
	case n.Kind != yaml.ScalarNode || isNull(n):
		return "", wrong("", "want text, got %s", kind(n))
	case n.ShortTag() != "!!str":
		return "", wrong(f.key+`: "`+s+`"`, "want text, got %s", kind(n))
	case f.words != nil:
		return s, oneOf(s, f.words)
	case !raw:
		s = strings.TrimSpace(s)
		if strings.ContainsFunc(s, unicode.IsControl) {
			return "", wrong("", "must be one line")
		} else if s == "" && strings.HasSuffix(f.what, "list") {
			return "", wrong("", "an entry is empty")
		} else if s == "" && !f.has("empty") {
			return "", wrong("", "is empty")
		}
	}
	return r.ruled(f, s)
}

// ruled applies the rules of a field to a string.
func (r *reader) ruled(f *field, s string) (_ string, e *Error) {
	for _, name := range f.is {
		if rule := rules[name]; rule != nil && e == nil {
			s, e = rule(r, s)
		}
	}
	return s, e
}

// list reads a list of strings, or one string that can be split into a list. An empty value
// is an empty list. list returns false if it has reported a problem.
func (r *reader) list(n *yaml.Node, path string, f *field, v reflect.Value) bool {
	items, split, before := n.Content, splitters[f.split], len(r.errs)
	switch one := n.Kind == yaml.ScalarNode && !isNull(n); {
	case one && split != nil, isNull(n) && f.split == "words":
		items = []*yaml.Node{n}
	case n.Kind == yaml.SequenceNode && f.split == "words":
		split = nil // the words become the entries of the list
	case n.Kind != yaml.SequenceNode && (f.has("any") || !isNull(n)):
		e := wrong("", "want %s, got %s", strings.Replace(f.what, "list", "a list", 1), kind(n))
		if one {
			e.Try = f.key + ": [" + n.Value + "]"
		}
		return r.report(n, path, e)
	}
	var values []string
	for _, item := range items {
		item = follow(item)
		s, e := r.text(item, f, f.has("raw") && split != nil)
		parts := []string{s}
		if e == nil && split != nil {
			parts, e = split(s)
		}
		if r.report(item, path, e) && !(f.has("once") && slices.Contains(values, s)) {
			values = append(values, parts...)
		}
	}
	if f.split == "words" && len(r.errs) == before { // only for a command
		if len(values) == 0 || values[0] == "" {
			return r.report(n, path, wrong("", "is empty"))
		}
		var e *Error
		values[0], e = program(r, values[0])
		r.report(n, path, e)
	}
	if len(r.errs) > before {
		return false
	}
	v.Set(reflect.ValueOf(values))
	return true
}

// example suggests what to write in place of a value of the wrong kind: the field's
// example, or the given words followed by the names of the keys of t.
func (f *field) example(words string, t reflect.Type) string {
	if f.like != "" {
		return f.key + ": " + f.like
	}
	return words + strings.Join(keysOf(t), ", ")
}

// structs reads a list of structs.
func (r *reader) structs(n *yaml.Node, path string, f *field, v reflect.Value) {
	if n.Kind != yaml.SequenceNode && !isNull(n) {
		r.report(n, path, wrong(f.example("the keys of an entry: ", v.Type().Elem()), "want a list, got %s", kind(n)))
		return
	}
	v.SetZero()
	for i, item := range n.Content {
		v.Set(reflect.Append(v, reflect.Zero(v.Type().Elem())))
		at := fmt.Sprintf("%s[%d]", path, i)
		if item = follow(item); item.Kind != yaml.MappingNode {
			r.report(item, path, wrong("", "want keys with values, got %s", kind(item)))
			continue
		}
		r.at[at] = entry{item, item}
		r.keys(item, at, v.Index(i))
	}
}

// names reads a mapping of names to values, and adds them to the map in v.
func (r *reader) names(n *yaml.Node, path string, f *field, v reflect.Value) {
	old := reflect.ValueOf(v.Interface())
	v.Set(reflect.MakeMap(v.Type())) // copied, because the old map may belong to defaults
	for _, name := range old.MapKeys() {
		v.SetMapIndex(name, old.MapIndex(name))
	}
	r.each(n, path, func(name string, k, n *yaml.Node) {
		at, one := below(path, name), reflect.New(v.Type().Elem()).Elem()
		if _, e := r.ruled(f, name); !r.report(k, path, e) {
			return
		}
		switch {
		case f.has("removable") && isNull(n):
			one = reflect.Value{}
		case one.Kind() == reflect.Interface:
			value, e := plain(n)
			if r.report(n, at, e) && value != nil {
				one.Set(reflect.ValueOf(value))
			}
		case one.Kind() == reflect.String:
			r.report(n, at, f.pair(name, n))
			one.SetString(n.Value)
		case f.like != "" && n.Kind == yaml.ScalarNode:
			r.report(n, at, wrong(fmt.Sprintf(f.like, n.Value), "want keys with values, got %s", kind(n)))
		default:
			standard(one)
			r.keys(n, at, one)
		}
		v.SetMapIndex(reflect.ValueOf(name), one)
	})
	if v.Len() == 0 {
		v.SetZero()
	}
}

// pair returns an Error if the value of a name is not valid. The value is used as
// written, so PORT: 8080 and DEBUG: true need no quotes.
func (f *field) pair(name string, n *yaml.Node) *Error {
	switch {
	case isNull(n):
		return wrong(name+`: ""`, "has no value")
	case n.Kind != yaml.ScalarNode:
		return wrong("", "want text, got %s", kind(n))
	case strings.ContainsRune(n.Value, 0):
		return wrong("", "a value cannot contain a NUL character")
	case f.has("header") && strings.ContainsAny(n.Value, "\r\n"):
		return wrong("", "must be one line")
	}
	return nil
}

// standard sets every key to its default.
func standard(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		to := v.FieldByIndex(f.index)
		if to.Kind() == reflect.Struct && !f.has("later") {
			standard(to)
		} else if f.standard != "" {
			n := &yaml.Node{Kind: yaml.ScalarNode, Value: strings.Trim(f.standard, `"`)}
			if list, ok := strings.CutPrefix(f.standard, "["); ok {
				n.Kind = yaml.SequenceNode
				for _, word := range strings.Split(strings.TrimSuffix(list, "]"), ", ") {
					n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Value: word})
				}
			}
			(&reader{}).value(n, f.key, &f, to)
		}
	}
}

// standardOf returns a function that returns a struct in which every key has its default.
// The defaults are read only once.
func standardOf[T any]() func() T {
	return sync.OnceValue(func() (v T) { standard(reflect.ValueOf(&v).Elem()); return v })
}
