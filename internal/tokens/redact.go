package tokens

import (
	"bytes"
	"maps"
	"slices"
	"strings"
)

// shortest is the minimum length of a value to replace, in bytes, because a shorter value
// might occur in ordinary text. A token is 26 bytes long.
const shortest = 8

// A Redactor replaces secrets in text with readable marks. A nil Redactor replaces
// nothing. A Redactor is immutable, so it is safe for concurrent use.
type Redactor struct {
	first    [256]bool           // the first bytes of the secrets
	heads    map[string][]string // the secrets, by their first 8 bytes
	replacer *strings.Replacer
}

// NewRedactor creates a Redactor for tokens, given by name: the token of coder becomes
// "[token of coder]".
func NewRedactor(tokens map[string]string) *Redactor {
	marks := make(map[string]string, len(tokens))
	for name, value := range tokens {
		marks[value] = "[token of " + name + "]"
	}
	return NewMarks(marks)
}

// NewMarks creates a Redactor that replaces values with their marks.
func NewMarks(marks map[string]string) *Redactor {
	r := &Redactor{heads: map[string][]string{}}
	var pairs []string
	// The replacer uses the first value that matches. If one value is a prefix of
	// another, the longer value comes first, so that no part of it remains in the text.
	for _, value := range slices.Backward(slices.Sorted(maps.Keys(marks))) {
		if len(value) >= shortest {
			r.first[value[0]] = true
			r.heads[value[:shortest]] = append(r.heads[value[:shortest]], value)
			pairs = append(pairs, value, marks[value])
		}
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// In reports whether text contains a secret. Its running time does not depend on the
// number of secrets; a daemon has one for each agent.
func (r *Redactor) In(text []byte) bool {
	if r == nil {
		return false
	}
	for i := 0; i+shortest <= len(text); i++ {
		if !r.first[text[i]] {
			continue
		}
		for _, value := range r.heads[string(text[i:i+shortest])] {
			if bytes.HasPrefix(text[i:], []byte(value)) {
				return true
			}
		}
	}
	return false
}

// Text returns the text with the secrets replaced.
func (r *Redactor) Text(s string) string {
	if !r.In([]byte(s)) {
		return s
	}
	return r.replacer.Replace(s)
}

// Bytes is like [Redactor.Text], but for a byte slice. If it replaces nothing, it returns
// the same slice.
func (r *Redactor) Bytes(b []byte) []byte {
	if !r.In(b) {
		return b
	}
	return []byte(r.replacer.Replace(string(b)))
}
