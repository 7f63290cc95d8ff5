package turn

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// memory contains an agent's window while a turn is running, and gives access to the text
// that a compaction removed and that the next prompt must give back. It is loaded for a
// turn and released after the turn, so that an idle agent keeps no buffers. Only one
// goroutine uses it.
type memory struct {
	home  journal.Home
	agent string
	tools runner.Tools
	win   *window.Buffer
	calls callNames
}

// callNames maps the id of each open tool call to the name of the tool.
type callNames map[string]string

// windowOptions returns the options for a window with the given maximum size in bytes;
// see [window.Limit].
func windowOptions(bytes int) window.Options { return window.Options{MaxBytes: bytes} }

// openMemory loads an agent's window. If the window is damaged, openMemory uses an empty
// one instead and logs a warning. The agent then loses its memory, but no mail.
func openMemory(home journal.Home, tools runner.Tools, agent string, bytes int, log *slog.Logger) (*memory, error) {
	win, err := window.Load(home.WindowFile(agent), windowOptions(bytes))
	if errors.Is(err, window.ErrBroken) {
		log.Warn("window was damaged, so a new one was started", keyErr, err)
	} else if err != nil {
		return nil, fmt.Errorf("window of %s: %w", agent, err)
	}
	return &memory{home: home, agent: agent, tools: tools, win: win, calls: callNames{}}, nil
}

// event adds an event to the window.
func (m *memory) event(ev *streamjson.Event) { feedWindow(m.win, m.tools, m.calls, ev) }

// feedWindow adds the text, calls and results of the main conversation in ev to win. It
// omits thinking, the text of sub-agents, and the client's messages. The compaction hook
// feeds the same events to a copy of the window in another process, so the result must
// depend only on the arguments.
func feedWindow(win *window.Buffer, tools runner.Tools, calls callNames, ev *streamjson.Event) {
	if ev.Parent != "" || ev.Synthetic {
		return
	}
	switch ev.Kind {
	case streamjson.KindAssistant:
		for _, b := range ev.Blocks {
			switch b.Kind {
			case streamjson.BlockText:
				win.AddText(b.Text)
			case streamjson.BlockToolUse:
				calls[b.ID] = b.Name
				win.AddCall(b.Name, tools.About(b.Name, b.Input), b.Input)
			}
		}
	case streamjson.KindUser:
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult {
				win.AddResult(calls[b.ID], b.Text, b.Failed)
				delete(calls, b.ID)
			}
		}
	}
}

// save writes the window after a turn.
func (m *memory) save(turn string) error {
	m.win.SetMark(turn)
	if err := m.win.Save(m.home.WindowFile(m.agent)); err != nil {
		return fmt.Errorf("window of %s: %w", m.agent, err)
	}
	return nil
}

// content returns the whole window.
func (m *memory) content() []byte {
	return m.win.AppendRange(nil, m.win.Start(), m.win.End())
}

// pending returns the text that the last compaction removed and that no prompt has yet
// given back.
func (m *memory) pending() ([]byte, error) {
	data, err := os.ReadFile(m.home.PendingFile(m.agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return data, err
}

// setPending durably saves the text that the next prompt must give back.
func (m *memory) setPending(text []byte) error {
	if len(text) == 0 {
		return nil
	}
	return m.home.Files().Write(m.home.PendingFile(m.agent), durable.Options{}, text)
}

// given drops the pending text after a prompt has given it back.
func (m *memory) given() error {
	err := os.Remove(m.home.PendingFile(m.agent))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}
