package mail

import (
	"cmp"
	"errors"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// A ListEvent contains what the client passes to its TaskCreated and TaskCompleted hooks, and
// the hook's pid. The fields are those of the versions 2.1.197 and 2.1.332, which agree. A
// client that runs a teammate calls TaskCompleted again, at the end of each of the teammate's
// turns, for a task that is still in progress.
type ListEvent struct {
	PID         int    // of the hook
	Session     string // id of the client's session
	Task        string // the client's number of the task
	Subject     string
	Description string
	By          string // the teammate that did it; "" means the session itself
	Done        bool   // the task is completed, not created
}

// Maximum lengths, in characters, of the parts of a task on the list.
const (
	maxListed   = 150 // of its subject
	maxListedID = 40  // of its number, and of a teammate's name
)

// Listed tells people about a task on the client's own list. It tells each task once when it is
// created and once when it is completed. If another session has the agent's mail, Listed does
// nothing.
func (s *Attached) Listed(ev ListEvent) (err error) {
	unlock, err := s.mail.Home.LockBinding(s.mail.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(ev.PID, ev.Session)
	if err != nil || other != nil {
		return err
	}
	short := func(text string, most int) string { return screen.Short(s.mail.Hidden.Text(text), most) }
	task := journal.ListedTask{ID: short(ev.Task, maxListedID), Subject: cmp.Or(short(ev.Subject, maxListed), "(no subject)"), By: short(ev.By, maxListedID), Done: ev.Done}
	if task.ID == "" || !b.Lists(task) {
		return nil
	}
	f := notice.Listed{Agent: s.mail.Name, Session: short(ev.Session, maxListedID), Task: task, Details: screen.Plain(s.mail.Hidden.Text(ev.Description)), Message: b.Message}
	// After a crash before the binding is written, the event may be told again, with the same
	// key.
	if err := s.mail.Notices.Add(f); err != nil {
		return err
	}
	what := "+ "
	if task.Done {
		what = "- "
	}
	s.mail.AgentLog.Line(b.Message, what+task.String())
	return b.Write(s.mail.Home)
}
