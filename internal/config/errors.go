package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// An Error describes one mistake in a configuration file.
type Error struct {
	Path    string   // the path of the file, as the caller of Load specified it
	Line    int      // counted from 1; always a line of the file
	Column  int      // counted from 1, in characters
	Problem string   // what is wrong, in one line
	Near    []string // names that the author may have meant, best match first, at most three
	Try     string   // what to write instead, or what to do next; may be empty
}

// Error returns path:line:column, the problem, and the names that the author may have
// meant.
func (e *Error) Error() string {
	text := fmt.Sprintf("%s:%d:%d: %s", e.Path, e.Line, e.Column, e.Problem)
	if len(e.Near) > 0 {
		text += "; did you mean " + or(e.Near) + "?"
	}
	return text
}

// Errors contains all problems in one file, at least one, in the order of the file.
// errors.AsType[*Error] returns the first problem.
type Errors []*Error

// Error returns a string with one line for each problem.
func (es Errors) Error() string {
	lines := make([]string, len(es))
	for i, e := range es {
		lines[i] = e.Error()
	}
	return strings.Join(lines, "\n")
}

// sort sorts the problems by their position in the file.
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

// wrong makes an Error from a problem and a suggestion. The caller adds the position in
// the file.
func wrong(try, format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Try: try}
}

// unlike makes an Error about an unknown word. The Error names the nearest known words.
func unlike(word string, known []string, format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Near: dropbox.Nearest(word, known)}
}

// oneOf returns an Error if a string is not one of the words.
func oneOf(s string, words []string) *Error {
	if slices.Contains(words, s) {
		return nil
	}
	return unlike(s, words, "%q is not one of %s", s, or(words))
}

// or joins names into an English list: a, b or c.
func or(names []string) string {
	last := len(names) - 1
	if last < 1 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:last], ", ") + " or " + names[last]
}

// oneLine puts a string on one line and shortens it, because the string may quote a value
// that has line breaks or is wider than a terminal.
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
