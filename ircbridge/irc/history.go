package irc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxPages is the maximum number of pages of history that one call fetches.
const maxPages = 100

// ErrNoHistory reports that the server offers no history.
var ErrNoHistory = errors.New("the server has no history")

// overlap is how far before the known time a request for history begins. The client uses
// it for private messages, and for a history whose mark has an id that the server may no
// longer know. The overlap is needed because clocks differ. A message that arrives twice
// is emitted only once.
const overlap = time.Minute

// HistoryLimit returns how many messages of history to request at once. This is the
// server's limit, but at most 100, or 0 if the server offers no history.
func (c *Conn) HistoryLimit() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.p.st.has("draft/chathistory", "batch") {
		return 0
	}
	n := c.p.st.isup.Number("CHATHISTORY", 0)
	if n == 0 {
		n = c.p.st.isup.Number("DRAFT/CHATHISTORY", 100)
	}
	return min(n, 100)
}

// History returns the messages of target after the mark, oldest first. It requests pages
// until a page is not full; each page begins after the last message of the previous page.
// A message that arrives twice is returned only once. If the mark has no id, or the
// server no longer knows the id, History uses the mark's time. The error is
// [ErrNoHistory], an error from [Conn.Do], or an error that says that there are more than
// 100 pages. Even if there is an error, History returns the messages that it has fetched.
func (c *Conn) History(ctx context.Context, target string, after Mark) ([]Message, error) {
	all, byTime, err := c.history(ctx, target, after)
	if byTime {
		all = since(all, after)
	}
	return all, err
}

// since removes the message at the mark, and all messages before it, from a history that
// was requested by time.
func since(all []Message, after Mark) []Message {
	return slices.DeleteFunc(all, func(m Message) bool {
		return messageTime(m, after.Time).Before(after.Time) || after.ID != "" && m.Tags["msgid"] == after.ID
	})
}

// history is like [Conn.History], but if byTime is true, the messages may begin before
// the mark. The server may not know the id of the mark, and the earlier messages show
// whether it does. For an unknown id, ergo 2.20 returns no messages, just as for the id
// of the newest message; other servers refuse an unknown id.
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
				continue // a numeric that is not part of the history
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

// PrivateSince returns the nicks with which private messages were exchanged since a time.
// They are in the server's order, which can be oldest first or newest first. It may
// request several pages, because the server's answer also contains the channels with new
// messages. The error is [ErrNoHistory], an error from [Conn.Do], or an error that says
// that the pages do not end. Even if there is an error, PrivateSince returns the nicks
// that it has fetched.
func (c *Conn) PrivateSince(ctx context.Context, from time.Time) ([]string, error) {
	limit := c.HistoryLimit()
	if limit == 0 {
		return nil, ErrNoHistory
	}
	support := c.State().ISupport
	fold := support.CaseMapping()
	to := time.Now().Add(24 * time.Hour) // the server's clock may be ahead of ours
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
		// The server omits targets that are exactly at a bound, and several targets can
		// have the same time. The next page therefore overlaps this one by a millisecond.
		// If a page contains no new target, the next page begins after it. The server
		// truncates times to milliseconds in its answer, but may compare times with a
		// higher resolution.
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
			return nicks, errors.New("history targets: a full page brought no progress")
		}
		*bound = next
	}
	return nicks, fmt.Errorf("history targets: more than %d pages", maxPages)
}
