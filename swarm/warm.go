package swarm

import (
	"context"
	"reflect"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Clients that stay. An agent with Spec.Linger keeps the client of a turn that went
// well; the next message goes to the same process, which spares its start.
//
//	                      mail
//	       +----------- next turn <-----------+
//	       v                                  |
//	turn ends well ------------------------> warm --- it died: noticed at once
//	                                          |
//	    closed, before another is started: its time is over, it is a day old, too
//	    many wait, the agent is held or has other settings, the next turn is for
//	    another session, it does something unasked, the daemon stops
//
// Whether a client may stay is the backend's to say ([runner.Resident]); when it is
// to go is decided here, by the goroutine of its agent, which owns it. That
// goroutine sleeps while the client waits: it is woken by mail, a timer, the end of
// the client, a line that the client prints, or by the agent whose client is one
// too many.
//
// The turns of one client share its output and its mark; see mark.go. A daemon that
// is killed leaves a client without standard input: it ends by itself, after its
// turn if it has one, which the next daemon follows as any other. What is left of a
// client that waited is ended by the mark in the agent's pid file.

// maxAge is how long a client lives: whatever it gathers over the days ends with it.
const maxAge = 24 * time.Hour

// A warm is the client of an agent between two turns. It belongs to the goroutine
// of the agent.
type warm struct {
	client  runner.Warm
	mark    string // the turn that started it
	session string
	made    made
	partial bool            // it tells text while it is written
	born    time.Time       // the client
	rested  time.Time       // the end of its last turn
	grown   <-chan struct{} // rings when it prints something
	waiting *waiting        // among the clients that wait; nil until the agent has nothing to do for it
	spoke   bool            // it may have printed something unasked
}

// made is what a client was started with. Another one is started when that has
// changed.
type made struct {
	spec   Spec
	client runner.Spec // with the system text, which tells of the other agents too
	env    []string
}

// lingers tells whether clients are to stay: they know one session, so not where
// every turn has another, or the newest of the folder, whoever made that.
func (s Spec) lingers() bool {
	return s.Linger > 0 && (s.Session == "" || s.Session == SessionResume)
}

// madeOf is what a client is started with that carries this mark.
func (a *agent) madeOf(spec Spec, mark string) made {
	return made{spec: spec, client: a.clientSpec(spec), env: a.environment(spec, mark)}
}

// warmFor is the client that waits and can take a turn in that session. nil means
// that a new one is to be started, and then nothing of an old one runs any more.
func (a *agent) warmFor(ctx context.Context, spec Spec, session runner.Session, partial bool) *warm {
	w := a.warm
	if w == nil {
		return nil
	}
	why := a.outworn(w, time.Now())
	switch {
	case why != "":
	case session.How != runner.Resume || session.ID != w.session:
		why = "the next turn is for another session"
	case partial && !w.partial:
		why = "somebody wants to see text while it is written"
	default:
		return w
	}
	a.letGo(ctx, why)
	return nil
}

// runIn runs a turn in the client that waits, or in a new one when that is nil. If
// it stays, it is the agent's client that waits.
func (a *agent) runIn(ctx context.Context, spec Spec, w *warm, t runner.Turn) runner.Outcome {
	if w == nil {
		w = &warm{mark: t.ID, session: t.Session.ID, made: a.madeOf(spec, t.ID), partial: t.Partial, born: time.Now(), grown: a.grown.watch(t.Stdout)}
	}
	client := w.client
	a.warmth.remove(w.waiting)
	a.warm, w.client, w.waiting, w.spoke = nil, nil, nil, false
	a.view.setWarm(nil)
	a.hasClient(w.mark)
	defer func() {
		if a.warm == nil { // also after a panic of the backend
			a.grown.unwatch(t.Stdout)
			a.hasClient("")
		}
	}()

	t.Spec, t.Env, t.Grown = w.made.client, w.made.env, w.grown
	b := a.backend(spec)
	r, ok := b.(runner.Resident)
	if !ok || !spec.lingers() {
		return b.Run(ctx, t)
	}
	out, stays := r.Serve(ctx, t, client)
	if stays != nil {
		w.client, w.rested = stays, time.Now()
		a.warm = w
	}
	return out
}

// due is when a client has waited long enough.
func (w *warm) due() time.Time { return dueAt(w.born, w.rested, w.made.spec.Linger) }

func dueAt(born, rested time.Time, linger time.Duration) time.Time {
	due := rested.Add(linger)
	if old := born.Add(maxAge); old.Before(due) {
		return old
	}
	return due
}

// outworn says why a client cannot take another turn; "" if it can.
func (a *agent) outworn(w *warm, now time.Time) string {
	select {
	case <-w.client.Exited():
		return "it has ended by itself"
	default:
	}
	spoke := w.spoke
	w.spoke = false
	switch {
	case now.Sub(w.born) >= maxAge:
		return "it is a day old"
	case spoke && w.client.Stirs():
		return "it does something that nobody asked for"
	case !a.spec().lingers():
		return "clients do not linger any more"
	case !reflect.DeepEqual(a.madeOf(a.spec(), w.mark), w.made):
		return "the settings have changed"
	}
	return ""
}

// tend closes the agent's client when it is to wait no longer.
func (a *agent) tend(ctx context.Context) {
	w := a.warm
	if w == nil {
		return
	}
	why := a.outworn(w, time.Now())
	switch {
	case why != "":
	case a.unsettled:
		why = "what came of its turn could not be filed" // it is read again, to the end of the client
	case a.warmth.tooMany(w.waiting):
		why = "too many clients wait"
	case !time.Now().Before(w.due()):
		why = "no message came"
	default:
		return
	}
	a.letGo(ctx, why)
}

// letGo closes the agent's client, if it has one that waits, and returns when
// nothing of it runs any more. When ctx is done the client is killed.
func (a *agent) letGo(ctx context.Context, why string) {
	w := a.warm
	if w == nil {
		return
	}
	a.warm = nil
	a.warmth.remove(w.waiting)
	exit := w.client.Close(ctx)
	a.grown.unwatch(a.home.Stream(w.mark))
	removePIDFile(a.home.PIDFile(a.name))
	a.view.setWarm(nil)
	a.hasClient("")
	a.log.Info("client closed", keyWhy, why, keyTurn, w.mark, "leftovers", exit.Leftovers)
}

// waits says that the agent has nothing to do for its client, which shows in the
// status, and counts against those of the other agents.
func (a *agent) waits() {
	w := a.warm
	if w == nil || w.waiting != nil {
		return
	}
	p := w.client.Process()
	a.view.setWarm(&WarmStatus{PID: p.PID, Since: w.rested.UTC(), mark: w.mark, before: p.Usage().CPU})
	w.waiting = a.warmth.add(a.bell.ring)
}

// rest waits until there may be something to do, d at most. This and what it calls
// for an idle agent have small frames: a stack of 4 KiB does for them.
func (a *agent) rest(ctx context.Context, d time.Duration) {
	a.waits()
	if a.warm == nil {
		a.bell.wait(ctx, d)
		return
	}
	a.restWarm(ctx, d)
}

func (a *agent) restWarm(ctx context.Context, d time.Duration) {
	w := a.warm
	t := time.NewTimer(min(d, time.Until(w.due())))
	defer t.Stop()
	select {
	case <-a.bell:
	case <-t.C:
	case <-w.client.Exited():
	case <-w.grown:
		w.spoke = true
	case <-ctx.Done():
	}
}
