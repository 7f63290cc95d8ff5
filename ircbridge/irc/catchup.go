package irc

import (
	"context"
	"slices"
	"time"
)

// fetched is the history of a target, or the error that prevented it.
type fetched struct {
	target   string // the folded name of the channel; "" for private messages
	name     string // the name as the server writes it; "" means that all private messages have been fetched, and err is then nil or the reason why some are missing
	messages []Message
	byTime   bool // see [Conn.history]
	after    Mark // where the history of a channel begins
	from, to time.Time
	err      error
}

// entered starts catching up on a channel that this client has joined.
func (v *connTranslator) entered(ctx, fetching context.Context, channel string, at time.Time) {
	key := v.st.CaseMapping().Fold(channel)
	v.rejoin.joined(key, channel)
	r := v.recent(key)
	from := r.last
	if from == (Mark{}) {
		// This client is in the channel for the first time, so the history begins here.
		r.last = Mark{Time: at}
		v.events.emit(ctx, CaughtUp{channel})
		return
	}
	since := from.Time
	if r.alive.After(since) {
		since = r.alive
	}
	if v.conn.HistoryLimit() == 0 {
		v.events.emit(ctx, Gap{Target: channel, From: since, To: at})
		v.events.emit(ctx, CaughtUp{channel})
		return
	}
	v.held[key] = []Message{}
	v.fetch(fetching, fetched{target: key, name: channel, after: from, from: since, to: at})
}

// fetch gets a history in a separate goroutine, so that messages for other targets need
// not wait.
func (v *connTranslator) fetch(ctx context.Context, f fetched) {
	v.wg.Go(func() {
		defer v.conn.endAfterPanic()
		f.messages, f.byTime, f.err = v.conn.history(ctx, f.name, f.after)
		select {
		case v.fetched <- f:
		case <-ctx.Done():
		}
	})
}

// fetchPrivate catches up on private messages. The server lists the nicks that wrote, and
// fetchPrivate requests the history of each nick. If the server has no history, there is
// nothing to fetch. Such a server has already told anyone who wrote while this client was
// away that there was no such nick.
func (v *connTranslator) fetchPrivate(ctx, fetching context.Context) {
	from := v.private
	if marks, err := v.o.Memory.Marks(""); err == nil && len(marks) > 0 && from.IsZero() {
		from = marks[len(marks)-1].Time
	}
	if from.IsZero() || v.conn.HistoryLimit() == 0 {
		v.caughtUp(ctx, fetched{})
		return
	}
	v.wg.Go(func() {
		defer v.conn.endAfterPanic()
		after := Mark{Time: from.Add(-overlap)}
		nicks, err := v.conn.PrivateSince(fetching, after.Time)
		for _, nick := range append(nicks, "") {
			f := fetched{name: nick, from: from}
			if nick == "" {
				f.err = err
			} else {
				f.messages, f.err = v.conn.History(fetching, nick, after)
			}
			select {
			case v.fetched <- f:
			case <-fetching.Done():
				return
			}
		}
	})
}

// caughtUp emits a history, and then the messages that were held back until it arrived.
func (v *connTranslator) caughtUp(ctx context.Context, f fetched) {
	if f.target != "" && f.byTime {
		known := v.knows(f)
		f.messages = since(f.messages, f.after)
		if !known && f.err == nil {
			if len(f.messages) > 0 {
				f.to = messageTime(f.messages[0], f.to)
			}
			if f.to.Before(f.from) {
				f.from = f.after.Time // both times are then from the server's clock
			}
			v.events.emit(ctx, Gap{Target: f.name, From: f.from, To: f.to})
		}
	}
	for _, m := range f.messages {
		t, ok := newText(m, &v.st, time.Now())
		if !ok {
			continue
		}
		t.History = true
		if key := v.st.CaseMapping().Fold(t.Peer()); !v.holds(key, t) {
			v.tell(ctx, key, t)
		}
	}
	if v.conn.Err() != nil && (f.err != nil || f.name == "") {
		// The held messages are not emitted, so the mark does not change, and the next
		// connection requests the history from that mark again.
		return
	}
	if f.err != nil {
		v.events.emit(ctx, Gap{Target: f.name, From: f.from, To: time.Now(), Err: f.err})
	}
	v.events.emit(ctx, CaughtUp{f.name})
	v.caught = v.caught || f.name == "" // the history of every nick has been fetched
	if f.target != "" {
		v.release(ctx, f.target)
	}
}

// knows reports whether there is no gap between the known messages and a history. There is
// no gap if the history contains a known message, or if no known message is recent enough
// to be in it.
func (v *connTranslator) knows(f fetched) bool {
	r := v.recent(f.target)
	if f.after.ID == "" && (r.id.ID == "" || r.id.Time.Before(f.after.Time)) {
		return true
	}
	return slices.ContainsFunc(f.messages, func(m Message) bool { return m.Tags["msgid"] != "" && r.known[m.Tags["msgid"]] })
}
