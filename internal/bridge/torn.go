package bridge

import (
	"fmt"
	"strings"
	"time"
)

// A spoken is the last line that a person addressed to agents in a channel.
type spoken struct {
	at     time.Time
	agents []string
	long   bool      // the line was about as long as the longest possible line on the network
	told   time.Time // when the person was last told that the rest of their text is lost
}

// Text that is pasted or too long for one line arrives as several lines. A line that
// arrives within pastedWithin of the previous one is considered part of the same text,
// because no person types that fast. After a full line the limit is tornWithin, because a
// client may delay the next line.
const (
	pastedWithin = 500 * time.Millisecond
	tornWithin   = 5 * time.Second
	fullLine     = 350         // bytes; chat programs cut lines early to leave room for names that they do not know
	tornAgain    = time.Minute // without a pause, two programs could answer each other endlessly
)

// noteSpoken records that a person has spoken to agents in a channel.
func (r *notices) noteSpoken(t Text, agents []string, now time.Time) {
	if t.Private {
		return // in a private conversation, the bridge answers every line that names no agent
	}
	if r.spoken == nil || len(r.spoken) >= 256 {
		r.spoken = map[string]spoken{}
	}
	key := r.spokenKey(t)
	r.spoken[key] = spoken{now, agents, len(t.Body) >= fullLine, r.spoken[key].told}
}

func (r *notices) spokenKey(t Text) string { return r.link.Fold(t.Target + " " + t.Nick) }

// tellTorn tells a person, at most once per tornAgain, that the rest of their text
// reaches no agent because it arrived as a separate line that names no agent. The buffer
// keeps that line.
func (r *notices) tellTorn(t Text, now time.Time) {
	key := r.spokenKey(t)
	s, ok := r.spoken[key]
	within := pastedWithin
	if s.long {
		within = tornWithin
	}
	if !ok || now.Sub(s.at) > within || now.Sub(s.told) < tornAgain || t.History || t.Notice {
		return
	}
	if first, _, _ := strings.Cut(strings.TrimSpace(t.Body), " "); strings.HasSuffix(first, ":") || strings.HasSuffix(first, ",") {
		return // the line is for another agent
	}
	s.told = now
	r.spoken[key] = s
	var names []string
	for _, agent := range s.agents {
		names = append(names, r.called(agent))
	}
	r.rep.tell(t, fmt.Sprintf("%s got only your first line: the next one names nobody. Put the name before each line, or use one line of at most %d characters.",
		strings.Join(names, ", "), fullLine))
}
