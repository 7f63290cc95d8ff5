package provision

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
)

// indented returns a value as indented JSON.
func indented(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		panic(err) // cannot happen, because all our values can be encoded
	}
	return b.String()
}

// compact returns a value as JSON on one line.
func compact(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSpace(b.String())
}

// A jsonStep leads from a JSON object to one of its members.
type jsonStep struct {
	key  string
	list bool // the member is a list, not an object
}

// placeJSON returns the inserts that add a value to JSON data, in the object or list to
// which the steps lead. They also create the missing objects and lists. All other bytes
// remain unchanged. name is the value's key, or "" in a list.
func placeJSON(data []byte, steps []jsonStep, name string, value any) ([]insert, error) {
	if !json.Valid(data) {
		return nil, errors.New("it is not JSON, so nothing can be added to it")
	}
	at, empty, err := openingOf(data, nil)
	if err != nil {
		return nil, err
	}
	var path []string
	for len(steps) > 0 {
		deeper, none, err := openingOf(data, append(path, steps[0].key))
		if errors.Is(err, errNoMember) {
			break
		} else if err != nil {
			return nil, err
		}
		if list := data[deeper-1] == '['; list != steps[0].list {
			return nil, fmt.Errorf("%s does not have the form that the client expects there", steps[0].key)
		}
		path, at, empty, steps = append(path, steps[0].key), deeper, none, steps[1:]
	}
	var b strings.Builder
	closing := ""
	for _, st := range steps {
		b.WriteString(compact(st.key) + ": ")
		if st.list {
			b.WriteString("[")
			closing = "]" + closing
		} else {
			b.WriteString("{")
			closing = "}" + closing
		}
	}
	if name != "" {
		if len(steps) == 0 && hasMember(data, append(path, name)) {
			return nil, fmt.Errorf("%s already exists and was not created by claude-swarm", name)
		}
		b.WriteString(compact(name) + ": ")
	}
	b.WriteString(compact(value) + closing)
	if !empty {
		b.WriteString(",")
	}
	return []insert{{at, b.String()}}, nil
}

var (
	errNoMember = errors.New("no such member")
	errNoPlace  = errors.New("neither an object nor a list")
)

func hasMember(data []byte, path []string) bool {
	_, _, err := openingOf(data, path)
	return !errors.Is(err, errNoMember)
}

// openingOf returns the offset just after the bracket that opens the value at a path of
// keys, and whether the value is empty.
func openingOf(data []byte, path []string) (at int, empty bool, err error) {
	dec := json.NewDecoder(bytes.NewReader(data))
	depth := 0
	for {
		t, err := dec.Token()
		if errors.Is(err, io.EOF) {
			return 0, false, errNoMember
		} else if err != nil {
			return 0, false, err
		}
		d, isDelim := t.(json.Delim)
		if depth == len(path) {
			if !isDelim || d != '{' && d != '[' {
				return 0, false, errNoPlace
			}
			return int(dec.InputOffset()), !dec.More(), nil
		}
		if d != '{' {
			return 0, false, errNoPlace
		}
		for {
			key, err := dec.Token()
			if err != nil {
				return 0, false, err
			}
			if key == json.Delim('}') {
				return 0, false, errNoMember
			}
			if key == path[depth] {
				break
			}
			var skip json.RawMessage
			if err := dec.Decode(&skip); err != nil {
				return 0, false, err
			}
		}
		depth++
	}
}
