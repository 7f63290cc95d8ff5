package swarm

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// work claims the first message and runs a turn for it. The caller has a slot and has
// reserved part of the budget.
func (a *agent) work(stop, kill context.Context, reserved *budget.Reservation) time.Duration {
	defer func() {
		if !a.unsettled { // otherwise the turn must still be settled
			a.budget.release()
		}
	}()
	e, ok := a.next(time.Now())
	if !ok {
		return 0
	}
	prompted := a.starts.begin()
	defer prompted()
	j, err := a.inbox.Claim(e)
	if err != nil {
		a.unsettled = true // in case the disk also refused the step that puts the message back
		return a.diskTrouble(stop, "claim a message", err)
	} else if j == nil {
		return 0
	}
	a.unsettled = true // until the message is settled
	refused, err := a.inbox.Refuse(j)
	if err != nil {
		return a.diskTrouble(stop, "set a message aside", err)
	}
	if !refused {
		if err := a.runJob(stop, kill, j, reserved, prompted); errors.Is(err, errUnverified) {
			return 0
		} else if err != nil {
			return a.diskTrouble(stop, "run a turn", err)
		}
	}
	a.unsettled = j.Stranded
	a.inbox.Settled()
	a.tasks.moved()
	if m := j.Claim.Message; m != nil {
		a.budget.warn(hold.TurnOn(a.name, m))
	}
	a.beats.worked()
	return 0
}

// runJob runs the turn of a claimed message, and settles it. If a client cannot be used,
// runJob tries another one. If a hold began after the claim, runJob gives the message back. It
// calls prompted when a client has the prompt.
func (a *agent) runJob(stop, kill context.Context, j *mail.Job, reserved *budget.Reservation, prompted func()) (err error) {
	ctx, end := context.WithCancelCause(kill)
	defer end(nil)
	a.control.turnBegins(j.Claim.ID, end)
	defer func() { a.control.turnEnded(stateAfter(err, a.inbox.Box, j.Claim)) }()
	// A person who stopped the agent just before turnBegins was told that no turn was
	// running, so no turn may begin now.
	if a.heldFor(j.Claim.Message, time.Now()) || stop.Err() != nil {
		return a.inbox.GiveBack(j, nil)
	}
	if err := a.inbox.TakeNotes(j); err != nil {
		return a.inbox.GiveBack(j, err)
	}
	settings := a.client.settings()
	advice := a.client.advice(settings)
	m := j.Claim.Message
	record := journal.Record{
		Agent: a.name, Message: m.ID, Thread: m.Thread, Trace: m.Trace, Hops: m.Hops, Path: m.Path,
		Notes: j.NoteIDs(), ByLead: j.ByLead(),
	}
	if settings, err = a.tree.enter(ctx, settings, j, &record); err != nil {
		return a.withoutTree(j, err)
	}
	a.tasks.moved() // other messages of the task may go on during a drain
	a.turns.View.Begin(&turn.MessageStatus{ID: m.ID, From: m.From, Subject: mail.Describe(m), Since: j.Began, Folder: record.Tree, Branch: record.Branch}, mail.Describe(m))
	a.show(Working, "", "")
	defer a.turns.View.End()
	defer a.inbox.AgentLog.Close()

	drift := ""
	if record.Tree == "" { // only this agent works in a working tree
		drift = a.drift.text(ctx, settings, time.Now())
	}
	reserved.Note(&record)
	defer endAfter(reserved.Time(), end)()
	var unfiled error
	var heard *whisper.Turn
	deeper := a.holds.Of(a.name).Deeper
	out, rec, err := a.turns.Run(ctx, settings, turn.Task{
		Record: record,
		Begun:  j.Claim.Begun,
		Prompt: func(rec *journal.Record, r turn.Recall) string {
			a.supervision.takeBack() // from a client that could not be used
			heard = a.supervision.hear(rec)
			return a.promptFor(j, rec, settings, r, advice, drift, heard.Head())
		},
		Started:  func() { a.inbox.Started(j) },
		Prompted: prompted,
		Steer: func(rec *journal.Record) *runner.Steering {
			j.Rec = rec
			return a.steering(j, heard)
		},
		Observe: func(rec *journal.Record) turn.Observer {
			return a.supervision.watch(rec, m, a.client.kind(), a.spec().Client, heard)
		},
		Permit: func(rec *journal.Record) runner.Permit {
			rules := a.spec().Permissions
			rules.Dir, rules.Home, rules.Protected = settings.Client.Dir, a.turns.HomeOf(settings), a.turns.Protected(settings)
			return a.permits.of(stop, rec, rules)
		},
		Doubts: func(out runner.Outcome) bool { return a.settler.doubtsConversation(m.ID, out) },
		Unusable: func(rec *journal.Record, out runner.Outcome) error {
			j.Rec = rec
			unfiled = a.inbox.RecordEnd(j, out, false)
			return unfiled
		},
	})
	a.supervision.end()
	a.inbox.Questions.Wake() // nobody waits for the answers to the turn's questions any more
	if rec != nil {
		a.inbox.Note(a.holds.EndDeeper(a.name, deeper))
	}
	a.wakeup.wake() // the turn may have consumed a wakeup that was meant for the agent's loop
	if j.Rec = rec; unfiled != nil {
		return unfiled
	} else if err != nil {
		return a.inbox.GiveBack(j, err)
	}
	e := &ending{turn: rec.Turn, rec: rec, out: out, cause: a.control.endCause(context.Cause(ctx)), by: a.control.endedBy()}
	if err := a.verified(kill, ctx, e, j); err != nil {
		return err
	}
	return a.settleEnd(kill, e, j)
}

