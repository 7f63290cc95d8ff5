package config

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"
)

// A field is one key of a struct. The tags of the struct's field tell all of it:
//
//	key      its name in the file
//	is       what a text must be: names of rules, see rules.go. And how it is read: raw is
//	         not trimmed and may have several lines, empty may be empty, any may be a number
//	         too, once leaves out what a list has already, removable goes away where it is
//	         null, later waits until the rest is known
//	type     what may be written, as the reference says it: words with | between them are all
//	         that there are, and null and auto stand for the zero value
//	of       the words that a list may have
//	least    the least number, 1 where it is missing
//	most     the largest number
//	zero     what 0 does, where it may be less than the least
//	split    how a text becomes a list, see words.go
//	like     what to write where a text stands in place of keys
//	default  the value where nothing is written, as YAML; of a struct it is for the reference
//	         alone, since its fields have theirs
//	doc      what the key does, with its unit and bounds: the last, and only of keys of the
//	         reference
type field struct {
	key, what, zero, split, like, standard string

	index       int      // in the struct
	is          []string // names of rules, and the words above
	words       []string // one of which a text must be
	least, most int
	null, auto  bool
	told        bool // in the reference
}

// has tells whether the tag is has a word.
func (f *field) has(word string) bool { return slices.Contains(f.is, word) }

// kinds are what may be written where no tag tells.
var kinds = map[reflect.Kind]string{
	reflect.String: "text", reflect.Int: "number", reflect.Int64: "time span", reflect.Bool: "true or false",
	reflect.Slice: "list", reflect.Pointer: "list", reflect.Map: "keys with values", reflect.Struct: "keys with values",
}

// known are the fields of the structs, by type: tags are read once.
var known sync.Map

// fieldsOf are the keys of a struct, in their order.
func fieldsOf(t reflect.Type) (all []field) {
	if all, ok := known.Load(t); ok {
		return all.([]field)
	}
	for i := range t.NumField() {
		f := field{index: i, what: kinds[t.Field(i).Type.Kind()], least: 1, most: math.MaxInt32}
		// Every send reads the tags: in one pass it takes a quarter of the time of Tag.Get.
		head, _, told := strings.Cut(string(t.Field(i).Tag), " doc:")
		for tag := range strings.SplitSeq(head, "\" ") {
			name, value, _ := strings.Cut(tag, ":\"")
			value = strings.TrimSuffix(value, "\"")
			switch name {
			case "key":
				f.key = value
			case "is":
				f.is = strings.Split(value, ",")
			case "type":
				f.what = value
			case "of":
				f.words = strings.Split(value, " | ")
			case "least":
				f.least, _ = strconv.Atoi(value)
			case "most":
				f.most, _ = strconv.Atoi(value)
			case "zero":
				f.zero = value
			case "split":
				f.split = value
			case "like":
				f.like = value
			case "default":
				f.standard = strings.ReplaceAll(value, `\"`, `"`)
			}
		}
		if f.key == "" {
			continue
		}
		f.told, f.null, f.auto = told, strings.HasSuffix(f.what, "null"), strings.HasSuffix(f.what, "auto")
		if strings.Contains(f.what, " | ") {
			f.words = strings.Split(strings.TrimSuffix(f.what, " | null"), " | ")
		}
		all = append(all, f)
	}
	known.Store(t, all)
	return all
}

// keysOf are the names of the keys of a struct.
func keysOf(t reflect.Type) (names []string) {
	for _, f := range fieldsOf(t) {
		names = append(names, f.key)
	}
	return names
}

// standard sets what holds where nothing is written.
func standard(v reflect.Value) {
	for _, f := range fieldsOf(v.Type()) {
		to := v.Field(f.index)
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

// standardOf makes a struct in which nothing is written, once.
func standardOf[T any]() func() T {
	return sync.OnceValue(func() (v T) { standard(reflect.ValueOf(&v).Elem()); return v })
}

var (
	fileType, agentType         = reflect.TypeFor[File](), reflect.TypeFor[Agent]()
	standardFile, standardAgent = standardOf[File](), standardOf[Agent]()
)

// A Key is one line of the reference: docs/configuration.md is made of these.
type Key struct {
	// Path is where the key stands: "debounce", "log.max_size_mb",
	// "agents.NAME.role". What stands at agents.NAME may stand under defaults
	// as well.
	Path string
	// Type is what may be written, in words: "text", "time span", "true or
	// false", or the words themselves, separated by |.
	Type string
	// Default is the value of a key that is not written, as YAML.
	Default string
	// Doc says what the key does, with its unit and bounds.
	Doc string
}

// Keys is the reference of every key, in the order of the documentation.
func Keys() []Key { return reference("", fileType) }

// reference is every key of a struct, and of those in it.
func reference(path string, t reflect.Type) (keys []Key) {
	nothing := map[string]string{"text": `""`, "number": "0", "time span": "0s", "true or false": "false", "list": "[]", "names with keys": "{}", "keys with values": "{}"}
	for _, f := range fieldsOf(t) {
		switch doc, written := t.Field(f.index).Tag.Lookup("doc"); {
		case written:
			keys = append(keys, Key{path + f.key, f.what, cmp.Or(f.standard, nothing[f.what], "null"), doc})
		case f.key == "agents":
			keys = append(keys, reference("agents.NAME.", agentType)...)
		case !f.has("later"):
			keys = append(keys, reference(path+f.key+".", t.Field(f.index).Type)...)
		}
	}
	return keys
}
