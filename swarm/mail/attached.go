package mail

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// An Attached handles the mail of an agent whose session is run by a person. The hooks of
// that session's client call it for the steps that the daemon performs for other agents.
// A turn that ends well goes through the same steps as under the daemon. The receipt next
// to the message in cur/ is the commit point. An Attached must be used by only one
// goroutine. A lock makes concurrent hooks run one at a time.
type Attached struct {
	mail   *Inbox
	advise func() string
}

// AttachedOptions are the optional parts of an Attached.
type AttachedOptions struct {
	Gate      Gate             // judges every claimed message, as in the daemon; if nil, only loops are stopped
	Announcer notice.Announcer // nil means that nothing is announced
	Advise    func() string    // returns a line for each prompt; nil means no line
	Log       *slog.Logger     // nil means no log
	Logs      journal.LogPolicy
	Names     Names  // the names of the lead and the person
	Backend   string // the kind of client that runs the session, for the receipts
}

// OpenAttached returns an Attached for an agent. The caller must close the Attached and
// the store.
func OpenAttached(home journal.Home, store *dropbox.Store, name string, o AttachedOptions) (*Attached, error) {
	log := o.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	tokens, err := journal.OpenTokens(home, name)
	if err != nil {
		return nil, err
	}
	if err := home.Make(); err != nil {
		return nil, err
	}
	if err := store.MakeMailbox(name); err != nil {
		return nil, err
	}
	box, err := store.Mailbox(name)
	if err != nil {
		return nil, err
	}
	s := &Service{
		Home: home, Store: store, Ledger: appender{home}, Tokens: tokens, Counts: new(journal.TurnCounts), Secrets: home.Secrets(),
		Log: log, Gate: o.Gate, TurnsAt: home.TurnsSince,
		Names: func() Names { return o.Names },
	}
	s.Notices = &notice.Teller{
		Home: home, Store: store, Events: home.Events(), Log: log, Announcer: notice.NewAnnouncing(o.Announcer),
		Hide:    func(text string) string { return s.Secrets.Redactor().Text(text) },
		Deliver: s.Deliver, LeadFor: o.Names.LeadFor,
		CanWork: func(string) bool { return false }, // alerts go to the person
		Alerted: func(time.Time, string, string) { /* this process has no listeners */ },
	}
	listeners := slices.DeleteFunc(s.Notices.Listeners(), func(l notice.Listener) bool { return !l.IsOn() })
	for _, l := range listeners {
		if err := s.Notices.Events.Begin(l.Name); err != nil {
			return nil, err
		}
	}
	s.Notices.Wake = func() { // there may be no running daemon that calls the listeners
		for _, l := range listeners {
			_, _ = s.Notices.Hear(context.Background(), l) // Hear reports the error, and the next call to Hear repeats the event
		}
	}
	s.Notices.Filed = s.Notices.Wake
	in := &Inbox{Service: s, Name: name, Box: box, Log: log, Hidden: hider{s.Secrets}, Backend: func() string { return o.Backend }}
	in.AgentLog = journal.OpenAgentLog(home, name, o.Logs, func(time.Time, string, string) {}, func(err error) { log.Warn("agent's log", keyErr, err) })
	return &Attached{mail: in, advise: o.Advise}, nil
}

// An appender adds lines to the ledger from outside the daemon.
type appender struct{ home journal.Home }

func (a appender) Add(line journal.LedgerLine) error { return journal.AppendLedger(a.home, line) }

// Unbooked returns false, because the cost of a person's own session is not known.
func (appender) Unbooked(string) (journal.LedgerLine, bool) { return journal.LedgerLine{}, false }

// A hider removes the project's tokens from text.
type hider struct{ secrets *tokens.Source }

func (h hider) Text(text string) string { return h.secrets.Redactor().Text(text) }

// Close closes the agent's log.
func (s *Attached) Close() { s.mail.AgentLog.Close() }

// A StopEvent contains the data that the client passes to its Stop hook, the hook's pid
// and the agent's settings.
type StopEvent struct {
	PID     int    // of the hook
	Session string // id of the client's session
	Prompt  string // id of the prompt whose turn has ended; "" if the client does not report it
	Active  bool   // a Stop hook started the turn that has just ended
	Last    string // the assistant's last words
	// Tasks are the ids of the sub-agents that are still working in the background. When
	// one of them ends, the client starts a turn without a prompt from the person.
	Tasks []string

	// Continue passes the next message to the session immediately. If it is false, the
	// reply only says that there is mail.
	Continue bool
	// Cap is the maximum number of consecutive turns that the hook may start in this way.
	// The client has its own cap. Above that cap it ignores the hook, and the message
	// would be lost.
	Cap int
}

// A StopReply is the hook's reply to the client.
type StopReply struct {
	Prompt string // the session continues with this prompt; "" means that it stops
	Notice string // a line for the person; "" means no line
}

// A BeginReply is the hook's reply when a session begins.
type BeginReply struct {
	Duty   string // tells the model that mail is work of this session; "" if it gets no mail
	Notice string // a line for the person; "" means no line
}

