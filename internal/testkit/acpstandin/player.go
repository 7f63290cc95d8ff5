package acpstandin

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"
)

// A Line is one line of a recorded dialogue.
type Line struct {
	TMS int             `json:"t_ms"` // time since the agent started
	Dir string          `json:"dir"`  // client or agent
	Msg json.RawMessage `json:"msg"`
}

// ReadRecord reads a record and splits it into its connections, each of which begins with
// the client's initialize request. Lines with a direction other than client or agent are
// comments.
func ReadRecord(r io.Reader) ([][]Line, error) {
	var connections [][]Line
	lines := bufio.NewReader(r)
	for n := 1; ; n++ {
		data, err := lines.ReadBytes('\n')
		if len(bytes.TrimSpace(data)) > 0 {
			var l Line
			if err := json.Unmarshal(data, &l); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			var m message
			comment := l.Dir != "client" && l.Dir != "agent"
			if err := json.Unmarshal(l.Msg, &m); err != nil && !comment {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
			switch {
			case comment:
			case l.Dir == "client" && m.Method == "initialize":
				connections = append(connections, []Line{l})
			case len(connections) == 0:
				return nil, fmt.Errorf("line %d: the record does not begin with initialize", n)
			default:
				connections[len(connections)-1] = append(connections[len(connections)-1], l)
			}
		}
		if errors.Is(err, io.EOF) {
			return connections, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// A Player plays the agent in one recorded connection. It matches each message from the
// client with the next recorded message of the same kind: a request or notification with
// the same method, or the response to the same request from the agent. Then it prints the
// messages that the agent printed before the client's next message. It translates request
// ids, the session id and the working folder. It returns an error for a response that
// differs from the recorded one or is not in the record. A Player is not safe for
// concurrent use.
type Player struct {
	lines []Line
	open  []string       // ids of the agent's requests that have no response yet
	sent  []message      // the client's messages, at the indexes of their lines; zero at other indexes
	used  map[string]int // how much of the record has been played, by kind of message
	ids   map[string]json.RawMessage
	old   []string // pairs for strings.NewReplacer
}

// NewPlayer returns a player for one connection.
func NewPlayer(lines []Line) *Player {
	p := &Player{lines: lines, sent: make([]message, len(lines)), used: map[string]int{}, ids: map[string]json.RawMessage{}}
	for i, l := range lines {
		if l.Dir == "client" {
			json.Unmarshal(l.Msg, &p.sent[i]) // cannot fail, because ReadRecord has checked it
		}
	}
	return p
}

// kindOf returns the kind of a message from the client, which is used to find the
// matching message in the record.
func kindOf(m message) string {
	if m.Method == "" {
		return "answer to " + string(m.ID)
	}
	return m.Method
}

// Next returns the messages that the agent prints after a message from the client. For a
// request that is not in the record, it returns the error for an unknown method.
func (p *Player) Next(m message) ([]json.RawMessage, error) {
	kind := kindOf(m)
	at := p.used[kind]
	for at < len(p.lines) && (p.lines[at].Dir != "client" || kindOf(p.sent[at]) != kind) {
		at++
	}
	if at == len(p.lines) {
		switch {
		case m.Method == "":
			return nil, fmt.Errorf("the record has no %s", kind)
		case m.ID == nil:
			return nil, nil
		}
		return []json.RawMessage{encode(map[string]any{"jsonrpc": "2.0", "id": m.ID, "error": notFound(m.Method)})}, nil
	}
	p.used[kind] = at + 1
	if m.Method == "" {
		if recorded := p.sent[at]; !same(recorded.Result, m.Result) || (recorded.Error == nil) != (m.Error == nil) {
			return nil, fmt.Errorf("the %s is %s, in the record %s", kind, outcome(m), outcome(recorded))
		}
		p.open = slices.DeleteFunc(p.open, func(id string) bool { return id == string(m.ID) })
	}
	p.translate(p.sent[at], m)
	var out []json.RawMessage
	replacer := strings.NewReplacer(p.old...)
	for _, l := range p.lines[at+1:] {
		if l.Dir == "client" {
			break
		}
		out = append(out, p.played(l.Msg, replacer))
		var asked message
		json.Unmarshal(l.Msg, &asked) // cannot fail, because ReadRecord has checked it
		if asked.Method != "" && asked.ID != nil {
			p.open = append(p.open, string(asked.ID))
		}
	}
	return out, nil
}

// Unanswered returns the ids of the agent's requests that the client has not answered, in
// order.
func (p *Player) Unanswered() []string { return slices.Clone(p.open) }

// outcome describes a response for an error message.
func outcome(m message) string {
	if m.Error != nil {
		return "the error " + m.Error.Error()
	}
	return string(m.Result)
}

// translate stores the ids and folders that differ between the client and the record.
func (p *Player) translate(recorded, m message) {
	if m.ID != nil && m.Method != "" {
		p.ids[string(recorded.ID)] = m.ID
	}
	var was, is struct {
		SessionID string `json:"sessionId"`
		Cwd       string `json:"cwd"`
	}
	if json.Unmarshal(recorded.Params, &was) != nil || json.Unmarshal(m.Params, &is) != nil {
		return // parameters that are not an object contain neither
	}
	for _, pair := range [][2]string{{was.SessionID, is.SessionID}, {was.Cwd, is.Cwd}} {
		if pair[0] != "" && pair[1] != "" && pair[0] != pair[1] {
			p.old = append(p.old, pair[0], strings.Trim(string(encode(pair[1])), `"`))
		}
	}
}

// played returns a recorded message from the agent, translated for this client.
func (p *Player) played(recorded json.RawMessage, replacer *strings.Replacer) json.RawMessage {
	text := replacer.Replace(string(recorded))
	var m message
	if err := json.Unmarshal([]byte(text), &m); err != nil || m.Method != "" || m.ID == nil {
		return json.RawMessage(text)
	}
	id, ok := p.ids[string(m.ID)]
	if !ok {
		return json.RawMessage(text)
	}
	var fields map[string]json.RawMessage
	if err := json.Unmarshal([]byte(text), &fields); err != nil {
		return json.RawMessage(text)
	}
	fields["id"] = id
	return encode(fields)
}

// same reports whether two JSON values are equal.
func same(a, b json.RawMessage) bool {
	var x, y any
	json.Unmarshal(a, &x) // nil for missing JSON
	json.Unmarshal(b, &y)
	return reflect.DeepEqual(x, y)
}

// playRecord plays one connection of a recorded dialogue. The first process that uses a
// home folder plays the first connection, the second process plays the second one, and so
// on. It exits with status 4 if the client does not follow the record.
func (a *agent) playRecord(path string) int {
	lines, err := a.connection(path)
	if err != nil {
		a.complain(err)
		return 2
	}
	p := NewPlayer(lines)
	for {
		m, err := a.conn.read()
		if errors.Is(err, io.EOF) {
			if ids := p.Unanswered(); len(ids) > 0 {
				a.complain(fmt.Errorf("the client has not answered the requests %v", ids))
				return 4
			}
			return 0
		} else if err != nil {
			a.complain(err)
			return 4
		}
		if err := a.startRecorded(m); err != nil {
			a.complain(err)
		}
		out, err := p.Next(m)
		if err != nil {
			a.complain(err)
			return 4
		}
		for _, line := range out {
			a.conn.out.Write(append(line, '\n')) // an error needs no handling, because a program that has exited has also closed our input
		}
	}
}

// startRecorded starts the MCP servers that a client names and lists their tools, because
// the record does not contain the dialogue with these servers.
func (a *agent) startRecorded(m message) error {
	if m.Method != "session/new" && m.Method != "session/resume" && m.Method != "session/load" {
		return nil
	}
	var ps params
	if err := json.Unmarshal(m.Params, &ps); err != nil {
		return err
	}
	specs, err := a.serverSpecs(&ps)
	if err != nil {
		return err
	}
	for _, spec := range specs {
		if _, err := a.startServer(spec, &session{cwd: ps.Cwd}); err != nil {
			return err
		}
	}
	return nil
}

// connection reads the part of the record that this process must play.
func (a *agent) connection(path string) ([]Line, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	connections, err := ReadRecord(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	mark := filepath.Join(a.getenv("HOME"), ".acpstandin-played")
	file, err := os.OpenFile(mark, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	fmt.Fprintln(file, time.Now().Format(time.RFC3339))
	data, err := os.ReadFile(mark)
	if err != nil {
		return nil, err
	}
	if n := bytes.Count(data, []byte("\n")); n <= len(connections) {
		return connections[n-1], nil
	}
	return nil, fmt.Errorf("%s has only %d connections", path, len(connections))
}
