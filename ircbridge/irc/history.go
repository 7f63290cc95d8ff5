package irc

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"slices"
	"strings"
	"sync"
	"time"
)

// Remembered is how many message ids are kept for a target, to drop doubles.
const Remembered = 1000

// maxPages bounds how much history is fetched at once for one target.
const maxPages = 100

// ErrNoHistory says that the server keeps none that can be asked for.
var ErrNoHistory = errors.New("the server has no history")

// A Mark is a place in the history of a target.
type Mark struct {
	ID   string // the server's msgid; "" where only the time is known
	Time time.Time
	Sum  uint64 // of a text without id, see [Sum]; 0 is not known
}

// Sum stands for who said what, so that a text without id that a bouncer plays back can
// be known again by its time and its words.
func Sum(nick, text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, nick+"\x00"+text)
	return h.Sum64()
}

// key is what a mark is known by; "" if by nothing.
func (m Mark) key() string {
	switch {
	case m.ID != "":
		return m.ID
	case m.Sum != 0:
		return fmt.Sprintf("\x00%d %x", m.Time.UnixMilli(), m.Sum)
	}
	return ""
}

// A Memory keeps marks over restarts of the program: those of the texts that
// were dealt with for good. Its methods are called by [Client.Run] and
// [Client.Handled]; targets are folded, and "" stands for all private talk.
type Memory interface {
	// Marks returns the last ones added, oldest first, at most Remembered.
	Marks(target string) ([]Mark, error)
	Add(target string, m Mark) error
}

// A RAM is a Memory that ends with the program. It is safe for several
// goroutines, and its zero value is ready to use.
type RAM struct {
	mu    sync.Mutex
	marks map[string][]Mark
}

// Marks implements [Memory].
func (r *RAM) Marks(target string) ([]Mark, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]Mark(nil), r.marks[target]...), nil
}

// Add implements [Memory].
func (r *RAM) Add(target string, m Mark) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks == nil {
		r.marks = make(map[string][]Mark)
	}
	all := append(r.marks[target], m)
	if len(all) > 2*Remembered {
		all = append([]Mark(nil), all[len(all)-Remembered:]...)
	}
	r.marks[target] = all
	return nil
}

// A ring knows the last texts of one target by their keys.
type ring struct {
	ids   []string // oldest first
	known map[string]bool
	last  Mark
	id    Mark      // the newest of those with an id
	alive time.Time // until when we heard what was said there
}

func newRing(marks []Mark) *ring {
	r := &ring{known: make(map[string]bool)}
	for _, m := range marks {
		r.add(m, false)
	}
	return r
}

// add says whether the mark is new. Without id only what is played back can be known:
// somebody may say the same twice in one instant.
func (r *ring) add(m Mark, played bool) bool {
	key := m.key()
	known := key != "" && r.known[key]
	if known && (m.ID != "" || played) {
		return false
	}
	if key != "" && !known {
		r.known[key] = true
		r.ids = append(r.ids, key)
		if len(r.ids) > Remembered {
			delete(r.known, r.ids[0])
			r.ids = r.ids[1:]
		}
	}
	r.last = m
	if m.ID != "" && !m.Time.Before(r.id.Time) {
		r.id = m
	}
	return true
}

// HistoryLimit is how many messages the server gives at once, 0 if it keeps no
// history that can be asked for.
func (c *Conn) HistoryLimit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.st.has("draft/chathistory", "batch") {
		return 0
	}
	n := c.st.isup.Number("CHATHISTORY", 0)
	if n == 0 {
		n = c.st.isup.Number("DRAFT/CHATHISTORY", 100)
	}
	return min(n, 100)
}

// History returns what was said in target after the mark, oldest first. It
// asks page by page, each for what came after the last message of the one
// before, until one is not full; a message that came twice is there once.
// A mark without id, or with one that the server has forgotten, goes by its
// time. The error is [ErrNoHistory] or as of [Conn.Do]; what was fetched until
// then is returned with it.
func (c *Conn) History(ctx context.Context, target string, after Mark) ([]Message, error) {
	all, byTime, err := c.history(ctx, target, after)
	if byTime {
		all = since(all, after)
	}
	return all, err
}

// since leaves out what a history that was asked for by time has from before the mark.
func since(all []Message, after Mark) []Message {
	return slices.DeleteFunc(all, func(m Message) bool {
		return messageTime(m, after.Time).Before(after.Time) || after.ID != "" && m.Tags["msgid"] == after.ID
	})
}

