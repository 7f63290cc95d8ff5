package turn

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode/utf16"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// handbackLead is the beginning of the text that the compaction hook gives back. The
// daemon uses it to tell this hook's answer apart from that of a user's hook.
const handbackLead = "What you did last, word for word, from before this compaction. Do NOT re-execute completed work."

// A handback is the part of the window that the compaction hook gave back. From and To
// are positions in the window. The hook writes the handback to a file, and the daemon
// reads that file.
type handback struct {
	From int64 `json:"from"`
	To   int64 `json:"to"`
}

// HookCompact is the hook that the client runs, in a separate process, when it compacts in
// the middle of a turn. It prints the newest part of the agent's window in the format that
// the client reads, so that the agent still knows, in the same turn, what it has just done.
// HookCompact needs no daemon, because the window before the turn and the turn's stream are
// both files. The parameter mark is the mark of the turn's processes.
//
// It prints nothing if the turn's prompt already contained the window, or if it has
// already printed the window in this turn.
func HookCompact(home journal.Home, backends map[string]runner.Backend, mark string, out io.Writer) error {
	turn, err := home.TurnOf(mark)
	if err != nil {
		return err
	}
	rec, err := journal.ReadRecord(home, turn)
	if err != nil {
		return fmt.Errorf("turn %s: %w", turn, err)
	}
	if rec.Reinjected {
		return nil
	}
	if _, err := os.Stat(home.HandbackFile(turn)); err == nil {
		return nil
	}
	b := BackendOf(backends, rec.Backend)
	if b == nil {
		return fmt.Errorf("turn %s: no backend %q", turn, rec.Backend)
	}
	win, err := window.Load(home.WindowFile(rec.Agent), windowOptions(rec.WindowBytes))
	if err != nil && !errors.Is(err, window.ErrBroken) {
		return err
	}
	if err := replay(win, b.Kind(), NewSecrets(home.Secrets()), home.Stream(rec.Mark()), rec.From.Offset); err != nil {
		return err
	}
	kind := b.Kind()
	if kind.Hooks == nil {
		return nil // the client would not read the text
	}
	from, to, text := newestQuoted(win, kind.Hooks.Room())
	if from == to {
		return nil
	}
	if err := home.Files().WriteJSON(home.HandbackFile(turn), handback{From: from, To: to}); err != nil {
		return err
	}
	_, err = out.Write(kind.Hooks.Answer(handbackLead + "\n\n" + string(text)))
	return err
}

// newestQuoted returns the newest part of a window, quoted so that the text cannot end
// the frame that the client puts around it. The text is at most room UTF-16 code units
// long. The results from and to are its position in the window.
func newestQuoted(win *window.Buffer, room int) (from, to int64, text []byte) {
	to = win.End()
	for most := room; ; {
		from = win.Newest(most)
		text = window.AppendQuoted(nil, win.AppendRange(nil, from, to))
		more := len(utf16.Encode([]rune(string(text)))) - room
		if from == to || more <= 0 {
			return from, to, text
		}
		most -= more // shorten the part by the excess that quoting caused
	}
}

// replay adds the events of a stream to a window, from an offset to the current end of
// the stream. It removes secrets from the events, as the daemon does. It also reads the
// part before the offset, because that part may contain the client's secrets.
func replay(win *window.Buffer, kind *runner.Kind, hidden *Secrets, stream string, from int64) error {
	f, err := os.Open(stream)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	defer f.Close()
	if err := eachEvent(io.LimitReader(f, from), func(ev *streamjson.Event) { hidden.learn(kind, ev) }); err != nil {
		return err
	}
	if _, err := f.Seek(from, io.SeekStart); err != nil {
		return err
	}
	calls := callNames{}
	return eachEvent(f, func(ev *streamjson.Event) { feedWindow(win, kind.Tools, calls, hidden.event(kind, ev)) })
}

// eachEvent calls do for every event in a stream.
func eachEvent(r io.Reader, do func(*streamjson.Event)) error {
	dec := streamjson.NewDecoder(r, 0)
	for {
		ev, err := dec.Next()
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		do(ev)
	}
}

// compactions keeps track of the compactions of one turn.
type compactions struct {
	home       journal.Home
	turn       string
	hooks      runner.Hooks // nil if the client runs no hooks
	reinjected bool         // the turn's prompt contained the window
	hookDone   bool         // the compaction hook has succeeded since the last call to boundary
	seen       int
}

// If ev is the answer from the compaction hook, hook records whether the hook succeeded.
func (c *compactions) hook(ev *streamjson.Event) {
	if c.hooks == nil {
		return
	}
	if printed, ok, ended := c.hooks.Answered(ev); ended && strings.Contains(printed, handbackLead) {
		c.hookDone = ok
	}
}

// boundary is called after a compaction. It returns the part of the current window that
// the next prompt must give back. The part is empty if this turn has already given the
// window back.
func (c *compactions) boundary(win *window.Buffer) ([]byte, error) {
	c.seen++
	hookDone := c.hookDone
	c.hookDone = false
	if c.reinjected || c.seen > 1 {
		return nil, nil
	}
	end := win.End()
	if !hookDone {
		return win.AppendRange(nil, win.Start(), end), nil
	}
	var h handback
	data, err := os.ReadFile(c.home.HandbackFile(c.turn))
	if errors.Is(err, fs.ErrNotExist) {
		// The compaction hook answered without text, or the answer was from a user's
		// hook.
		return win.AppendRange(nil, win.Start(), end), nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(data, &h); err != nil {
		return nil, fmt.Errorf("what the hook returned: %w", err)
	}
	older := win.AppendRange(nil, win.Start(), h.From)
	return win.AppendRange(older, h.To, end), nil
}
