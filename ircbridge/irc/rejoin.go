package irc

import (
	"fmt"
	"strings"
	"time"
)

// maxRejoins is how many times the client retries joining a channel before it emits
// [Failed]. Later attempts follow after longer pauses, because a closed channel may be
// opened again.
const maxRejoins = 5

// rejoinAfter are the pauses between the later attempts; the last pause repeats.
var rejoinAfter = []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}

type wishState int

const (
	wishOut wishState = iota // the next JOIN is due at wish.at
	wishAsked
	wishIn
)

// A wish is a wanted channel, together with this connection's progress in joining it.
//
//	out --JOIN--> asked --our JOIN comes back--> in --KICK, PART--> out
//	               \--403, 470-477 …--> out
type wish struct {
	Channel
	state   wishState
	at      time.Time // when to send JOIN
	since   time.Time // when this connection joined the channel
	tries   int
	backoff Backoff
}

// joins combines channels into few JOIN lines, because every line counts toward the
// flood limit. TARGMAX may limit the number of channels in a line. A channel with a key
// gets a separate line.
func joins(channels []Channel, support ISupport) []Message {
	most := support.MaxTargets("JOIN")
	if !strings.Contains(","+support["TARGMAX"], ",JOIN:") || most == 0 {
		most = len(channels)
	}
	var all []Message
	var names []string
	size := 0
	flush := func() {
		if len(names) > 0 {
			all = append(all, Msg("JOIN", strings.Join(names, ",")))
		}
		names, size = nil, 0
	}
	for _, ch := range channels {
		if ch.Key != "" {
			all = append(all, Msg("JOIN", ch.Name, ch.Key))
			continue
		}
		if len(names) >= most || size+len(ch.Name) > 400 {
			flush()
		}
		names = append(names, ch.Name)
		size += len(ch.Name) + 1
	}
	flush()
	return all
}

// A rejoiner joins the wanted channels on one connection.
type rejoiner struct {
	conn   *Conn
	o      Options // Backoff and RejoinAfter
	wanted *wanted
	wishes map[string]*wish // by folded name
}

// enter sends JOIN for the channels that are due, and returns the time until the next
// channel is due.
func (r *rejoiner) enter(now time.Time, support ISupport) time.Duration {
	fold := support.CaseMapping()
	list, again := r.wanted.pending()
	wanted := make(map[string]bool)
	for _, ch := range list {
		key := fold.Fold(ch.Name)
		wanted[key] = true
		w := r.wishes[key]
		if w == nil || again[key] && w.state != wishIn {
			b := r.o.Backoff
			r.wishes[key] = &wish{Channel: ch, backoff: Backoff{Min: b.Min, Max: b.Max, Stand: b.Stand, Chance: b.Chance}}
		}
	}
	rest := time.Hour
	var due []Channel
	for key := range r.wishes {
		if !wanted[key] {
			delete(r.wishes, key)
		}
	}
	for _, ch := range list { // the first channel of the list is the most important one
		w := r.wishes[fold.Fold(ch.Name)]
		if w.state != wishOut {
			continue
		}
		if d := w.at.Sub(now); d > 0 {
			rest = min(rest, d)
			continue
		}
		w.state = wishAsked
		due = append(due, w.Channel)
	}
	for _, m := range joins(due, support) {
		r.conn.tell(m)
	}
	return rest
}

// in returns the folded names of the channels that this connection is in.
func (r *rejoiner) in() []string {
	var keys []string
	for key, w := range r.wishes {
		if w.state == wishIn {
			keys = append(keys, key)
		}
	}
	return keys
}

// joined records that this connection is in a channel. If the channel is not wanted, the
// server has forced us to join it, and joined leaves it.
func (r *rejoiner) joined(key, name string) {
	w := r.wishes[key]
	if w == nil {
		r.conn.tell(Msg("PART", name))
		return
	}
	w.state, w.since = wishIn, time.Now()
	r.wanted.joined(w.Name)
}

// parted records that this connection has left a channel; err is nil if it left on
// request. was reports whether the connection was in the channel. failed is not nil if
// the next attempt is a long time away.
func (r *rejoiner) parted(key string, err error) (was bool, failed *Failed) {
	w := r.wishes[key]
	if w == nil || w.state != wishIn {
		return false, nil
	}
	w.state = wishOut
	if err != nil {
		failed = r.later(w, err, time.Since(w.since))
	}
	return true, failed
}

// refused handles the numerics with which the server refuses a JOIN.
func (r *rejoiner) refused(m Message, fold CaseMapping) *Failed {
	switch m.Command {
	case "403", "405", "437", "470", "471", "472", "473", "474", "475", "476", "477", "489", "520":
	default:
		return nil
	}
	w := r.wishes[fold.Fold(m.Param(1))]
	if w == nil || w.state != wishAsked {
		return nil
	}
	w.state = wishOut
	return r.later(w, &Rejected{Code: m.Command, Target: w.Name, Text: m.Last()}, 0)
}

// later schedules the next attempt. It returns an event if that attempt is a long time
// away.
func (r *rejoiner) later(w *wish, err error, stood time.Duration) *Failed {
	if stood >= orDefault(r.o.Backoff.Stand, time.Minute) {
		w.tries = 0
	}
	w.tries++
	if n := w.tries - maxRejoins; n > 0 {
		pauses := r.o.RejoinAfter
		if len(pauses) == 0 {
			pauses = rejoinAfter
		}
		wait := pauses[min(n, len(pauses))-1]
		w.at = time.Now().Add(wait)
		err = fmt.Errorf("tried %d times: %w", w.tries, err)
		r.wanted.fail(w.Name, err.Error())
		return &Failed{Channel: w.Name, Err: err, Retry: wait}
	}
	wait, _ := w.backoff.Next(nil, stood)
	w.at = time.Now().Add(wait)
	return nil
}
