package bridge

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Limits on a single answer, in network lines.
const (
	moreLines = 10 // for a message, with `read` and `more`
	maxAnswer = 20 // for any other answer, such as the status
	maxPages  = 3  // pages in flight to one person; at this limit, the bridge ignores a further `more`
)

// Limits on what is kept for `more`.
const (
	maxMores = 64      // people
	maxRead  = 1 << 20 // bytes of a message
)

// A more is the text that a person is reading.
type more struct {
	rest  []string
	pages []Told // the pages that may not have arrived yet
	at    time.Time
}

// fitting splits lines for a person so that each piece fits in one network line, and
// removes empty lines. It masks secrets first, because a secret that is cut in two
// would not be recognized.
func (r *replies) fitting(t Text, lines []string) (cut []string) {
	for _, l := range r.link.Fit(r.rec.mask(strings.Join(lines, "\n")), t.Peer(), t.Nick) {
		if text := strings.TrimRight(l, " \t"); text != "" {
			cut = append(cut, text)
		}
	}
	if len(cut) == 0 {
		return []string{"(no text)"}
	}
	return cut
}

// tellPage sends the beginning of an answer that may be long, and keeps the remainder for
// `more`.
func (r *replies) tellPage(t Text, lines []string, page int) {
	if len(lines) <= page+1 { // the note about further lines also needs a line
		r.tellLines(t, lines)
		return
	}
	key := r.link.Fold(t.Nick)
	m := r.mores[key]
	if m == nil {
		if len(r.mores) >= maxMores {
			oldest := ""
			for k, m := range r.mores {
				if oldest == "" || m.at.Before(r.mores[oldest].at) {
					oldest = k
				}
			}
			delete(r.mores, oldest)
		}
		m = &more{}
		r.mores[key] = m
	}
	now := append(slices.Clone(lines[:page]), fmt.Sprintf("… (%d more lines: more)", len(lines)-page))
	m.rest, m.at = lines[page:], time.Now()
	m.pages = append(m.pages, r.tellLines(t, now))
}

// goOn privately sends the next page of what a person is reading.
func (r *replies) goOn(t Text) {
	m := r.mores[r.link.Fold(t.Nick)]
	if m == nil || len(m.rest) == 0 {
		r.tell(t, "There is no more.")
		return
	}
	m.pages = slices.DeleteFunc(m.pages, func(d Told) bool {
		select {
		case <-d.Done():
			return true
		default:
			return false
		}
	})
	if len(m.pages) >= maxPages {
		return
	}
	rest := m.rest
	m.rest = nil
	t.Private, t.Target = true, r.link.Self()
	r.tellPage(t, rest, moreLines)
}

// forget discards the text that a person was reading.
func (r *replies) forget(t Text) { delete(r.mores, r.link.Fold(t.Nick)) }