// Begin binds a session to the agent, so that the session gets the agent's mail from then
// on. It puts back messages that an earlier session left unfinished. If the agent's
// earlier session is still running, that session keeps the mail, and the notice says so.
func (s *Attached) Begin(pid int, session string) (reply BeginReply, err error) {
	unlock, err := s.mail.Home.LockBinding(s.mail.Name)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(pid, session)
	if err != nil || other != nil {
		reply.Notice = s.taken(other)
		return reply, err
	}
	if b.Message == "" {
		if err := s.putBackLeft(); err != nil {
			return reply, err
		}
	}
	reply.Duty = dutyText(s.mail.Name)
	n, err := s.waiting()
	if n > 0 {
		reply.Notice = fmt.Sprintf("%s has mail: %s waiting.", s.mail.Name, screen.Count(n, "message"))
	}
	return reply, err
}

func (s *Attached) taken(other *journal.Binding) string {
	if other == nil {
		return ""
	}
	return fmt.Sprintf("%s is attached to another session (pid %d), which gets its mail.", s.mail.Name, other.Process.PID)
}

// bind returns the binding of the client that called the hook. If the agent is bound to
// another running client, bind returns that client's binding as other.
func (s *Attached) bind(pid int, session string) (b, other *journal.Binding, err error) {
	client, err := clientAbove(pid)
	if err != nil {
		return nil, nil, err
	}
	have, err := s.mail.Home.LastBinding(s.mail.Name)
	if err != nil {
		return nil, nil, err
	}
	switch {
	case have != nil && have.Process == client:
		b = have
		if b.Message != "" && b.Session != "" && session != "" && b.Session != session {
			// The client started another conversation, for example after /clear, and its
			// hook did not run.
			if err := s.settle(b, "", false); err != nil {
				return nil, nil, err
			}
		}
	case have != nil && have.Process.Alive():
		return nil, have, nil
	default:
		b = &journal.Binding{Agent: s.mail.Name, Process: client, Since: time.Now().UTC()}
		if err := s.putBackLeft(); err != nil {
			return nil, nil, err
		}
	}
	if b.Session != session {
		b.List = nil // each session has its own list
	}
	b.Session = session
	return b, nil, b.Write(s.mail.Home)
}

