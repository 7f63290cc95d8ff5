package bridge

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Line is one message in a channel, as the buffer stores it.
type Line struct {
	N       int64     `json:"n"` // the line's number in its channel, from 1; a restart does not reset it
	At      time.Time `json:"at"`
	Channel string    `json:"channel"` // or the nick of a person who sent a private message
	Nick    string    `json:"nick"`    // the person's nick, or the agent's name
	Account string    `json:"account,omitempty"`
	Text    string    `json:"text"` // without formatting
	MsgID   string    `json:"msgid,omitempty"`
	Replay  bool      `json:"replay,omitempty"` // from the server's history
	Notice  bool      `json:"notice,omitempty"`
	Own     bool      `json:"own,omitempty"`  // written by the bridge itself, for example to say that a turn began
	Drop    string    `json:"drop,omitempty"` // for a line of ours: the id of the message that was sent
	Upto    int       `json:"upto,omitempty"` // for a line of ours: how many bytes from the start of that message are known to have arrived
}

// Speaker returns the name of a line's speaker as people see it. called returns the name
// of a mailbox's owner. If the speaker has no mailbox, Speaker returns the nick.
func (l Line) Speaker(called func(mailbox string) string) string {
	if l.Drop == "" {
		return l.Nick
	}
	return called(l.Nick)
}

// DefaultBufferSize is the default number of lines per channel that readers can see.
const DefaultBufferSize = 500

// remembered is the minimum number of lines that a channel's file keeps. They tell the
// bridge which msgids it has seen.
const remembered = 1000

// bufferFile returns the path of a channel's file in a bridge's folder. The file name is
// in lower case, and characters that are unsafe in a file name are escaped.
func bufferFile(dir, channel string) string {
	return filepath.Join(dir, "buffer", fileName(channel)+".jsonl")
}

// fileName converts the name of a channel or a reader to a file name.
func fileName(name string) string {
	var b strings.Builder
	for _, c := range []byte(strings.ToLower(name)) {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02x", c)
		}
	}
	if b.Len() > 200 { // a file name can have at most 255 bytes
		sum := sha256.Sum256([]byte(strings.ToLower(name)))
		return "%" + hex.EncodeToString(sum[:])
	}
	return b.String()
}

// A buffer keeps the last lines of a channel in a file. Only the bridge writes the file;
// readers may open it at any time. One goroutine owns the buffer.
//
// A line without a number is for the bridge's own use. It records that an earlier line
// with the same msgid is ours. Its Drop is the id of the message that the earlier line
// belongs to, and its Upto is that of the earlier line.
//
// A line is written immediately but not synced, so a killed process loses no lines. A
// power cut can lose some; the bridge recovers them from the server's history if there is
// one.
type buffer struct {
	path  string
	keep  int // how many lines remain after a rewrite
	lines int // the lines in the file
	last  int64
	seen  map[string]bool // the msgids in the file; the value is true for a message of ours
	spoke time.Time       // when our last line was sent
	f     *os.File
}

// openBuffer opens the buffer of a channel, and removes any incomplete line that a crash
// left at its end. The caller must close the buffer.
func openBuffer(dir, channel string, size int) (*buffer, error) {
	b := &buffer{path: bufferFile(dir, channel), keep: max(size, remembered), seen: map[string]bool{}}
	if err := discovery.MakeInHome(filepath.Dir(b.path)); err != nil {
		return nil, fmt.Errorf("buffer of %s: %w", channel, err)
	}
	f, err := os.OpenFile(b.path, os.O_RDWR|os.O_APPEND|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("buffer of %s: %w", channel, err)
	}
	b.f = f
	data, err := os.ReadFile(b.path)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("buffer of %s: %w", channel, err), f.Close())
	}
	if whole := bytes.LastIndexByte(data, '\n') + 1; whole < len(data) {
		if err := f.Truncate(int64(whole)); err != nil {
			return nil, errors.Join(fmt.Errorf("buffer of %s: %w", channel, err), f.Close())
		}
		data = data[:whole]
	}
	for _, l := range parseLines(data) {
		b.remember(l)
	}
	return b, nil
}

