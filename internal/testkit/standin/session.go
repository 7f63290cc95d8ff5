package standin

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// firstContext is the size of an empty context, in tokens. Such a context contains only
// the system prompt and the tools.
const firstContext = 12000

// A session is the state of a conversation, which is stored in a file with one record per
// line. It is used only by the goroutine that runs the turns.
type session struct {
	id    string
	path  string // "" if the session is not stored
	file  *os.File
	known map[string]bool // uuids of messages since the last compaction

	model   string
	context int // tokens
	turns   int // number of turns since the last compaction
	history []message
	mark    int     // index in history at which the current turn begins
	system  *string // system prompt of the first turn since the last compaction
	totals  totals  // totals at the last result
}

// totals is the usage of all processes of a session.
type totals struct {
	CostUSD float64                `json:"cost_usd"`
	APIMS   int64                  `json:"api_ms"`
	Models  map[string]*modelUsage `json:"models,omitempty"`
}

// record is a line of the file. Type is message (with a uuid if the message is a prompt),
// system, state or compact. A compact record discards the conversation before it.
type record struct {
	Type    string   `json:"type"`
	UUID    string   `json:"uuid,omitempty"`
	Message *message `json:"message,omitempty"`
	Model   string   `json:"model,omitempty"`
	Context int      `json:"context,omitempty"`
	System  *string  `json:"system,omitempty"`
	Totals  *totals  `json:"totals,omitempty"`
	Time    string   `json:"time"`
}

// sessionDir returns the folder that contains the sessions for the working directory cwd.
func sessionDir(getenv func(string) string, cwd string) string {
	config := getenv("CLAUDE_CONFIG_DIR")
	if config == "" {
		config = filepath.Join(getenv("HOME"), ".claude")
	}
	h := fnv.New64a()
	h.Write([]byte(cwd))
	return filepath.Join(config, "standin", fmt.Sprintf("%016x", h.Sum64()))
}

// A missingError reports that a session to resume does not exist.
type missingError struct{ id string }

func (e *missingError) Error() string { return "No conversation found with session ID: " + e.id }

// openSession finds or names the session that o specifies. It writes nothing before the
// first message.
func openSession(o *options, dir string) (*session, error) {
	fresh := o.sessionID
	if fresh == "" {
		fresh = newUUID()
	}
	fresh = strings.ToLower(fresh)
	s := newSession(fresh, dir)
	from := ""
	switch {
	case o.resuming && !isUUID(o.resume):
		return nil, complain("Error: --resume requires a valid session ID or session title when used with --print."+
			" Usage: claude -p --resume <session-id|title>. Provided value %q is not a UUID and does not match any session title.", o.resume)
	case o.resuming:
		from = filepath.Join(dir, strings.ToLower(o.resume)+".jsonl")
	case o.cont:
		from = newest(dir)
	}
	if from != "" {
		if !o.fork {
			s = newSession(strings.TrimSuffix(filepath.Base(from), ".jsonl"), dir)
		}
		if err := s.load(from); errors.Is(err, fs.ErrNotExist) {
			return nil, &missingError{o.resume}
		} else if err != nil {
			return nil, err
		}
	} else if _, err := os.Stat(s.path); err == nil {
		return nil, complain("Error: Session ID %s is already in use.", s.id)
	}
	if o.noPersist {
		s.path = ""
	}
	return s, nil
}

func newSession(id, dir string) *session {
	return &session{id: id, path: filepath.Join(dir, id+".jsonl"), known: map[string]bool{}, context: firstContext}
}

// newest returns the most recently written session file in dir, or "".
func newest(dir string) string {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return ""
	}
	best, at := "", time.Time{}
	for _, e := range entries {
		info, err := e.Info()
		if err == nil && strings.HasSuffix(e.Name(), ".jsonl") && info.ModTime().After(at) {
			best, at = filepath.Join(dir, e.Name()), info.ModTime()
		}
	}
	return best
}

// load reads the records of the file. As in the real program, an incomplete last line,
// which results from a kill, is ignored.
func (s *session) load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	for r := bufio.NewReader(f); ; {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return nil
		}
		var rec record
		if json.Unmarshal(line, &rec) != nil {
			continue
		}
		s.apply(&rec)
	}
}

// apply applies rec to the session in memory.
func (s *session) apply(rec *record) {
	switch rec.Type {
	case "compact":
		s.known, s.history, s.turns, s.system = map[string]bool{}, nil, 0, nil
	case "message":
		if rec.UUID != "" {
			s.known[rec.UUID] = true
			s.turns++
		}
	}
	if rec.Message != nil {
		s.history = append(s.history, *rec.Message)
	}
	if rec.Context > 0 {
		s.context = rec.Context
	}
	if rec.Model != "" {
		s.model = rec.Model
	}
	if rec.System != nil {
		s.system = rec.System
	}
	if rec.Totals != nil {
		s.totals = *rec.Totals
	}
}

// add adds rec to the state in memory and to the file, which it creates for the first
// record.
func (s *session) add(rec record) error {
	s.apply(&rec)
	if s.path == "" {
		return nil
	}
	if s.file == nil {
		if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
			return err
		}
		f, err := os.OpenFile(s.path, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		s.file = f
	}
	rec.Time = timestamp()
	_, err := s.file.Write(append(encode(rec), '\n'))
	return err
}
