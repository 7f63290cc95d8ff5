package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// An Error is one mistake in a configuration file.
type Error struct {
	Path    string   // the file, as the caller of Load named it
	Line    int      // from 1; always a line of the file
	Column  int      // from 1, in characters
	Problem string   // what is wrong, one line
	Near    []string // names that may have been meant, nearest first, at most three
	Try     string   // what to write or type next; may be empty
}

// Error returns path:line:column, the problem, and the names that may have been meant.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Problem)
	if len(e.Near) > 0 {
		text += "; did you mean " + or(e.Near) + "?"
	}
	return text
}

// Errors are all the problems of one file, at least one, in the order of the file.
// errors.AsType[*Error] returns the first.
type Errors []*Error

// Error returns a line for each problem.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// sort puts the problems into the order of the file.
func (es Errors) sort() {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
}

// Unwrap returns the problems as separate errors.
func (es Errors) Unwrap() []error {
	list := make([]error, len(es))
	for i, e := range es {
		list[i] = e
	}
	return list
}

// wrong makes an Error from a problem and a suggestion. The caller adds the place.
func wrong(try, format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Try: try}
}

// unlike makes an Error about an unknown word; it names the nearest known words.
func unlike(word string, known []string, format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Near: dropbox.Nearest(word, known)}
}

// oneOf returns what is wrong with a string that is not one of the words.
func oneOf(s string, words []string) *Error {
	if slices.Contains(words, s) {
		return nil
	}
	return unlike(s, words, "%q is not one of %s", s, or(words))
}

// or joins names as a person would: a, b or c.
func or(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// oneLine puts a text on one line and shortens it. The text may quote a value that has
// line breaks or is wider than a terminal.
func oneLine(s string, most int) string {
	shown := []rune(strings.TrimSpace(strings.Map(func(c rune) rune {
		if !unicode.IsPrint(c) {
			return ' '
		}
		return c
	}, s)))
	if len(shown) > most {
		shown = append(shown[:most], '…')
	}
	return string(shown)
}