// withoutTree gives back a message whose turn got no working tree. The agent stops, or waits and
// tries again.
func (a *agent) withoutTree(j *mail.Job, err error) error {
	why, next, stops, ok := waitsForTree(err)
	switch {
	case !ok:
		return a.inbox.GiveBack(j, err)
	case stops:
		a.breaker.open(why, startHint(next, a.name))
		return a.inbox.GiveBack(j, nil)
	}
	until := time.Now().UTC().Add(a.control.settings().retryDelay())
	return a.inbox.GiveBack(j, a.holds.Change(a.name, func(h *journal.Hold) { h.Until, h.Why = until, why+"; free it: "+next }))
}

// promptFor builds the prompt of a turn.
func (a *agent) promptFor(j *mail.Job, rec *journal.Record, s turn.Settings, r turn.Recall, advice, drift string, whispers []string) string {
	p := a.inbox.Prompt(j)
	p.Whispers, p.Tree = whispers, a.tree.line(rec, s.Client.Dir)
	p.Prior, p.Reread, p.Advice, p.Drift, p.Tools = r.Prior, a.spec().Reread, advice, drift, s.Tools
	if path := handoff(a.files.store, a.name); r.Successor && path != "" {
		p.Reread = append(slices.Clone(p.Reread), path)
	}
	return p.Text()
}

// handoff returns the path of the file that an earlier session left for its successor, or
// "" if no such file exists.
func handoff(s *dropbox.Store, agent string) string {
	path := filepath.Join(s.Dir(), "board", "handoff", agent+".md")
	if _, err := os.Stat(path); err != nil {
		return ""
	}
	return path
}

// steering returns the source of urgent mail and whispers for j's turn, or nil if the
// client reads none during a turn. Only the agent's goroutine uses it.
func (a *agent) steering(j *mail.Job, heard *whisper.Turn) *runner.Steering {
	if !a.client.kind().Steers {
		return nil
	}
	may := func(m *dropbox.Message) bool {
		if m != nil && a.permits.asker.Answers(m) {
			return false // the message is an answer for which the daemon is waiting
		}
		if m == nil {
			st := a.holds.Of(a.name)
			return st.Stopped == nil && st.Paused == nil
		}
		if _, off := a.off(time.Now()); off && !a.passesHours(m) {
			return false // the turn continues without this message
		}
		return a.admission.mayTurn(a.name, a.inbox.ByLead(m), time.Now())
	}
	park := func(e dropbox.Entry, m *dropbox.Message) bool {
		h, held := a.admission.waits.First(a.queryFor(m, time.Now()))
		if held {
			a.park(e, m, h)
		}
		return held
	}
	return &runner.Steering{Wake: a.wakeup, Next: func() (runner.Steer, bool) {
		if s, ok := a.inbox.NextUrgent(j, may, park); ok {
			a.beats.came()
			return s, true
		}
		return heard.Next()
	}, Dropped: heard.Dropped}
}
