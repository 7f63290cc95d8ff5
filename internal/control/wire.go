package control

import (
	"encoding/json"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// protocolVersion is the value of v in both hellos.
const protocolVersion = 1

// The types of frames that are not requests; for requests see request.go.
const (
	typeHello    = "hello"
	typeResponse = "response"
	typeEvent    = "event"
	typeCancel   = "cancel"
	typeWhisper  = "whisper"
)

// A hello is the first line that each end sends.
type hello struct {
	Type    string `json:"type"`
	V       int    `json:"v"`
	Version string `json:"version"` // of the program
}

// A reply is a frame from the server other than its hello and the whispers.
type reply struct {
	Type  string          `json:"type"` // response or event
	ID    string          `json:"id"`
	OK    *bool           `json:"ok,omitempty"` // of a response
	Data  json.RawMessage `json:"data,omitempty"`
	Error *Error          `json:"error,omitempty"`
	End   bool            `json:"end,omitempty"` // the stream has ended: no further events
}

// A whispered is a whisper from the supervisor to the agent in whose turn the client runs.
// The server sends it before a response, even if the client did not ask for whispers.
type whispered struct {
	Type        string `json:"type"`
	WhisperType string `json:"whisper_type"`
	Message     string `json:"message"`
}

// answer makes the response to a request.
func answer(id string, data any, err error) reply {
	ok := err == nil
	r := reply{Type: typeResponse, ID: id, OK: &ok}
	if ok && data != nil {
		r.Data, err = json.Marshal(data)
		if err == nil && len(r.Data) > maxLine-1024 {
			err = &Error{Code: CodeTooLong, Message: fmt.Sprintf("the answer has %d bytes, which is more than a line may contain", len(r.Data)),
				Hint: "ask for fewer agents at once"}
		}
	}
	if err != nil {
		ok, r.Data, r.Error = false, nil, wireError(err)
	}
	return r
}

// maxEventText bounds the text in one event, in bytes. JSON turns one byte into up to six,
// so an event always fits a line.
const maxEventText = maxLine/6 - 4096

// event makes a frame for an event. It cuts text that is too long, such as a raw line that
// contains an image, and marks the cut.
func event(id string, ev swarm.FeedEvent) reply {
	if len(ev.Text) > maxEventText {
		ev.Text = fmt.Sprintf("%s[… %d bytes cut …]\n", ev.Text[:maxEventText], len(ev.Text)-maxEventText)
	}
	data, err := json.Marshal(ev)
	if err != nil {
		// Only a time after the year 9999 causes this error.
		data = []byte(`{}`)
	}
	return reply{Type: typeEvent, ID: id, Data: data}
}

// A span is a time span on the wire: text such as 1h30m.
type span time.Duration

func (s span) duration() time.Duration { return time.Duration(s) }

func (s span) MarshalText() ([]byte, error) { return []byte(time.Duration(s).String()), nil }

func (s *span) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*s = 0
		return nil
	}
	d, err := time.ParseDuration(string(text))
	*s = span(d)
	return err
}
