package irc

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// maxPages bounds how much history is fetched at once for one target.
const maxPages = 100

// ErrNoHistory says that the server keeps none that can be asked for.
var ErrNoHistory = errors.New("the server has no history")

// overlap is how much of what we know is asked for once more where a history is asked for
// by time: clocks differ, and what comes twice is told once.
const overlap = time.Minute

// HistoryLimit is how many messages the server gives at once, 0 if it keeps no
// history that can be asked for.
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
