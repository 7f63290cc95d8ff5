package tokens

import (
	"bytes"
	"strings"
)

// shortest is the smallest length of a replaced value, in bytes: a shorter value might
// occur in ordinary text. Tokens have 26 bytes.
const shortest = 8

// A Redactor replaces each secret in a text with a readable mark. A nil Redactor replaces
// nothing. A Redactor never changes, so it is safe for concurrent use.
type Redactor struct {
	values   []string
	replacer *strings.Replacer
}

// NewRedactor makes a Redactor for tokens by name: the token of coder becomes
// "[token of coder]".
func NewRedactor(tokens map[string]string) *Redactor {
	marks := make(map[string]string, len(tokens))
	for name, value := range tokens {
		marks[value] = "[token of " + name + "]"
	}
	return NewMarks(marks)
}

// NewMarks makes a Redactor that replaces values with their marks.
func NewMarks(marks map[string]string) *Redactor {
	r := new(Redactor)
	var pairs []string
	for value, mark := range marks {
		if len(value) >= shortest {
			r.values = append(r.values, value)
			pairs = append(pairs, value, mark)
		}
	}
	r.replacer = strings.NewReplacer(pairs...)
	return r
}

// In reports whether a text contains a secret. It searches once for each secret, which
// takes far less time than writing the text does.
func (r *Redactor) In(text []byte) bool {
	if r == nil {
		return false
	}
	for _, v := range r.values {
		if bytes.Contains(text, []byte(v)) {
			return true
		}
	}
	return false
}

// Text returns the text with the secrets replaced.
func (r *Redactor) Text(s string) string {
	if r == nil {
		return s
	}
	for _, v := range r.values {
		if strings.Contains(s, v) {
			return r.replacer.Replace(s)
		}
	}
	return s
}

// Bytes is [Redactor.Text] for bytes. If it replaces nothing, it returns the same slice.
func (r *Redactor) Bytes(b []byte) []byte {
	if !r.In(b) {
		return b
	}
	return []byte(r.replacer.Replace(string(b)))
}
