package compat

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
)

// around is the number of lines that a shape shows before and after a line with one of its
// words. The first and the last line of a text are always shown, because they are its frame.
const around = 2

// sees adds to the shape how a request to the model contains the words: for each message its
// role and the kinds of its blocks, in their order, and the text around the words. The word
// "tool_result" selects all results of tools.
func (l *lab) sees(r fakeapi.Request, words ...string) error {
	var body struct {
		System   json.RawMessage `json:"system"`
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	if err := json.Unmarshal(r.Body, &body); err != nil {
		return fmt.Errorf("%w: %w", errStrange, err)
	}
	system, err := blocks(body.System)
	if err != nil {
		return err
	}
	for _, b := range system {
		if has(b.Text, words) {
			l.outline("system", b, words)
		}
	}
	for _, m := range body.Messages {
		content, err := blocks(m.Content)
		if err != nil {
			return err
		}
		for _, b := range content {
			l.outline(m.Role, b, words)
		}
	}
	return nil
}

// told adds to the shape the given fields of one line of the client's output. A field of an
// inner object is written as outer.inner; * stands for each element of a list, and for each
// key of an object.
func (l *lab) told(n line, fields ...string) {
	for _, f := range fields {
		l.field(f, any(map[string]any(n)), strings.Split(f, "."))
	}
}

func (l *lab) field(name string, v any, path []string) {
	if len(path) == 0 {
		fmt.Fprintf(&l.shape, "%s: %s\n", name, l.plain(scalar(v)))
		return
	}
	switch v := v.(type) {
	case map[string]any:
		if path[0] == "*" {
			for _, inner := range v {
				l.field(name, inner, path[1:])
				return // they all have one shape
			}
		}
		if inner, ok := v[path[0]]; ok {
			l.field(name, inner, path[1:])
			return
		}
	case []any:
		if path[0] == "*" && len(v) > 0 {
			l.field(name, v[0], path[1:])
			return
		}
	}
	fmt.Fprintf(&l.shape, "%s: missing\n", name)
}

// scalar formats a value: a truth value or a word as it is, anything else by its kind.
func scalar(v any) string {
	switch v := v.(type) {
	case nil:
		return "null"
	case bool:
		return fmt.Sprint(v)
	case string:
		return v
	case float64:
		return "a number"
	case []any:
		return "a list"
	}
	return "an object"
}

// A block is a part of a message.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text"`
	Name    string          `json:"name"` // of a tool
	Content json.RawMessage `json:"content"`
	IsError bool            `json:"is_error"`
}

// blocks reads a content field, which is a string or a list of blocks.
func blocks(content json.RawMessage) ([]block, error) {
	var text string
	if len(content) == 0 {
		return nil, nil
	}
	if json.Unmarshal(content, &text) == nil {
		return []block{{Type: "text", Text: text}}, nil
	}
	var all []block
	if err := json.Unmarshal(content, &all); err != nil {
		return nil, fmt.Errorf("%w: %w", errStrange, err)
	}
	return all, nil
}

// outline adds one block of a message to the shape.
func (l *lab) outline(role string, b block, words []string) {
	kind, text := b.Type, b.Text
	switch b.Type {
	case "tool_use":
		kind += " " + b.Name
	case "tool_result":
		inner, err := blocks(b.Content)
		if err != nil {
			text = string(b.Content)
		}
		for _, part := range inner {
			text += part.Text
		}
		if b.IsError {
			kind += " is_error"
		}
	}
	// The reminders that the client adds depend on the machine.
	plain := reminders().ReplaceAllStringFunc(text, func(reminder string) string {
		if has(reminder, words) {
			return reminder
		}
		return ""
	})
	if strings.TrimSpace(plain) == "" && text != "" {
		return
	}
	text = plain
	shows := has(text, words) || slices.Contains(words, b.Type)
	fmt.Fprintf(&l.shape, "%s %s\n", role, kind)
	if !shows {
		return
	}
	lines := strings.Split(strings.TrimRight(l.plain(text), "\n"), "\n")
	shown := make([]bool, len(lines))
	around := around
	if role == "system" { // its frame depends on the machine
		around = 0
	} else {
		shown[0], shown[len(lines)-1] = true, true
	}
	for i, line := range lines {
		if has(line, words) {
			for j := max(0, i-around); j <= min(len(lines)-1, i+around); j++ {
				shown[j] = true
			}
		}
	}
	for i, line := range lines {
		switch {
		case shown[i]:
			fmt.Fprintf(&l.shape, "  | %s\n", line)
		case i > 0 && shown[i-1]:
			l.shape.WriteString("  | …\n")
		}
	}
}

// reminders matches the texts that the client adds.
var reminders = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?s)<system-reminder>.*?</system-reminder>`) })

func has(text string, words []string) bool {
	return slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) })
}

// These match what differs between two runs.
var varying = sync.OnceValue(func() []variation {
	return []variation{
		{regexp.MustCompile(`\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b`), "ID"},
		{regexp.MustCompile(`\bproject-[0-9a-f]{2}\b`), "NAME"}, // the client names its sessions so
		{regexp.MustCompile(`\btoolu_[A-Za-z0-9_]+`), "ID"},
		{regexp.MustCompile(`\b[0-9]{4}-[0-9]{2}-[0-9]{2}(T[0-9:.]+Z?)?\b`), "DATE"},
		{regexp.MustCompile(`\b\d+\.\d+\.\d+\b`), "VERSION"},
		{regexp.MustCompile(`\b[0-9]+(\.[0-9]+)?\b`), "N"},
		{regexp.MustCompile(`\b[0-9a-f]*[0-9][0-9a-f]{7,}\b`), "ID"},
	}
})

// A variation is a pattern, and the word that replaces it.
type variation struct {
	pattern *regexp.Regexp
	with    string
}

// plain replaces everything in text that differs between two runs: paths, ids, dates,
// versions and numbers.
func (l *lab) plain(text string) string {
	text = strings.ReplaceAll(text, l.base, "LAB")
	text = encoded().ReplaceAllString(text, "LAB")
	for _, v := range varying() {
		text = v.pattern.ReplaceAllString(text, v.with)
	}
	return text
}

// encoded matches the lab's folder in the form in which the client uses it as a name.
var encoded = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`-tmp-compat[0-9]+`) })
