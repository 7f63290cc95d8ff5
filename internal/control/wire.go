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
	Version string `json:"version"` // the version of the program
}

// A reply is any frame from the server except its hello and the whispers.
type reply struct {
	Type  string          `json:"type"` // "response" or "event"
	ID    string          `json:"id"`
	OK    *bool           `json:"ok,omitempty"` // only in a response
	Data  json.RawMessage `json:"data,omitempty"`
	Error *Error          `json:"error,omitempty"`
	End   bool            `json:"end,omitempty"` // the stream has ended, and no more events follow
}

// A whispered is a whisper from the supervisor to the agent in whose turn the client is
// running. The server sends it before a response, even if the client did not ask for
// whispers.
type whispered struct {
	Type        string `json:"type"`
	WhisperType string `json:"whisper_type"`
	Message     string `json:"message"`
}

// answer creates the response to a request.
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

// maxEventText is the maximum length of the text in one event, in bytes. JSON encodes one
// byte as at most six, so an event always fits on one line.
const maxEventText = maxLine/6 - 4096

// event creates the frame for an event. It truncates text that is too long, such as a raw
// line that contains an image, and marks the truncation.
func event(id string, ev swarm.FeedEvent) reply {
	if len(ev.Text) > maxEventText {
		ev.Text = fmt.Sprintf("%s[… %d bytes cut …]\n", ev.Text[:maxEventText], len(ev.Text)-maxEventText)
	}
	data, err := json.Marshal(ev)
	if err != nil {
		// This error occurs only for a time after the year 9999.
		data = []byte(`{}`)
	}
	return reply{Type: typeEvent, ID: id, Data: data}
}

// A span is a time span that is transmitted as text, such as 1h30m.
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
