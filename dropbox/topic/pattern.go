package topic

import (
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxTopic is the maximum length of a topic or pattern, in bytes.
const maxTopic = 128

// Check checks that a topic consists of words of a-z, 0-9, - and _, separated by dots.
// The error is a [*dropbox.InvalidError].
func Check(topic string) error {
	return check("topic", topic, func(word string, last bool) bool { return false })
}

// CheckPattern checks a topic pattern. The error is a [*dropbox.InvalidError].
func CheckPattern(pattern string) error {
	return check("pattern", pattern, func(word string, last bool) bool {
		return word == "*" || word == ">" && last
	})
}

func check(what, s string, wild func(word string, last bool) bool) error {
	if len(s) > maxTopic {
		return invalid("%s has %d bytes; the maximum is %d", what, len(s), maxTopic)
	}
	words := strings.Split(s, ".")
	for i, word := range words {
		if wild(word, i == len(words)-1) {
			continue
		}
		if word == "" || strings.Trim(word, "abcdefghijklmnopqrstuvwxyz0123456789-_") != "" {
			return invalid("%s %q: must be words of a-z, 0-9, - and _ separated by dots, such as task.created", what, cutText(s))
		}
	}
	return nil
}

func invalid(format string, args ...any) error {
	return &dropbox.InvalidError{Reason: fmt.Sprintf(format, args...)}
}

// cutText shortens a string for an error message.
func cutText(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%.60s…", s)
	}
	return s
}

// Matches reports whether a pattern matches a topic.
func Matches(pattern, topic string) bool {
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

// BacklogOf returns the topic of the work that is waiting for an agent with a role.
func BacklogOf(role string) string { return backlog + role }

const backlog = "backlog."

// IsBacklog reports whether a topic is that of a backlog.
func IsBacklog(topic string) bool { return strings.HasPrefix(topic, backlog) }
