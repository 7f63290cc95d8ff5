package irc

import (
	"fmt"
	"hash/fnv"
	"io"
	"sync"
	"time"
)

// Remembered is how many message ids are kept for each target in order to drop
// duplicates.
const Remembered = 1000

// A Mark is a position in the history of a target.
type Mark struct {
	ID   string // the server's msgid; "" if only the time is known
	Time time.Time
	Sum  uint64 // checksum of a message without an id, see [Sum]; 0 means unknown
}

// Sum returns a checksum of speaker and text. If a bouncer plays back a message without
// an id, the client can recognize the message by its time and this checksum.
func Sum(nick, text string) uint64 {
	h := fnv.New64a()
	_, _ = io.WriteString(h, nick+"\x00"+text)
	return h.Sum64()
}

// key returns a string that identifies a mark, or "" if the mark has neither an id nor a
// sum.
func (m Mark) key() string {
	switch {
	case m.ID != "":
		return m.ID
	case m.Sum != 0:
		return fmt.Sprintf("\x00%d %x", m.Time.UnixMilli(), m.Sum)
	}
	return ""
}

// A Memory keeps the marks of handled messages across restarts of the program.
// [Client.Run] and [Client.Handled] call its methods. Target names are folded; "" means
// all private messages.
type Memory interface {
	// Marks returns the last marks, at most Remembered of them, oldest first.
	Marks(target string) ([]Mark, error)
	Add(target string, m Mark) error
}

// A RAM is a Memory that is lost when the program ends. It is safe for concurrent use,
// and its zero value is ready to use.
type RAM struct {
	mu    sync.Mutex
	marks map[string][]Mark
}

// Marks implements [Memory].
func (r *RAM) Marks(target string) ([]Mark, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	all := r.marks[target]
	return append([]Mark(nil), all[max(0, len(all)-Remembered):]...), nil
}

// Add implements [Memory].
func (r *RAM) Add(target string, m Mark) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.marks == nil {
		r.marks = make(map[string][]Mark)
	}
	all := append(r.marks[target], m)
	if len(all) > 2*Remembered {
		all = append([]Mark(nil), all[len(all)-Remembered:]...)
	}
	r.marks[target] = all
	return nil
}

// timeFormat is the format of times in server-time and in references.
const timeFormat = "2006-01-02T15:04:05.000Z"

// reference returns the mark in the form that CHATHISTORY uses.
func (m Mark) reference() string {
	if m.ID != "" {
		return "msgid=" + m.ID
	}
	return "timestamp=" + m.Time.UTC().Format(timeFormat)
}
