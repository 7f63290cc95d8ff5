package config

import (
	"cmp"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A field is one key of a struct. The struct is the type that uses the setting, often in
// another package. The tags of the struct's field describe the key:
//
//	key      its name in the file; ",inline" means a struct whose keys belong to the struct
//	         around it, as those of an embedded struct without a key do
//	also     another name of it
//	is       names of rules for a text, see rules.go, and words that say how to read
//	         the value. A raw text is not trimmed and may have several lines; empty allows the
//	         empty text; any also allows a number; once drops repeated values of a list;
//	         added puts a list before that of defaults; removable drops a name whose value
//	         is null; switch also allows true and false; later waits until the rest of the
//	         file is known; absent hides the zero value
//	type     the allowed values, as the reference shows them: if words are
//	         separated by |, no others are allowed; null and auto stand for the zero value
//	of       the allowed words of a list
//	least    the least number; the default is 1, or 0 for a number with decimals
//	most     the largest number
//	short    the key of a struct that may be written without its name: day: 8 is day: {usd: 8}
//	zero     the meaning of 0, if 0 is allowed although it is less than the least
//	split    how a text becomes a list, see words.go
//	like     what to write if the file has something other than keys; %s is the text in the file
//	from     takes type and default from the kinds of clients, see kinds.go
//	default  the value of a key that the file does not set, as YAML; a struct's default is
//	         only for the reference, since its fields have defaults themselves
//	doc      what the key does, with its unit and bounds: the last tag, and only for keys of
//	         the reference
type field struct {
	key, also, what, zero, split, like, short, standard string

	index       []int    // the index in the struct, through the structs whose keys belong to it
	is          []string // the names of rules, and the words listed above
	words       []string // the allowed values of a string
	least, most int
	low, high   float64 // the bounds of a number that may have decimals
	null, auto  bool
	told        bool // whether the key is in the reference
}

// has reports whether the tag "is" contains a word.
func (f *field) has(word string) bool { return slices.Contains(f.is, word) }

// kinds describes the values that a field without a type tag accepts.
var kinds = map[reflect.Kind]string{
	reflect.String: "text", reflect.Int: "number", reflect.Int64: "time span", reflect.Float64: "number", reflect.Bool: "true or false",
	reflect.Slice: "list", reflect.Pointer: "list", reflect.Map: "keys with values", reflect.Struct: "keys with values",
}

// inline is the key tag of a struct whose keys belong to the struct around it.
const inline = ",inline"

// known contains the fields of each struct type, so that the tags are read only once.
var known sync.Map

// fieldsOf returns the keys of a struct, in the order of the struct's fields. Those of an
// agent are in the order of agentKeys.
func fieldsOf(t reflect.Type) []field {
	if all, ok := known.Load(t); ok {
		return all.([]field)
	}
	all := fieldsIn(t, nil)
	if t == agentType {
		slices.SortStableFunc(all, func(a, b field) int { return cmp.Compare(agentPlace(a.key), agentPlace(b.key)) })
	}
	known.Store(t, all)
	return all
}

// fieldsIn returns the keys of a struct whose index in the outermost struct is outer.
func fieldsIn(t reflect.Type, outer []int) (all []field) {
	for i := range t.NumField() {
		f, index := t.Field(i), append(slices.Clone(outer), i)
		switch key := f.Tag.Get("key"); {
		case key == inline, key == "" && f.Anonymous:
			all = append(all, fieldsIn(f.Type, index)...)
		case key != "":
			all = append(all, fieldOf(f, index))
		}
	}
	return all
}

// fieldOf reads the tags of one key.
func fieldOf(declared reflect.StructField, index []int) field {
	number := func(text string, otherwise int) int {
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
		return otherwise
	}
	tag := declared.Tag
	f := field{
		key: tag.Get("key"), also: tag.Get("also"), what: cmp.Or(tag.Get("type"), kinds[declared.Type.Kind()]), zero: tag.Get("zero"),
		split: tag.Get("split"), like: tag.Get("like"), short: tag.Get("short"), standard: tag.Get("default"), index: index,
		least: number(tag.Get("least"), 1), most: number(tag.Get("most"), math.MaxInt32),
	}
	f.low, f.high = decimal(tag.Get("least"), 0), decimal(tag.Get("most"), math.MaxFloat64)
	if is := tag.Get("is"); is != "" {
		f.is = strings.Split(is, ",")
	}
	if from := tag.Get("from"); from != "" {
		what, standard := kindsSay(from)
		f.what, f.standard = cmp.Or(what, f.what), standard
	}
	_, f.told = tag.Lookup("doc")
	f.null, f.auto = strings.HasSuffix(f.what, "null"), strings.HasSuffix(f.what, "auto")
	if words := cmp.Or(tag.Get("of"), f.what); strings.Contains(words, " | ") && tag.Get("from") == "" {
		f.words = strings.Split(strings.TrimSuffix(words, " | null"), " | ")
	}
	return f
}

// decimal returns the number in a tag, or otherwise if the tag is empty.
func decimal(text string, otherwise float64) float64 {
	if x, err := strconv.ParseFloat(text, 64); err == nil {
		return x
	}
	return otherwise
}

// keysOf returns the names of the keys of a struct.
func keysOf(t reflect.Type) (names []string) {
	for _, f := range fieldsOf(t) {
		names = append(names, f.key)
	}
	return names
}
