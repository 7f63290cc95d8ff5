package notice

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// current returns the facts that are not void, newest first. If several facts are about
// the same thing, such as an agent that stopped twice, it returns only the newest.
func (q *Quiet) current() (all []journal.Kept) {
	seen := map[string]bool{}
	for _, k := range slices.Backward(q.doc.Get().Kept) {
		if q.isVoid(k) || seen[thing(k)] {
			continue
		}
		seen[thing(k)] = true
		all = append(all, k)
	}
	return all
}

// isVoid reports whether a fact no longer needs a person's attention.
func (q *Quiet) isVoid(k journal.Kept) bool {
	kind, rest := kindOf(k.Key)
	void := catalogue[kind].void
	return void != nil && void(q, k, rest)
}

// thing identifies the subject of a fact. A newer fact about the same subject replaces an
// older fact.
func thing(k journal.Kept) string {
	kind, rest := kindOf(k.Key)
	switch {
	case catalogue[kind].latest:
		return kind + " " + k.Agent
	case k.Dead:
		return deadKey + k.About
	case strings.HasPrefix(k.Key, deadKey):
		id, _, _ := strings.Cut(rest, ":")
		return deadKey + id
	}
	return k.Key
}

// maxDetail is the maximum size, in bytes, of the part of a fact that the morning alert
// quotes.
const maxDetail = 600

// morning returns the morning alert, or "" if no facts remain.
func morning(all []journal.Kept, first time.Time) (subject, body string) {
	if len(all) == 0 {
		return "", ""
	}
	subject = "during the quiet hours: " + all[0].Subject
	if n := len(all) - 1; n > 0 {
		subject = fmt.Sprintf("during the quiet hours: %s, and %d more", screen.Short(all[0].Subject, 150), n)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Since %s, newest first:\n", screen.Ahead(first, time.Now()))
	for i, k := range all {
		line := fmt.Sprintf("\n* %s %s\n", screen.Ahead(k.At, time.Now()), k.Subject)
		detail := ""
		if k.Body != "" {
			detail = "  " + strings.ReplaceAll(screen.Truncate(k.Body, maxDetail), "\n", "\n  ") + "\n"
		}
		rest := fmt.Sprintf("\n%d more are in .claude-swarm/%s.\n", len(all)-i, journal.KeptName)
		switch room := MaxBody - b.Len() - len(rest); {
		case len(line)+len(detail) <= room:
			b.WriteString(line + detail)
		case len(line) <= room:
			b.WriteString(line)
		default:
			b.WriteString(rest)
			return screen.Short(subject, 200), b.String()
		}
	}
	return screen.Short(subject, 200), b.String()
}
