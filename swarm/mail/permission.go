package mail

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/permission"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// maxWhat is the maximum width, in columns, of the line that describes a tool call.
const maxWhat = 120

// WhatOf describes a tool call on one line by its kind, and its command, paths, tool or
// title.
func WhatOf(r runner.PermissionRequest) string {
	about := r.Title
	switch {
	case r.Command != "":
		about = r.Command
	case len(r.Paths) > 0:
		about = strings.Join(r.Paths, ", ")
	case r.Tool != "":
		about = r.Tool
	}
	return screen.Short(strings.TrimSpace(r.Kind+" "+about), maxWhat)
}

// Verdict returns the outcome of a tool call's permission check on one line.
func Verdict(d runner.Decision) string {
	switch {
	case d.Allowed && d.By != "":
		return "allowed by " + d.By
	case d.Allowed:
		return "allowed"
	case d.Why != "":
		return "denied: " + d.Why
	case d.By != "":
		return "denied by " + d.By
	case d.Rule != "":
		return fmt.Sprintf("denied by the entry %q", d.Rule)
	}
	return "denied: no entry allows it"
}

// notPermitted returns one line about a denied tool call. If an entry in permissions would
// allow the call, the line contains that entry. notPermitted returns "" for an allowed
// call.
func notPermitted(d runner.Decision) string {
	if d.Allowed {
		return ""
	}
	text := WhatOf(d.Request) + "; " + Verdict(d)
	if d.Rule == "" || d.By != "" {
		if e, ok := permission.EntryFor(d.Request); ok {
			text += fmt.Sprintf("; permissions: allow: [%q] allows it", e.String())
		}
	}
	return text
}

// isAbout reports whether a decision is the reason why the client did not make a tool
// call.
func isAbout(by runner.Decision, d runner.Denial) bool {
	r := by.Request
	if !by.Allowed && len(r.Input) > 0 && bytes.Equal(r.Input, d.Input) {
		return true
	}
	about, err := json.Marshal(cmp.Or(r.Command, strings.Join(r.Paths[:min(len(r.Paths), 1)], "")))
	return !by.Allowed && (r.Tool != "" && r.Tool == d.Tool || err == nil && len(about) > 2 && bytes.Contains(d.Input, about))
}

// Decided records the decision about a tool call that was denied or that somebody was
// asked about. n is the call's number in the turn.
func (s *Service) Decided(rec *journal.Record, n int, d runner.Decision) error {
	hide := s.Secrets.Redactor().Text
	fact := notice.Decided{Turn: rec, Number: n, Call: hide(WhatOf(d.Request)), Verdict: hide(Verdict(d))}
	if !d.Allowed && strings.HasPrefix(d.Why, NobodyAnswered) {
		fact.Unanswered = hide(d.Why)
	}
	return s.Notices.Add(fact)
}

// NobodyAnswered is the beginning of the reason that is recorded when a question gets no
// answer. The reason ends with the waiting time.
const NobodyAnswered = "nobody answered within "