// history is History, which may begin earlier than the mark where byTime is true: the
// server does not say that it knows the id of the mark. Whether it does is then seen by
// what there is from before it. ergo 2.20 answers an id that it does not know with nothing,
// as it answers one after which nothing was said; others refuse it.
func (c *Conn) history(ctx context.Context, target string, after Mark) (all []Message, byTime bool, err error) {
	limit := c.HistoryLimit()
	if limit == 0 {
		return nil, false, ErrNoHistory
	}
	byTime = after.ID == ""
	goByTime := func() {
		byTime, after = true, Mark{Time: after.Time.Add(-overlap)}
	}
	seen := make(map[string]bool)
	for range maxPages {
		canGo := !byTime && len(all) == 0 && !after.Time.IsZero()
		page, err := c.Do(ctx, Msg("CHATHISTORY", "AFTER", target, after.reference(), fmt.Sprint(limit)))
		if r, ok := errors.AsType[*Rejected](err); ok && canGo && r.Code != "INVALID_TARGET" {
			goByTime()
			continue
		}
		if err != nil {
			return all, byTime, err
		}
		n := 0
		for _, m := range page {
			if m.Tags["batch"] == "" && m.Tags["msgid"] == "" {
				continue // a numeric of another cause
			}
			n++
			if id := m.Tags["msgid"]; id != "" && seen[id] {
				continue
			}
			seen[m.Tags["msgid"]] = true
			all = append(all, m)
		}
		if n == 0 && canGo {
			goByTime()
			continue
		}
		if n < limit {
			return all, byTime, nil
		}
		last := all[len(all)-1]
		next := Mark{ID: last.Tags["msgid"], Time: messageTime(last, after.Time)}
		if next == after {
			return all, byTime, nil
		}
		after = next
	}
	return all, byTime, fmt.Errorf("history of %s: more than %d pages", target, maxPages)
}

// PrivateSince returns the nicks with whom there was private talk since a time,
// in the order in which the server tells them. It asks page by page, as channels
// with news are among the targets and fill pages; servers tell the oldest first
// or the newest. The error is as of [Conn.History], with the nicks until then.
func (c *Conn) PrivateSince(ctx context.Context, from time.Time) ([]string, error) {
	limit := c.HistoryLimit()
	if limit == 0 {
		return nil, ErrNoHistory
	}
	support := c.State().ISupport
	fold := support.CaseMapping()
	to := time.Now().Add(24 * time.Hour) // whatever the server's clock says
	var nicks []string
	seen := make(map[string]bool)
	for range maxPages {
		answer, err := c.Do(ctx, Msg("CHATHISTORY", "TARGETS", Mark{Time: from}.reference(), Mark{Time: to}.reference(), fmt.Sprint(limit)))
		if err != nil {
			return nicks, err
		}
		n, fresh := 0, 0
		var first, last time.Time
		for _, m := range answer {
			if m.Command != "CHATHISTORY" || !strings.EqualFold(m.Param(0), "TARGETS") {
				continue
			}
			if last = parseTime(strings.TrimPrefix(m.Param(2), "timestamp=")); n == 0 {
				first = last
			}
			n++
			if key := fold.Fold(m.Param(1)); !seen[key] {
				seen[key] = true
				fresh++
				if !support.IsChannel(m.Param(1)) {
					nicks = append(nicks, m.Param(1))
				}
			}
		}
		if n < limit {
			return nicks, nil
		}
		// Bounds are not among the targets, and several targets may share a time; if the
		// whole page does, what lies behind it is all that can be had. Times that are
		// told are cut to milliseconds, and those that the server compares need not be.
		bound, next := &from, last.Add(-time.Millisecond)
		switch before := last.Before(first); {
		case before && fresh == 0:
			bound, next = &to, last
		case before:
			bound, next = &to, last.Add(time.Millisecond)
		case fresh == 0:
			next = last.Add(time.Millisecond)
		}
		if last.IsZero() || next.Equal(*bound) {
			return nicks, errors.New("targets of the history: a full page leads no further")
		}
		*bound = next
	}
	return nicks, fmt.Errorf("targets of the history: more than %d pages", maxPages)
}

// timeFormat is that of server-time and of references.
const timeFormat = "2006-01-02T15:04:05.000Z"

// reference is the mark as CHATHISTORY writes it.
func (m Mark) reference() string {
	if m.ID != "" {
		return "msgid=" + m.ID
	}
	return "timestamp=" + m.Time.UTC().Format(timeFormat)
}
