package journal

import (
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Kind is the kind of an event.
type Kind string

// The kinds of events. A new kind needs a row in the catalogue of package notice, and a
// place in howShown of cmd/claude-swarm, because a rule of irc.map that names no moment
// shows it too. Tests name the row, the pages and the word of irc.map that are missing.
const (
	Begun  Kind = "begun"  // a turn begins: Message is its message, To is the agent
	Result Kind = "result" // a turn ended well: Message is its result, To is the sender of its message
	Failed Kind = "failed" // a turn ended badly: Message contains the reason
	Mail   Kind = "mail"   // Message arrived in the lead's mailbox
	Alert  Kind = "alert"  // Message is from the daemon, for the lead
	Dead   Kind = "dead"   // a message was given up: Message contains the reason
	// A client asked permission for a tool call, and the call was denied or somebody was
	// asked about it. Message contains the outcome.
	Permission Kind = "permission"
	// A task was put on the client's own task list in an attached session, or was ticked off
	// there. Message contains the task. It is no task of a person, and no agent works on it as
	// mail.
	TaskCreated   Kind = "task_created"
	TaskCompleted Kind = "task_completed"
	Noticed       Kind = "notice" // an event that contains only a Notice
)

// Kinds lists the kinds of events.
func Kinds() []Kind {
	return []Kind{Begun, Result, Failed, Mail, Alert, Dead, Permission, TaskCreated, TaskCompleted, Noticed}
}

// IsOfList reports whether events of the kind are about the client's own task list.
func (k Kind) IsOfList() bool { return k == TaskCreated || k == TaskCompleted }

// An Event is an occurrence that people may want to see.
type Event struct {
	V    int       `json:"v"`
	Seq  int64     `json:"seq"` // 1, 2, 3 …; set by [Events.Add]
	At   time.Time `json:"at"`  // set by [Events.Add] if it is zero
	Kind Kind      `json:"kind"`
	// Key identifies the event when it is added again.
	Key   string `json:"key"`
	Agent string `json:"agent,omitempty"` // the agent that the event is about, or ""
	To    string `json:"to,omitempty"`    // the mailbox of Message's recipient
	About string `json:"about,omitempty"` // id of the message with the details

	Message *Message `json:"message,omitempty"` // the message to show
	// Of is the turn's message; nil if there was no turn.
	Of *Message `json:"of,omitempty"`
	// Task is a person's task that this event completes, or nil.
	Task *Message `json:"task,omitempty"`
	Turn *Turn    `json:"turn,omitempty"` // set for Result and Failed
	// Quiet is the time when the person's quiet hours end. It is set only if the event
	// happened during them. The daemon reports the event to the person only at that time,
	// in one alert about all such events.
	Quiet time.Time `json:"quiet_until,omitzero"`
	// Gathers lists the words of the notices that an Alert at the end of the quiet hours
	// reports. It is empty for all other events.
	Gathers []Word `json:"gathers,omitempty"`
	// Notice is set if a person may have to act on the event. An event of any kind may
	// have one.
	Notice *Notice `json:"notice,omitempty"`
}

// Word returns the word of the event's notice, or "" if the event has no notice.
func (ev Event) Word() Word {
	if ev.Notice == nil {
		return ""
	}
	return ev.Notice.Word
}

// A Turn describes how a turn ended.
type Turn struct {
	ID      string  `json:"id"`
	Outcome string  `json:"outcome"`
	Seconds float64 `json:"seconds"`
	CostUSD float64 `json:"cost_usd"`
	// CostUnknown is as in [LedgerLine].
	CostUnknown bool `json:"cost_unknown,omitempty"`
}

// A Message is the part of a message that is stored in the list.
type Message struct {
	ID       string       `json:"id,omitempty"` // "" if it was not delivered
	From     string       `json:"from"`
	To       []string     `json:"to,omitempty"`
	Type     dropbox.Type `json:"type"`
	Subject  string       `json:"subject,omitempty"`
	Thread   string       `json:"thread,omitempty"`
	ReplyTo  string       `json:"reply_to,omitempty"`
	Trace    string       `json:"trace,omitempty"`
	Key      string       `json:"key,omitempty"`
	Outcome  string       `json:"outcome,omitempty"` // as in [dropbox.Message]
	Priority string       `json:"priority,omitempty"`
	Extra    string       `json:"extra,omitempty"` // as in [dropbox.Message]
	Body     string       `json:"body,omitempty"`  // the beginning of the body
}

// Size limits, in bytes, for the part of a message that is stored in the list.
const (
	maxText  = 7 << 10 // of the body; large enough for a whole alert
	maxExtra = 4 << 10 // a longer Extra is omitted, because a part of it would not be valid YAML
)

// Keep returns the part of a message that is stored in the list. It returns nil if m is
// nil.
func Keep(m *dropbox.Message) *Message {
	if m == nil {
		return nil
	}
	out := &Message{
		ID: m.ID, From: m.From, To: m.To, Type: m.Type, Subject: m.Subject, Thread: m.Thread, ReplyTo: m.ReplyTo,
		Trace: m.Trace, Key: m.Key, Outcome: m.Outcome, Priority: m.Priority.String(), Body: screen.Truncate(string(m.Body), maxText),
	}
	if len(m.Extra) <= maxExtra {
		out.Extra = m.Extra
	}
	return out
}

// Mail returns the message with the parts that were stored. It returns nil if m is nil.
func (m *Message) Mail() *dropbox.Message {
	if m == nil {
		return nil
	}
	priority, err := dropbox.ParsePriority(m.Priority)
	if err != nil {
		priority = dropbox.Normal // a priority from a later version
	}
	return &dropbox.Message{
		V: dropbox.Version, ID: m.ID, From: m.From, To: m.To, Type: m.Type, Subject: m.Subject, Thread: m.Thread, ReplyTo: m.ReplyTo,
		Trace: m.Trace, Key: m.Key, Outcome: m.Outcome, Priority: priority, Extra: m.Extra, Body: []byte(m.Body),
	}
}
