package turn

import (
	"context"
	"reflect"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// This file handles clients that are kept between turns. An agent with [Settings].Linger
// keeps the client of a successful turn. The next message is sent to the same process, so
// no new client needs to be started.
//
//	                      mail
//	       +----------- next turn <-----------+
//	       v                                  |
//	turn ends well ------------------------> warm --- it died: noticed at once
//	                                          |
//	    closed before another client is started: its time is over, it is a day old, too
//	    many wait, the agent is held or has other settings, the next turn is for
//	    another session, it does something unasked, the daemon stops
//
// The backend reports whether a client may be kept ([runner.Resident]). The agent's
// goroutine owns the client, and the code in this file decides when to close it. The
// goroutine sleeps while the client is waiting. It is woken when mail arrives, when a
// timer fires, when the client ends or prints a line, or when too many clients are
// waiting.
//
// The turns of one client share the client's output and mark; see mark.go in package
// journal. When a daemon is killed, its clients lose their standard input, so each of
// them ends on its own. If a turn is running, the client ends after that turn, which the
// next daemon follows like any other. If the client is waiting, the next daemon ends the
// processes that the client left running. It finds them by the mark in the agent's pid
// file.

// maxAge is the maximum lifetime of a client. When the client ends, the memory that it
// has accumulated is released.
const maxAge = 24 * time.Hour

// A warm is an agent's client between two turns. Only the agent's goroutine uses it.
type warm struct {
	client  runner.Warm
	mark    string // the id of the turn that started the client
	session string
	made    made
	partial bool            // the client prints unfinished text
	born    time.Time       // start of the client
	rested  time.Time       // end of its last turn
	grown   <-chan struct{} // receives a value when the client prints something
	waiting *waiting        // its entry in WaitingClients; nil until the client is idle
	spoke   bool            // the client may have printed something without a prompt
}

// made contains the settings with which a client was started. If the settings change, the
// agent needs another client.
type made struct {
	settings Settings // including the system prompt, which also lists the other agents
	env      []string
}

// madeOf returns the settings with which a client with the given mark would be started
// now.
func (t *Turns) madeOf(s Settings, mark string) made {
	return made{settings: s, env: t.environment(s, mark)}
}

// warmFor returns the waiting client if it can run a turn in the given session. If
// warmFor returns nil, the turn needs a new client, and all processes of the old client
// have ended.
func (t *Turns) warmFor(ctx context.Context, s Settings, session runner.Session, partial bool, capUSD float64) *warm {
	w := t.warm
	if w == nil {
		return nil
	}
	why := t.outworn(s, w, time.Now())
	switch {
	case why != "":
	case session.How != runner.Resume || session.ID != w.session:
		why = "the next turn is for another session"
	case capUSD > 0 && t.kind(s).Caps:
		why = "the next turn has a cap, and a client adds up the cost of all its turns"
	case partial && !w.partial:
		why = "a person wants to see text as it is written"
	default:
		return w
	}
	t.Close(ctx, why)
	return nil
}

// runIn runs a turn in the client w, or in a new client if w is nil. If the client does
// not end, it becomes the agent's waiting client.
func (t *Turns) runIn(ctx context.Context, s Settings, w *warm, turn runner.Turn) runner.Outcome {
	if w == nil {
		w = &warm{mark: turn.ID, session: turn.Session.ID, made: t.madeOf(s, turn.ID), partial: turn.Partial, born: time.Now(), grown: t.Streams.watch(turn.Stdout)}
	}
	client := w.client
	t.Waiting.remove(w.waiting)
	t.warm, w.client, w.waiting, w.spoke = nil, nil, nil, false
	t.View.setWarm(nil)
	t.Runs.setClient(w.mark)
	defer func() {
		if t.warm == nil { // also true if the backend panics
			t.Streams.unwatch(turn.Stdout)
			t.Runs.setClient("")
		}
	}()

	turn.Spec, turn.Env, turn.Grown = w.made.settings.Client, w.made.env, w.grown
	b := t.Backend(s)
	r, ok := b.(runner.Resident)
	if !ok || !s.lingers() || turn.CapUSD > 0 && b.Kind().Caps {
		return b.Run(ctx, turn)
	}
	out, stays := r.Serve(ctx, turn, client)
	if stays != nil {
		w.client, w.rested = stays, time.Now()
		if b.Kind().NamesSessions && out.Session != "" {
			w.session = out.Session
		}
		t.warm = w
	}
	return out
}

// due returns the time at which the client must stop waiting.
func (w *warm) due() time.Time { return dueAt(w.born, w.rested, w.made.settings.Linger) }

func dueAt(born, rested time.Time, linger time.Duration) time.Time {
	due := rested.Add(linger)
	if old := born.Add(maxAge); old.Before(due) {
		return old
	}
	return due
}

// outworn returns the reason why a client cannot run another turn, or "" if the client
// can.
func (t *Turns) outworn(s Settings, w *warm, now time.Time) string {
	select {
	case <-w.client.Exited():
		return "it has ended on its own"
	default:
	}
	spoke := w.spoke
	w.spoke = false
	switch {
	case now.Sub(w.born) >= maxAge:
		return "it is a day old"
	case spoke && w.client.Stirs():
		return "it has begun work on its own"
	case !s.lingers():
		return "clients no longer linger"
	case !reflect.DeepEqual(t.madeOf(s, w.mark), w.made):
		return "the settings have changed"
	}
	return ""
}

// HasClient reports whether a client is waiting for the next turn.
func (t *Turns) HasClient() bool { return t.warm != nil }

// Tend closes the agent's client if the client must not wait any longer. The parameter
// settings contains the settings of the next turn, and unsettled is set if the last turn
// could not be filed. HasClient must have returned true.
func (t *Turns) Tend(ctx context.Context, settings Settings, unsettled bool) {
	w := t.warm
	why := t.outworn(settings, w, time.Now())
	switch {
	case why != "":
	case unsettled:
		why = "the outcome of its turn could not be filed" // the turn will be followed again, and Follow returns only after the client has ended
	case t.Waiting.tooMany(w.waiting):
		why = "too many clients are waiting"
	case !time.Now().Before(w.due()):
		why = "no message came"
	default:
		return
	}
	t.Close(ctx, why)
}

// Close closes the agent's client if a client is waiting, and returns when all processes
// of the client have ended. If ctx is done, Close kills the client.
func (t *Turns) Close(ctx context.Context, why string) {
	w := t.warm
	if w == nil {
		return
	}
	t.warm = nil
	t.Waiting.remove(w.waiting)
	exit := w.client.Close(ctx)
	t.Streams.unwatch(t.Home.Stream(w.mark))
	journal.RemovePIDFile(t.Home.PIDFile(t.name))
	t.View.setWarm(nil)
	t.Runs.setClient("")
	t.log.Info("client closed", keyWhy, why, keyTurn, w.mark, "leftovers", exit.Leftovers)
}

// ClientWaits records that the agent's client is idle. From then on, the status shows the
// client, and it counts toward the limit on waiting clients.
func (t *Turns) ClientWaits() {
	w := t.warm
	if w == nil || w.waiting != nil {
		return
	}
	p := w.client.Process()
	t.View.setWarm(&WarmStatus{PID: p.PID, Since: w.rested.UTC(), mark: w.mark, before: p.Usage().CPU})
	w.waiting = t.Waiting.add(t.wake)
}

// Rest waits until the agent is woken or the client may need attention, but no longer
// than d. HasClient must have returned true.
func (t *Turns) Rest(ctx context.Context, woken <-chan struct{}, d time.Duration) {
	w := t.warm
	timer := time.NewTimer(min(d, time.Until(w.due())))
	defer timer.Stop()
	select {
	case <-woken:
	case <-timer.C:
	case <-w.client.Exited():
	case <-w.grown:
		w.spoke = true
	case <-ctx.Done():
	}
}
