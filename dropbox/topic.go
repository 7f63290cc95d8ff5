package dropbox

import (
	"fmt"
	"strings"
)

// A topic is words with dots between them, such as task.created. A pattern is a
// topic in which a word may be *, which stands for any one word, and the last word
// may be >, which stands for one word or more. (The rules are those of NATS
// subjects.)

// maxTopic is the longest topic or pattern, in bytes.
const maxTopic = 128

// CheckTopic says whether something may be published under this name: words of
// a-z, 0-9, - and _ with dots between them. The error is an [*InvalidError].
func CheckTopic(topic string) error {
	return checkTopic("topic", topic, func(word string, last bool) bool { return false })
}

// CheckPattern says whether this can be subscribed to. The error is an
// [*InvalidError].
func CheckPattern(pattern string) error {
	return checkTopic("pattern", pattern, func(word string, last bool) bool {
		return word == "*" || word == ">" && last
	})
}

func checkTopic(what, s string, wild func(word string, last bool) bool) error {
	if len(s) > maxTopic {
		return invalid("%s has %d bytes, %d at most", what, len(s), maxTopic)
	}
	words := strings.Split(s, ".")
	for i, word := range words {
		if wild(word, i == len(words)-1) {
			continue
		}
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return invalid("%s %q: want words of a-z, 0-9, - and _ with dots between them, such as task.created", what, cutText(s))
		}
	}
	return nil
}

// cutText keeps an error readable.
func cutText(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%.60s…", s)
	}
	return s
}

// TopicMatches says whether a topic is one of those that a pattern stands for.
func TopicMatches(pattern, topic string) bool {
	for {
		p, morePattern, pMore := strings.Cut(pattern, ".")
		t, moreTopic, tMore := strings.Cut(topic, ".")
		switch {
		case p == ">" && !pMore:
			return t != ""
		case p != "*" && p != t || t == "":
			return false
		case pMore != tMore:
			return false
		case !pMore:
			return true
		}
		pattern, topic = morePattern, moreTopic
	}
}
