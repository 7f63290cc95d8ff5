package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Version is the format version of a [Payload].
const Version = 1

// A Payload is the body that a generic webhook posts: a JSON object in the form that
// Standard Webhooks recommends. It is also the body of the message in the mailbox.
type Payload struct {
	Type      journal.Word `json:"type"`
	Timestamp time.Time    `json:"timestamp"`
	Data      Data         `json:"data"`
}

// Data is the data of a [Payload]. Later versions may add fields. If the meaning of a
// field changes, V is incremented.
type Data struct {
	V        int              `json:"v"`       // [Version]
	Webhook  string           `json:"webhook"` // the name of the webhook
	Project  string           `json:"project"` // the name of the project's folder
	Severity journal.Severity `json:"severity"`
	Text     string           `json:"text"`            // one line for a person
	Agent    string           `json:"agent,omitempty"` // the agents to which the event applies, separated by ", "
	Message  *Message         `json:"message,omitempty"`
	Details  string           `json:"details,omitempty"` // more details, at most 2000 bytes
	Turn     *Turn            `json:"turn,omitempty"`    // the turn that ended
}

// A Message is the envelope of the message that a [Payload] is about.
type Message struct {
	ID      string `json:"id,omitempty"`
	From    string `json:"from"`
	Type    string `json:"type"`
	Subject string `json:"subject,omitempty"`
	Thread  string `json:"thread,omitempty"`
	Trace   string `json:"trace,omitempty"`
}

// A Turn describes how a turn ended.
type Turn struct {
	ID          string  `json:"id"`
	Outcome     string  `json:"outcome"`
	Seconds     float64 `json:"seconds"`
	CostUSD     float64 `json:"cost_usd"`
	CostUnknown bool    `json:"cost_unknown,omitempty"` // cost_usd covers only the known part
}

// Test is the type of the payload for a test that a person runs.
const Test journal.Word = "test"

// QuietHours is the type of the payload that combines the events of the person's quiet
// hours.
const QuietHours journal.Word = "quiet_hours"

// These are size limits for the strings in a payload, in bytes. Together, strings of
// these sizes fit into a mailbox message.
const (
	maxText    = 500
	maxDetails = 2000
	maxSubject = 200
)

// payloadOf returns the payload for an event and its notice, without a webhook name.
func payloadOf(ev journal.Event, n journal.Notice, project string) Payload {
	text := cut(screen.OneLine(n.Text()), maxText)
	p := Payload{Type: n.Word, Timestamp: ev.At.UTC(), Data: Data{
		V: Version, Project: project, Severity: n.Word.Severity(), Text: text, Agent: n.Agent,
	}}
	about := ev.Message
	if ev.Of != nil {
		about = ev.Of
	}
	if ev.Task != nil {
		about = ev.Task
	}
	if about != nil && about.ID != "" { // otherwise, the event contains only text from the daemon
		p.Data.Message = &Message{about.ID, about.From, string(about.Type), cut(screen.OneLine(about.Subject), maxSubject), about.Thread, about.Trace}
	}
	if ev.Message != nil {
		if details := cut(strings.TrimSpace(screen.Plain(ev.Message.Body)), maxDetails); details != text {
			p.Data.Details = details
		}
	}
	if t := ev.Turn; t != nil {
		p.Data.Turn = &Turn{t.ID, t.Outcome, t.Seconds, t.CostUSD, t.CostUnknown}
	}
	return p
}

// listPayload returns the payload for an event about a task on a client's own list.
func listPayload(ev journal.Event, project string) Payload {
	what := strings.TrimPrefix(string(ev.Kind), "task_") // created or completed
	return Payload{Type: journal.Word(ev.Kind), Timestamp: ev.At.UTC(), Data: Data{
		V: Version, Project: project, Severity: journal.Info, Agent: ev.Agent,
		Text:    cut(screen.OneLine("[TASK] "+ev.Agent+" "+what+" "+ev.Message.Subject), maxText),
		Details: cut(strings.TrimSpace(screen.Plain(ev.Message.Body)), maxDetails),
	}}
}

// morningPayload returns the payload for an event that combines other events. Its
// severity is that of the most severe of these events.
func morningPayload(ev journal.Event, project string) Payload {
	worst := journal.Info
	for _, w := range ev.Gathers {
		if s := w.Severity(); s == journal.Error || s == journal.Warning && worst == journal.Info {
			worst = s
		}
	}
	return Payload{Type: QuietHours, Timestamp: ev.At.UTC(), Data: Data{
		V: Version, Project: project, Severity: worst,
		Text:    cut(screen.OneLine(ev.Message.Subject), maxText),
		Details: cut(strings.TrimSpace(screen.Plain(ev.Message.Body)), maxDetails),
	}}
}

// TestPayload returns the payload for a test of a webhook.
func TestPayload(hook, project string, at time.Time) Payload {
	return Payload{Type: Test, Timestamp: at.UTC(), Data: Data{
		V: Version, Webhook: hook, Project: project, Severity: journal.Info, Text: "[TEST] The webhook " + hook + " of " + project + " works.",
	}}
}

// JSON returns the payload in the form in which it is posted. It does not escape < or &,
// because the payload is not HTML.
func (p Payload) JSON() []byte {
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(p); err != nil {
		panic(err) // strings, numbers and a time can always be encoded
	}
	return bytes.TrimSuffix(out.Bytes(), []byte("\n"))
}

var errNoPayload = errors.New("it is not an event for a webhook")

// decode parses data, and returns an error if it is not a payload.
func decode(data []byte) (Payload, error) {
	var p Payload
	if json.Unmarshal(data, &p) != nil || p.Data.Webhook == "" || p.Type == "" {
		return p, errNoPayload
	}
	return p, nil
}

// cut shortens a string to a maximum number of bytes without splitting a rune, and marks
// the cut with ….
func cut(s string, most int) string {
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most-len("…")], "") + "…"
}