func (b *buffer) remember(l Line) {
	b.lines++
	b.last = max(b.last, l.N)
	if l.Drop != "" && l.At.After(b.spoke) {
		b.spoke = l.At
	}
	if l.MsgID != "" {
		b.seen[l.MsgID] = b.seen[l.MsgID] || l.Drop != ""
	}
}

// parseLines parses the contents of a buffer's file. It skips anything that is not a
// valid line, such as a last line that is still being written.
func parseLines(data []byte) []Line {
	var lines []Line
	for raw := range bytes.Lines(data) {
		var l Line
		if json.Unmarshal(raw, &l) == nil && (l.N > 0 || l.Drop != "") {
			lines = append(lines, l)
		}
	}
	return lines
}

// add gives a line a number and writes it. If the file already has a line with that
// msgid, add writes nothing, or only a line without a number that marks the earlier line
// as ours. added reports whether add wrote anything.
func (b *buffer) add(l Line) (added bool, err error) {
	ours, known := b.seen[l.MsgID]
	switch {
	case l.MsgID == "" || !known:
		l.N = b.last + 1
	case ours || l.Drop == "":
		return false, nil
	default:
		l = Line{At: l.At, Channel: l.Channel, MsgID: l.MsgID, Drop: l.Drop, Upto: l.Upto}
	}
	l.At = l.At.UTC()
	raw, err := json.Marshal(l)
	if err != nil {
		return false, fmt.Errorf("buffer: %w", err)
	}
	if _, err := b.f.Write(append(raw, '\n')); err != nil {
		return false, fmt.Errorf("buffer: %w", err)
	}
	b.remember(l)
	if b.lines >= 2*b.keep {
		return true, b.rewrite()
	}
	return true, nil
}

// said returns how many bytes of a message are known to have been sent, and the msgids of
// its lines.
func (b *buffer) said(drop string) (upto int, msgids []string, err error) {
	lines, err := readLines(b.path)
	if err != nil {
		return 0, nil, fmt.Errorf("buffer: %w", err)
	}
	for _, l := range lines {
		if l.Drop == drop {
			upto = max(upto, l.Upto)
			if l.MsgID != "" {
				msgids = append(msgids, l.MsgID)
			}
		}
	}
	return upto, msgids, nil
}

// rewrite keeps only the newest lines.
func (b *buffer) rewrite() error {
	lines, err := readLines(b.path)
	if err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	lines = lines[max(0, len(lines)-b.keep):]
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	for _, l := range lines {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("buffer: %w", err)
		}
	}
	if err := writeVolatile(b.path, out.Bytes()); err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	f, err := os.OpenFile(b.path, os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("buffer: %w", err)
	}
	err = b.f.Close()
	b.f, b.lines = f, 0
	clear(b.seen)
	for _, l := range lines {
		b.remember(l)
	}
	return err
}

func (b *buffer) close() error { return b.f.Close() }

// Buffered returns the buffered lines of a channel, oldest first. dir is the bridge's
// folder. The result includes lines without a number, which readers do not see.
func Buffered(dir, channel string) ([]Line, error) { return readLines(bufferFile(dir, channel)) }

// readLines reads a buffer's file. If the file does not exist, it returns no lines.
func readLines(path string) ([]Line, error) {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	return parseLines(data), nil
}

// keep writes a value so that it survives a power cut.
func keep(path string, v any) error { return keepBy(durable.Files{}, path, v) }

func keepBy(files durable.Files, path string, v any) error {
	data, err := json.Marshal(v)
	if err != nil {
		return err
	}
	return files.Write(path, durable.Options{}, append(data, '\n'))
}

// writeVolatile replaces a file. After a power cut, the file may revert to its old
// contents.
func writeVolatile(path string, data []byte) error {
	return durable.Files{}.Write(path, durable.Options{Volatile: true}, data)
}

// writeSmall writes the notes about a reader. A power cut may undo the write.
func writeSmall(path string, v any) error {
	data, err := json.Marshal(v)
	if err == nil {
		err = discovery.MakeInHome(filepath.Dir(path))
	}
	if err == nil {
		err = writeVolatile(path, data)
	}
	return err
}
