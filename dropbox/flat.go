package dropbox

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"
)

// setFlat reads a front matter whose lines are all as Encode writes them, in any order:
// a known key and one value. It returns false for all else, whether right or wrong, and
// yaml.v3 reads the whole; then m is not to be used. What a key means is said in
// [Message.set] alone: the two differ in how they find the values, and a fuzz test shows
// that they find the same. yaml.v3 takes thirty times as long, which a claim would feel.
func (m *Message) setFlat(front string) bool {
	var buf [32]string
	seen := buf[:0]
	for front != "" {
		line, rest, _ := strings.Cut(front, "\n")
		key, value, _ := strings.Cut(line, ": ")
		n, ok := flatValue(value)
		if !ok || slices.Contains(seen, key) {
			return false
		}
		if known, err := m.set(key, &n); !known || err != nil {
			return false
		}
		seen = append(seen, key)
		front = rest
	}
	return true
}

// flatValue reads a value that ends with its line: a word, a number, a time, a text in
// double quotes, or a list of words and texts.
func flatValue(text string) (n yaml.Node, ok bool) {
	if list, ok := strings.CutPrefix(text, "["); ok {
		n.Kind = yaml.SequenceNode
		for {
			s, rest, ok := flatScalar(list)
			if !ok {
				return n, false
			}
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: s})
			if rest == "]" {
				return n, true
			}
			if list, ok = strings.CutPrefix(rest, ", "); !ok {
				return n, false
			}
		}
	}
	n.Kind, n.Tag = yaml.ScalarNode, "!!str"
	if text != "" && '0' <= text[0] && text[0] <= '9' {
		n.Value = text
		return n, strings.Trim(text, "0123456789-:.TZ") == "" && !strings.HasSuffix(text, ":")
	}
	var rest string
	n.Value, rest, ok = flatScalar(text)
	return n, ok && rest == ""
}

// flatScalar reads one plain word or quoted text, and returns what follows it.
func flatScalar(text string) (s, rest string, ok bool) {
	if !strings.HasPrefix(text, `"`) {
		end := strings.IndexAny(text, ", ]")
		if end < 0 {
			end = len(text)
		}
		return text[:end], text[end:], plain(text[:end])
	}
	end, escaped := 1, false
	for ; end < len(text) && text[end] != '"'; end++ {
		if text[end] == '\\' {
			if end++; end == len(text) || text[end] != '"' && text[end] != '\\' {
				return "", "", false
			}
			escaped = true
		}
	}
	if end >= len(text) {
		return "", "", false
	}
	s = text[1:end]
	for _, r := range s {
		if r == utf8.RuneError || mustEscape(r) {
			return "", "", false
		}
	}
	if escaped {
		var err error
		if s, err = strconv.Unquote(text[:end+1]); err != nil {
			return "", "", false
		}
	}
	return s, text[end+1:], true
}
