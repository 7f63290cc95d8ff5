package acpstandin

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// A session is a conversation that is stored in a file.
type session struct {
	ID      string  `json:"id"`
	Mode    string  `json:"mode"`
	Model   string  `json:"model"`
	Input   int     `json:"input"`  // total for the session, in tokens
	Output  int     `json:"output"` // total for the session, in tokens
	Used    int     `json:"used"`   // size of the context, in tokens
	Cost    float64 `json:"cost"`   // total for the session, in US dollars
	Calls   int     `json:"calls"`  // number of tool calls so far
	History []said  `json:"history"`

	cwd     string
	file    string
	servers []*server    // in the order that the client specified
	waiting []serverSpec // servers to start with the first prompt
}

// A said is one entry of the history: an update that session/load replays.
type said struct {
	Update map[string]any `json:"update"`
}

// contextSize is the context size of all models, in tokens.
const contextSize = 200000

// newID returns a new id in the format that the client uses.
func newID(shape string) string {
	random := strings.ToLower(rand.Text())
	switch shape {
	case "ses":
		return "ses_" + random
	case "cli":
		return fmt.Sprintf("%d_%s_cli", time.Now().UnixMilli(), random[:5])
	}
	var b [16]byte
	rand.Read(b[:])
	b[6], b[8] = b[6]&0x0f|0x40, b[8]&0x3f|0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", b[:4], b[4:6], b[6:8], b[8:10], b[10:])
}

// folder returns the folder that contains the sessions of this home folder.
func (a *agent) folder() string {
	return filepath.Join(a.getenv("HOME"), ".acpstandin", strings.ReplaceAll(a.is.Name, "/", "-"))
}

// create begins a session.
func (a *agent) create(cwd string) *session {
	id := newID(a.is.IDs)
	s := &session{ID: id, cwd: cwd, file: filepath.Join(a.folder(), id+".json"), Used: 12000, Mode: a.is.Modes[0], Model: a.is.Models[0]}
	if model := a.flag("-m"); model != "" {
		s.Model = model
	}
	a.complain(s.save())
	return s
}

// open reads the session that the client names.
func (a *agent) open(id, cwd string) (*session, error) {
	if id == "" || strings.ContainsAny(id, "/\\") {
		return nil, invalid("sessionId: %q is not an id", id)
	}
	s := &session{file: filepath.Join(a.folder(), id+".json")}
	data, err := os.ReadFile(s.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, a.unknownSession(id)
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, s); err != nil {
		return nil, err
	}
	s.cwd, s.Mode = cwd, a.is.Modes[0]
	return s, nil
}

// unknownSession returns the error for an unknown id, worded as in the real client.
func (a *agent) unknownSession(id string) error {
	text := strings.ReplaceAll(string(encode(a.is.Missing)), "%s", strings.Trim(string(encode(id)), `"`))
	missing := &rpcError{}
	if err := json.Unmarshal([]byte(text), missing); err != nil {
		return err
	}
	return missing
}

// save writes the session atomically: if the process dies, either the old file or the new
// one remains.
func (s *session) save() error {
	if err := os.MkdirAll(filepath.Dir(s.file), 0o700); err != nil {
		return err
	}
	tmp := s.file + ".tmp"
	if err := os.WriteFile(tmp, encode(s), 0o600); err != nil {
		return err
	}
	return os.Rename(tmp, s.file)
}
