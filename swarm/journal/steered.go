package journal

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
)

// A SteeredNote is a line of a turn's .steered file.
type SteeredNote struct {
	ID   string `json:"id"` // of the message
	UUID string `json:"uuid"`
}

// NoteSteered records a message before it is delivered to a running turn. If a later
// daemon takes over the client, it reads the record.
func (h Home) NoteSteered(turn, id, uuid string) error {
	f, err := os.OpenFile(h.TurnFile(turn, ".steered"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	data, err := json.Marshal(SteeredNote{id, uuid})
	if err == nil {
		_, err = f.Write(append(data, '\n'))
	}
	return errors.Join(err, f.Close())
}

// SteeredIn lists the messages that were delivered to a running turn.
func (h Home) SteeredIn(turn string) ([]SteeredNote, error) {
	data, err := os.ReadFile(h.TurnFile(turn, ".steered"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var all []SteeredNote
	for lines := bufio.NewScanner(strings.NewReader(string(data))); lines.Scan(); {
		var n SteeredNote
		if json.Unmarshal(lines.Bytes(), &n) == nil { // otherwise a crash truncated the line, so the message was not delivered
			all = append(all, n)
		}
	}
	return all, nil
}
