package irc

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// Mentions reports whether text addresses nick. The text must contain the nick, in any
// spelling that c treats as equal, without another nick character on either side. An @
// before it and a colon or comma after it are allowed. A nick in a URL, a path, an
// email address or a channel name does not count.
//
// The caller must decide which lines to check. Its own lines, notices and lines from bots
// should not wake an agent. Otherwise two agents could answer each other endlessly.
func Mentions(text, nick string, c CaseMapping) bool {
	start, _ := FindMention(text, nick, c)
	return start >= 0
}

// FindMention returns the byte offsets at which the first mention of nick begins and
// ends; both are -1 if there is no mention. The mention includes its @ and the colon or
// comma after it.
func FindMention(text, nick string, c CaseMapping) (start, end int) {
	if nick == "" {
		return -1, -1
	}
	folded, want := c.Fold(text), c.Fold(nick) // folding does not change the length
	for from := 0; ; {
		i := strings.Index(folded[from:], want)
		if i < 0 {
			return -1, -1
		}
		i += from
		j := i + len(want)
		from = i + 1
		if !standsAlone(text, i, j) || inAddress(text, i) {
			continue
		}
		if i > 0 && text[i-1] == '@' {
			i--
		}
		if j < len(text) && (text[j] == ':' || text[j] == ',') {
			j++
		}
		return i, j
	}
}

// standsAlone reports whether text[i:j] has a word boundary on both sides.
func standsAlone(text string, i, j int) bool {
	before, size := utf8.DecodeLastRuneInString(text[:i])
	if before == '@' {
		before, _ = utf8.DecodeLastRuneInString(text[:i-size])
	}
	after, size := utf8.DecodeRuneInString(text[j:])
	if isNickRune(before) || isNickRune(after) || strings.ContainsRune("/#&.@", before) || after == '/' || after == '@' {
		return false
	}
	if after == '.' { // ann.go is a file; "ask ann." is the end of a sentence
		next, _ := utf8.DecodeRuneInString(text[j+size:])
		return !isNickRune(next)
	}
	return true
}

// inAddress reports whether the word around i starts like a URL, a mailto link or a
// path.
func inAddress(text string, i int) bool {
	begin := strings.LastIndexFunc(text[:i], unicode.IsSpace) + 1
	word := strings.TrimLeft(text[begin:i], `("'<`)
	return strings.Contains(word, "://") || strings.HasPrefix(word, "/") ||
		strings.HasPrefix(word, "./") || strings.HasPrefix(word, "../") || strings.HasPrefix(word, "~/") ||
		strings.HasPrefix(word, "www.") || strings.HasPrefix(word, "mailto:")
}

// isNickRune reports whether a nick can contain the rune. It accepts letters of any
// script, because some servers allow them in nicks.
func isNickRune(r rune) bool {
	return r != utf8.RuneError && (unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-[]\\`^{}_|", r))
}
