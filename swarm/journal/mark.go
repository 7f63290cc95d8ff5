package journal

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// The mark of a client is the id of the turn that started it. The client and all its
// child processes have it in the environment variable CLAUDE_SWARM_TURN. The environment
// of a running process cannot be changed from outside. So if a client runs several turns,
// they all have the same mark, and a file says which of them is running:
//
//	turns/MARK.json    the record of the first turn
//	turns/MARK.jsonl   what the client printed, in all of its turns
//	turns/MARK.now     the id of the turn that is running, or that ran last
//	turns/TURN.json    the record of a later turn, with MARK and the turn's place in MARK.jsonl
//	turns/TURN.sent, TURN.hook.json  files that belong to one turn
//
// Programs that a client runs, such as send and the compaction hook, find their turn in
// MARK.now. So if an earlier turn left a process running, that process sends messages as
// part of the turn that is running at the time. Its messages have that turn's thread, and
// that turn's receipt lists them. The process ends when the client ends.

// Mark returns the mark of the turn's processes.
func (r *Record) Mark() string { return cmp.Or(r.Client, r.Turn) }

func (h Home) nowFile(mark string) string { return h.TurnFile(mark, ".now") }

// SetNow records which turn of a client is running. The file must be written before the
// client gets the prompt. It does not have to survive a power cut, because no process
// survives one.
func (h Home) SetNow(mark, turn string) error {
	return h.files.Write(h.nowFile(mark), durable.Options{Volatile: true}, []byte(turn+"\n"))
}

// TurnOf returns the turn to which the processes with a mark currently belong.
func (h Home) TurnOf(mark string) (string, error) {
	data, err := os.ReadFile(h.nowFile(mark))
	if errors.Is(err, fs.ErrNotExist) {
		return mark, nil // the client has had only one turn so far
	} else if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}
