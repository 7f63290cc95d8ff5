package swarm

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// Offline reads the status of a project that has no running daemon from the project's
// files. The status contains the waiting messages, the messages whose turn has begun, the
// dead letters, the holds, and the cost. An agent whose client outlived the daemon counts
// as working. Daemon is nil in the result.
func Offline(home journal.Home, store *dropbox.Store, p Plan, project string, now time.Time) (Status, error) {
	st := Status{V: 1, Project: project, Mixed: p.mixed(), Halted: store.Halted(), Reason: screen.Short(store.HaltReason(), maxWhy), Agents: []AgentStatus{}}
	paused, err := journal.OpenHolds(home)
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		st.Trouble = append(st.Trouble, Problem{Why: e.Error(), Next: e.Next})
	} else if err != nil {
		return st, err
	}
	se, err := journal.OpenSessions(home)
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		st.Trouble = append(st.Trouble, Problem{Why: e.Error(), Next: e.Next})
	} else if err != nil {
		return st, err
	}
	sums, err := journal.ReadSums(home)
	if err != nil {
		return st, err
	}
	st.Judge, st.Removed = costBeside(sums, specNames(p.Agents), now)
	st.Budget, err = offlineBudget(home, p)
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		st.Trouble = append(st.Trouble, Problem{Why: e.Error(), Next: e.Next})
	} else if err != nil {
		return st, err
	}
	holds := offlineHolds(home)
	for _, spec := range p.Agents {
		a := AgentStatus{
			Name: spec.Name, Role: spec.Role, Tags: append([]string{}, spec.Tags...), Backend: spec.Backend, Channels: append([]string{}, spec.Channels...), State: Stopped, Activity: "paused",
			Why: WhyNoDaemon, Next: "claude-swarm start", CostUSD: sums.Cost(spec.Name, now),
		}
		var known turn.Picture
		if l, ok := sums.Last(spec.Name); ok {
			known = turn.Recalled(l, sums.Turns(spec.Name))
		}
		if s, ok := se.Get(spec.Name); ok {
			known.Session = s.ID
		}
		a.paint(known)
		// A query without a time also shows a pause whose time is over: a daemon has to end it.
		held, _ := holds.First(hold.Query{Agent: spec.Name, Attached: spec.Attached, Record: paused.Of(spec.Name)})
		switch held.Kind {
		case hold.KindAttached:
			a.State, a.Activity, a.Why, a.Next = Away, "idle", held.Why, held.Next
		case hold.KindStopped:
			a.Since, a.Why, a.Next, a.CircuitOpen = &held.Since, held.Why, held.Next, held.Breaker
		case hold.KindPaused: // what a person has to do first is to start the daemon
			a.State, a.Paused, a.Since, a.Why = Paused, true, &held.Since, held.Why
		}
		if d := paused.Of(spec.Name).Drain; d != nil {
			a.Drain = &DrainStatus{By: d.By, Since: d.Since.UTC()}
			a.Why = both(a.Why, d.Reason("draining"))
		}
		if err := countBox(store, &a); err != nil {
			return st, err
		}
		if !spec.Attached {
			if err := begunOffline(home, store, p, &a); err != nil {
				return st, err
			}
		}
		st.Agents = append(st.Agents, a)
	}
	st.Lead.Agent, st.Lead.Name = p.Lead, p.LeadName
	if st.Lead.Unread, st.Lead.Questions, err = forLead(store); err != nil {
		return st, err
	}
	gone, err := Gone(home, store, specNames(p.Agents))
	if err != nil {
		return st, err
	}
	st.Trouble = append(st.Trouble, goneTrouble(gone)...)
	st.Gate, err = gateStatus(store, p.Agents, now)
	return st, err
}

// maxWhy is the maximum length, in columns, of the reason for a halt that the status
// shows.
const maxWhy = 200

// WhyNoDaemon is the reason that the status shows for an idle agent if there is no other
// reason.
const WhyNoDaemon = "no daemon is running"

