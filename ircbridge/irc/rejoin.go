package irc

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"time"
)

// maxRejoins is how often we try to get into a channel again before a person
// is told. After that it is tried now and then: a channel that is shut may be opened.
const maxRejoins = 5

// rejoinAfter are the pauses then; the last one is kept up.
var rejoinAfter = []time.Duration{time.Minute, 2 * time.Minute, 5 * time.Minute, 10 * time.Minute}

type wishState int

const (
	out wishState = iota // to be asked for at wish.at
	asked
	in
)

// A wish is a channel that we want to be in.
//
//	out --JOIN--> asked --JOIN of ours--> in --KICK--> out
//	               \--470-477--> out
type wish struct {
	Channel
	state   wishState
	at      time.Time // when to ask
	since   time.Time // in the channel
	tries   int
	backoff Backoff
}

// enter asks for the channels that are due and says how long until the next is.
func (v *visit) enter(now time.Time) time.Duration {
	fold := v.st.CaseMapping()
	v.mu.Lock()
	wanted := make(map[string]bool)
	for _, ch := range v.wanted {
		key := fold.Fold(ch.Name)
		wanted[key] = true
		w := v.wishes[key]
		if w == nil || v.again[key] && w.state != in {
			v.wishes[key] = &wish{Channel: ch, backoff: Backoff{Min: v.o.Backoff.Min, Max: v.o.Backoff.Max, Stand: v.o.Backoff.Stand, Chance: v.o.Backoff.Chance}}
		}
	}
	clear(v.again)
	v.mu.Unlock()
	rest := time.Hour
	var due []Channel
	for key, w := range v.wishes {
		if !wanted[key] {
			delete(v.wishes, key)
			continue
		}
		if w.state != out {
			continue
		}
		if d := w.at.Sub(now); d > 0 {
			rest = min(rest, d)
			continue
		}
		w.state = asked
		due = append(due, w.Channel)
	}
	for _, m := range joins(due, v.st.ISupport) {
		v.conn.tell(m)
	}
	return rest
}

// joins puts channels together to few JOIN lines, as every line counts for the
// flood limit; TARGMAX may allow fewer at once. A channel with a key has a
// line of its own.
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

// joined notes that we are in. A channel that we did not ask for is one that
// the server has put us into.
func (v *visit) joined(key, name string) {
	w := v.wishes[key]
	if w == nil {
		v.conn.tell(Msg("PART", name))
		return
	}
	w.state, w.since = in, time.Now()
	v.mu.Lock()
	delete(v.status.Failed, w.Name)
	v.mu.Unlock()
}

// parted deals with our own going; err is nil where it was ours.
func (v *visit) parted(ctx context.Context, name string, err error) {
	key := v.st.CaseMapping().Fold(name)
	now := time.Now()
	w := v.wishes[key]
	if w == nil || w.state != in {
		return
	}
	v.ring(key).alive = now
	w.state = out
	if err != nil {
		v.later(ctx, w, err, now.Sub(w.since))
	}
}

// refused takes the numerics that keep us out of a channel.
func (v *visit) refused(ctx context.Context, m Message) {
	switch m.Command {
	case "403", "405", "437", "470", "471", "472", "473", "474", "475", "476", "477", "489", "520":
	default:
		return
	}
	w := v.wishes[v.st.CaseMapping().Fold(m.Param(1))]
	if w == nil || w.state != asked {
		return
	}
	w.state = out
	v.later(ctx, w, &Rejected{Code: m.Command, Target: w.Name, Text: m.Last()}, 0)
}

// later tries again after a while, and tells when that is a long while.
func (v *visit) later(ctx context.Context, w *wish, err error, stood time.Duration) {
	if stood >= orDefault(v.o.Backoff.Stand, time.Minute) {
		w.tries = 0
	}
	w.tries++
	if n := w.tries - maxRejoins; n > 0 {
		pauses := v.o.RejoinAfter
		if len(pauses) == 0 {
			pauses = rejoinAfter
		}
		wait := pauses[min(n, len(pauses))-1]
		w.at = time.Now().Add(wait)
		err = fmt.Errorf("tried %d times: %w", w.tries-1, err)
		v.mu.Lock()
		if v.status.Failed == nil {
			v.status.Failed = make(map[string]string)
		}
		v.status.Failed[w.Name] = err.Error()
		v.mu.Unlock()
		v.emit(ctx, Failed{Channel: w.Name, Err: err, Retry: wait})
		return
	}
	wait, _ := w.backoff.Next(nil, stood)
	w.at = time.Now().Add(wait)
}

func (c *Client) logger() *slog.Logger {
	if c.cfg.Log == nil {
		return slog.New(slog.DiscardHandler)
	}
	return c.cfg.Log
}
