package mail

import (
	"cmp"
	"errors"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// completed returns the person's task that the turn on m, with the receipt r, completes.
// A task is complete when none of its other messages are waiting or in a turn. answer is
// the id of the answer that the daemon sent, or "". If m does not complete a task,
// completed returns nil.
func (in *Inbox) completed(m *dropbox.Message, r *journal.Receipt, answer string) *dropbox.Message {
	if answer != "" && IsAgent(m.From) {
		return nil // the answer is part of the task, even if its turn has already ended
	}
	task, err := m, error(nil)
	if root := cmp.Or(m.Trace, m.ID); root != m.ID {
		if task, err = in.Store.Message(root); errors.Is(err, dropbox.ErrNotFound) {
			return nil // the task has been removed in the meantime
		}
	}
	if err == nil && (task.Type != dropbox.Task || task.From != dropbox.Lead && !dropbox.IsBridge(task.From)) {
		return nil
	}
	if err == nil && task.Topic != "" && !in.doneBySomebody(task, m) {
		return nil
	}
	open := false
	if err == nil && (task != m || len(r.Sent) > 0) {
		open, err = in.isOpen(task, m.ID)
	}
	if err != nil {
		in.Log.Warn("could not determine whether a task is complete", keyMessage, m.ID, keyErr, err)
		return nil
	}
	if open || task != m && isLateAnswer(m) && in.announced(task.ID) {
		return nil
	}
	return task
}

// isLateAnswer reports whether a message is a person's answer that comes as mail, because the turn
// that asked no longer waits for it.
func isLateAnswer(m *dropbox.Message) bool {
	return m.Type == dropbox.Result && (m.From == dropbox.Lead || dropbox.IsBridge(m.From))
}

// announced reports whether the event list already says that a task is complete. It reads the
// whole list, which is for rare cases.
func (in *Inbox) announced(task string) bool {
	for r := in.Notices.Events.From(0); ; {
		events, err := r.Next()
		if err != nil {
			in.Log.Warn("could not determine whether a task was announced", keyMessage, task, keyErr, err)
			return false
		}
		if len(events) == 0 {
			return false
		}
		for _, ev := range events {
			if ev.Word() == journal.AgentComplete && ev.Task != nil && ev.Task.ID == task {
				return true
			}
		}
	}
}

// doneBySomebody reports whether published work is done now that the turn on m has ended. It
// is done when an agent that has claimed it ends its turn on it. A turn that declines an
// offer, or that loses the claim, does nothing of the work. Work that the agent delegated may
// end after that.
func (in *Inbox) doneBySomebody(work, m *dropbox.Message) bool {
	if m.Offer == work.ID {
		return in.hasOffer(work.ID)
	}
	_, err := topic.Of(in.Store).Find(work.ID)
	taken, closed := errors.AsType[*topic.TakenError](err)
	return closed && taken.Closed
}

// doerOf returns the agent that has done a task: the one that claimed it if it was published,
// otherwise those to whom it was sent.
func (in *Inbox) doerOf(task *dropbox.Message) string {
	if task.Topic != "" {
		if g, err := topic.Of(in.Store).GrantOf(task.ID); err == nil {
			return g.Agent
		}
		return in.Name
	}
	return cmp.Or(strings.Join(task.To, ", "), in.Name)
}

// isOpen reports whether any of a task's messages, other than except, is waiting for an
// agent or is in a turn. Questions to people do not count, because the agent that asked
// may have continued without an answer.
func (s *Service) isOpen(task *dropbox.Message, except string) (bool, error) {
	since := task.Created.Add(-time.Minute) // the clock of another machine may differ
	open := false
	err := s.Store.Unfinished(IsAgent, func(box *dropbox.Mailbox, e dropbox.Entry) bool {
		if e.ID == except || e.Created.Before(since) {
			return true
		}
		m, err := box.Read(e)
		if err != nil || m.Trace != task.ID {
			return true // not a valid message, just filed, or part of another task
		}
		if m.Offer != "" {
			if g, err := topic.Of(s.Store).GrantOf(m.Offer); err == nil && g.Agent != box.Name() {
				return true // another agent has the work, so this offer begins no turn
			}
		}
		if ended, err := box.HasReceipt(e); err == nil && ended {
			return true
		}
		open = m.Type.Wakes()
		return !open
	})
	return open, err
}

// IsAgent reports whether a mailbox belongs to an agent.
func IsAgent(mailbox string) bool { return dropbox.CheckAgent(mailbox) == nil }
