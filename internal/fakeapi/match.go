package fakeapi

import (
	"bytes"
	"strings"
)

// ok reports whether a reply with the match m may answer q.
func (m *Match) ok(q *query) bool {
	if m == nil {
		return q.kind == Main
	}
	switch m.Kind {
	case anyKind:
	case "":
		if q.kind != Main {
			return false
		}
	default:
		if q.kind != m.Kind {
			return false
		}
	}
	for key, part := range m.Header {
		if !strings.Contains(q.header.Get(key), part) {
			return false
		}
	}
	return strings.Contains(q.text, m.LastUserContains) &&
		(m.LastUserRegexp == nil || m.LastUserRegexp.MatchString(q.text)) &&
		(m.LastIsToolResult == nil || *m.LastIsToolResult == q.hasResult) &&
		strings.Contains(q.result, m.ToolResultContains) &&
		bytes.Contains(q.raw, []byte(m.AnyContains)) &&
		(m.NotContains == "" || !bytes.Contains(q.raw, []byte(m.NotContains))) &&
		strings.Contains(q.system, m.SystemContains) &&
		strings.Contains(q.model, m.ModelContains) &&
		(m.ToolOffered == "" || q.tools[m.ToolOffered]) &&
		!q.tools[m.ToolNotOffered] &&
		q.messages >= m.MinMessages &&
		(m.MaxMessages <= 0 || q.messages <= m.MaxMessages)
}

// found returns the text in q that the first group of the regular expression matches, or
// "".
func (m *Match) found(q *query) string {
	if m == nil || m.LastUserRegexp == nil {
		return ""
	}
	if groups := m.LastUserRegexp.FindStringSubmatch(q.text); len(groups) > 1 {
		return groups[1]
	}
	return ""
}

// choose returns the reply to q and its index in the list, or -1 if it is not in the list.
// used contains the number of times that each reply in the list has been used.
func (s *Scenario) choose(q *query, used []int) (*Reply, int) {
	for i := range s.Replies {
		r := &s.Replies[i]
		if limit := r.uses(); (limit < 0 || used[i] < limit) && r.Match.ok(q) {
			return r, i
		}
	}
	scripted := s.Fallback
	builtIn := &Reply{Name: "default-fallback", Text: "fakeapi: the script is exhausted."}
	switch q.kind {
	case Quota:
		scripted, builtIn = nil, &Reply{Name: "default-quota", Text: "ok"}
	case Side:
		scripted, builtIn = s.Side, &Reply{Name: "default-side", Text: `{"title": "Scripted session"}`}
	case Compact:
		scripted, builtIn = s.Compact, &Reply{Name: "default-compact", Text: defaultSummary}
	}
	if scripted != nil {
		return scripted, -1
	}
	return builtIn, -1
}

const defaultSummary = "<analysis>\nScripted.\n</analysis>\n\n<summary>\nScripted summary of the conversation so far.\n</summary>"