// Stop handles the end of a turn in the session. It writes the receipt of the message
// that the turn worked on, sends the answer, and files the message. Then it starts work
// on the next message, if the cap allows it. If sub-agents of the message continue in the
// background, the message is done at the end of the turn in which the session is notified
// that the last of them has ended.
func (s *Attached) Stop(ev StopEvent) (reply StopReply, err error) {
	unlock, err := s.mail.Home.LockBinding(s.mail.Name)
	if err != nil {
		return reply, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(ev.PID, ev.Session)
	if err != nil || other != nil {
		return reply, err
	}
	b.Tasks = ev.Tasks
	if b.Message != "" {
		// Every turn of a prompt reports that prompt's id when it ends, even a turn that
		// a Stop hook started. A different id means that the message's turn was
		// interrupted. If the client reports no ids, only a turn that a Stop hook started
		// is certain to be the message's turn. After any other turn the message is put
		// back, unless it awaits its sub-agents.
		done := b.Prompt == ev.Prompt && (ev.Active || b.Asked && ev.Prompt != "")
		if b.Awaits = b.AwaitsTasks(done); b.Awaits {
			b.Latest = ev.Prompt
			return reply, b.Write(s.mail.Home)
		}
		if err := s.settle(b, ev.Last, done); err != nil {
			return reply, err
		}
	} else if err := s.putBackCut(); err != nil {
		return reply, err
	}
	b.Latest = ev.Prompt
	if !ev.Active {
		b.Blocks = 0
	}
	held, err := s.held(time.Now())
	if err != nil {
		return reply, err
	}
	if ev.Continue && b.Blocks < ev.Cap && held == "" {
		if reply.Prompt, err = s.next(b, requestText(s.mail.Name)); err != nil {
			return reply, err
		}
		if reply.Prompt != "" {
			b.Blocks++
			return reply, b.Write(s.mail.Home)
		}
		if held, err = s.draining(); err != nil {
			return reply, err
		}
	}
	n, err := s.waiting()
	switch {
	case n > 0 && held != "":
		reply.Notice = fmt.Sprintf("%s: %s waiting.", held, screen.Count(n, "message"))
	case n > 0:
		reply.Notice = fmt.Sprintf("%s has mail: %s waiting. Type /inbox.", s.mail.Name, screen.Count(n, "message"))
	}
	return reply, errors.Join(err, b.Write(s.mail.Home))
}

// Fetch returns the next message for the person's session as a prompt, or "" if no
// message is waiting. The message is filed when the turn ends. If the client has no Stop
// hook that reports the end of the turn, fileLast makes Fetch file the message that it
// returned in the previous call.
func (s *Attached) Fetch(pid int, session string, fileLast bool) (prompt string, err error) {
	unlock, err := s.mail.Home.LockBinding(s.mail.Name)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(pid, session)
	if err != nil {
		return "", err
	}
	if other != nil {
		return "", errors.New(s.taken(other))
	}
	if b.Message != "" {
		if err := s.settle(b, "", fileLast && b.Asked); err != nil {
			return "", err
		}
	} else if err := s.putBackCut(); err != nil {
		return "", err
	}
	if held, err := s.held(time.Now()); err != nil {
		return "", err
	} else if held != "" {
		return "", errors.Join(errors.New(held), b.Write(s.mail.Home))
	}
	if prompt, err = s.next(b, ""); err == nil && prompt == "" {
		err = s.drained()
	}
	if err != nil || prompt == "" {
		return "", errors.Join(err, b.Write(s.mail.Home))
	}
	b.Asked = true
	return prompt, b.Write(s.mail.Home)
}

// Prompted records the client's id for the prompt that the session gets. The
// UserPromptSubmit and UserPromptExpansion hooks call it. For a slash command the client
// calls both hooks with the same id, and calls at least one of them before it runs the !
// lines: version 2.1.197 expands the command, runs the lines and submits; version 2.1.330
// submits, expands and runs them. If the prompt's id differs from the id of the turn that
// is working on a message, that turn was interrupted, for example by Esc, for which the
// client does not call a hook. The message is then put back. Text that the person types
// during a running turn has the id of that turn (2.1.330), or the client does not call a
// hook for it (2.1.197).
//
// text is the text of the prompt. The client also uses a prompt to notify its session
// that a sub-agent in the background has ended (2.1.330). The work on a message that is
// waiting for that sub-agent then continues. Text that the person types before the
// notification does not interrupt that work.
func (s *Attached) Prompted(pid int, session, prompt, text string) (err error) {
	unlock, err := s.mail.Home.LockBinding(s.mail.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, other, err := s.bind(pid, session)
	if err != nil || other != nil {
		return err
	}
	b.Latest = prompt
	if b.Awaits {
		if ended := endedTask(text); ended != "" && !slices.Contains(b.Before, ended) {
			b.Prompt, b.Asked, b.Awaits = prompt, true, false // the Stop hook did not start this turn
			return b.Write(s.mail.Home)
		}
		if len(b.Helpers()) > 0 {
			return b.Write(s.mail.Home)
		}
	}
	if b.Message != "" && (prompt == "" || b.Prompt != prompt) {
		if err := s.settle(b, "", false); err != nil {
			return err
		}
	}
	return b.Write(s.mail.Home)
}

// endedTask returns the id of the sub-agent or other background task whose end a prompt
// reports. It returns "" for any other prompt.
func endedTask(text string) string {
	rest, ok := strings.CutPrefix(text, "<task-notification>\n<task-id>")
	id, _, whole := strings.Cut(rest, "</task-id>")
	if !ok || !whole {
		return ""
	}
	return id
}

// End handles the end of the session. It puts back the messages that the session did not
// finish.
func (s *Attached) End(pid int) (err error) {
	unlock, err := s.mail.Home.LockBinding(s.mail.Name)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	b, err := s.mail.Home.LastBinding(s.mail.Name)
	if b == nil || err != nil {
		return err
	}
	if client, err := clientAbove(pid); err != nil || client != b.Process {
		return err
	}
	return errors.Join(s.putBackLeft(), os.Remove(s.mail.Home.BindingFile(s.mail.Name)))
}

// held returns the reason why the session currently gets no mail, and what the person can
// do about it. It returns "" if the session gets mail. A pause, stop or halt by a person
// also applies to the person's own session.
func (s *Attached) held(now time.Time) (string, error) {
	name := s.mail.Name
	all, err := journal.OpenHolds(s.mail.Home)
	if err != nil {
		return "", err
	}
	switch st := all.Of(name); {
	case st.Stopped != nil && !st.Stopped.Breaker:
		return fmt.Sprintf("%s is stopped (%s; claude-swarm start %s)", name, st.Stopped.Reason(), name), nil
	case st.Paused.Holds(now):
		return fmt.Sprintf("%s is paused (%s; claude-swarm resume %s)", name, st.Paused.Reason(), name), nil
	case s.mail.Store.Halted():
		return "everything is halted (claude-swarm unhalt)", nil
	}
	return "", nil
}

// draining returns the reason why the session currently gets no mail of new tasks, or "".
func (s *Attached) draining() (string, error) {
	all, err := journal.OpenHolds(s.mail.Home)
	if err != nil {
		return "", err
	}
	name := s.mail.Name
	if d := all.Of(name).Drain; d != nil {
		return fmt.Sprintf("%s is %s; claude-swarm undrain %s", name, d.Reason("draining"), name), nil
	}
	return "", nil
}

// drained returns an error that says why mail is waiting although the session gets none.
func (s *Attached) drained() error {
	why, err := s.draining()
	if err != nil || why == "" {
		return err
	}
	if n, err := s.waiting(); n == 0 || err != nil {
		return err
	}
	return errors.New(why)
}

// waiting counts the waiting messages, except notes and statuses, which do not start a
// turn.
func (s *Attached) waiting() (n int, err error) {
	entries, err := s.mail.Box.Peek()
	for _, e := range entries {
		if m, err := s.mail.Box.Read(e); err != nil || m.Type.Wakes() {
			n++
		}
	}
	return n, err
}
