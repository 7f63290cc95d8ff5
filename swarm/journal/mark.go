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
// children carry it in CLAUDE_SWARM_TURN, and the environment of a process cannot change;
// so if a client stays for more turns, they all have its mark, and a file says which turn
// runs:
//
//	turns/MARK.json    the record of the first turn
//	turns/MARK.jsonl   what the client printed, in all of its turns
//	turns/MARK.now     the id of the turn that runs now, or ran last
//	turns/TURN.json    the record of a later one: client MARK, and where in MARK.jsonl it begins
//	turns/TURN.sent, TURN.hook.json  what belongs to one turn
//
// Programs inside a client, such as send and the compaction hook, go by that file. A
// process that an earlier turn left running therefore sends as part of the turn that runs
// at the time: its messages have that turn's thread, and that turn's receipt lists them.
// The process ends with the client.

// Mark returns the mark that the processes of the turn carry.
func (r *Record) Mark() string { return cmp.Or(r.Client, r.Turn) }

func (h Home) nowFile(mark string) string { return h.TurnFile(mark, ".now") }

// SetNow records which turn of a client runs. The file must exist before the client gets
// the prompt, and need not survive a power cut, since no process does.
func (h Home) SetNow(mark, turn string) error {
	return h.files.Write(h.nowFile(mark), durable.Options{Volatile: true}, []byte(turn+"\n"))
}

// TurnOf returns the turn of a process that carries a mark.
func (h Home) TurnOf(mark string) (string, error) {
	data, err := os.ReadFile(h.nowFile(mark))
	if errors.Is(err, fs.ErrNotExist) {
		return mark, nil // the client has had only one turn so far
	} else if err != nil {
		return "", err
	}
	return strings.TrimSpace(string(data)), nil
}