// begunOffline adds the message whose turn had begun when the daemon ended. The agent's
// client may still be working on it. Otherwise the message stays in cur/ until the next
// daemon settles it.
func begunOffline(home journal.Home, store *dropbox.Store, p Plan, a *AgentStatus) error {
	box, err := store.Mailbox(a.Name)
	if _, ok := errors.AsType[*dropbox.UnknownError](err); ok {
		return nil
	} else if err != nil {
		return err
	}
	claimed, err := box.Claimed()
	if err != nil {
		return err
	}
	begun := ""
	for _, e := range claimed {
		rec, err := mail.LastRecord(home, e)
		if err != nil {
			return err
		}
		if rec == nil || rec.End != "" {
			continue // the entry is a note, or its turn had not begun or has ended
		}
		if done, err := box.HasReceipt(e); err != nil {
			return err
		} else if done {
			continue
		}
		if begun == "" {
			begun = e.ID
			a.TurnCount++ // it has no line in the ledger yet
		}
		m := &dropbox.Message{}
		if read, err := box.Read(e); err == nil {
			m = read // the client is shown even if the message cannot be read
		}
		if begun == e.ID && mail.Describe(m) != "" {
			begun = fmt.Sprintf("\"%s\" (%s)", mail.Describe(m), e.ID)
		}
		if !rec.Process.Alive() {
			continue
		}
		a.State, a.Running, a.Paused, a.Activity = Working, true, false, "working"
		a.Since, a.PID, a.Description = new(rec.Begun.UTC()), &rec.Process.PID, mail.Describe(m)
		a.Message = &turn.MessageStatus{ID: e.ID, From: m.From, Subject: mail.Describe(m), Since: rec.Begun}
		a.Why, a.Next = "its client outlived the daemon", "claude-swarm start"
		if q := home.Asks(rec.Turn).Longest(); q != nil {
			showAsked(q, a, p)
		}
		return nil
	}
	switch {
	case begun == "":
	case a.Why == WhyNoDaemon:
		a.Why = begun + " was started before the daemon exited"
	default:
		a.Why += "; " + begun + " was started before the daemon exited"
	}
	return nil
}

// countBox adds the numbers of waiting messages, dead messages and dropped files in an
// agent's mailbox to the agent's status.
func countBox(store *dropbox.Store, a *AgentStatus) error {
	box, err := store.Mailbox(a.Name)
	if _, ok := errors.AsType[*dropbox.UnknownError](err); ok {
		return nil // the mailbox has not been created yet, so no message can be waiting
	} else if err != nil {
		return err
	}
	entries, err := box.Peek()
	if err != nil {
		return err
	}
	a.Waiting = countWaiting(entries)
	if a.Dead, err = box.DeadLetters().Count(); err != nil {
		return err
	}
	a.Drops, err = box.Drops().Count()
	return err
}

// countWaiting counts the messages in new/.
func countWaiting(entries []dropbox.Entry) mail.Waiting {
	var w mail.Waiting
	for _, e := range entries {
		w.Add(e.Priority, 1)
	}
	return w
}

// maxLookedAt is the maximum number of messages for the person, newest first, that are
// searched for questions. The search must read a file for each message.
const maxLookedAt = 500

// forLead counts the messages that the person has not read, and the unanswered questions,
// whether or not they were read.
func forLead(store *dropbox.Store) (unread, questions int, err error) {
	box, err := store.Mailbox(dropbox.Lead)
	if _, ok := errors.AsType[*dropbox.UnknownError](err); ok {
		return 0, 0, nil // a clone of a repository contains only mailboxes with finished messages
	} else if err != nil {
		return 0, 0, err
	}
	fresh, err := box.Peek()
	if err != nil {
		return 0, 0, err
	}
	read, err := box.Claimed()
	if err != nil {
		return len(fresh), 0, err
	}
	all := slices.Concat(fresh, read)
	slices.SortFunc(all, func(a, b dropbox.Entry) int { return b.Created.Compare(a.Created) })
	for _, e := range all[:min(len(all), maxLookedAt)] {
		if m, err := box.Read(e); err == nil && m.Type == dropbox.Question {
			questions++
		}
	}
	return len(fresh), questions, nil
}
