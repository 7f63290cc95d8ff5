package journal

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"syscall"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// Restoring. Another program, such as git clean, may delete the daemon's files while the
// daemon is running. Each type of this package that keeps the content of a file in memory
// has a method Restore, which writes the file again. Except for [Ledger.Restore], these
// methods are called only after files were deleted, and do nothing if their file exists.

// homeFolders are the folders that [Home.Make] creates.
var homeFolders = []string{"logs", "turns", "clients", "pids", "window"}

// IsWhole reports whether none of the folders that [Home.Make] creates is missing, and the
// tokens are not missing either.
func (h Home) IsWhole() bool {
	if isMissing(tokens.File(h.dir)) {
		return false
	}
	for _, folder := range homeFolders {
		if isMissing(filepath.Join(h.dir, folder)) {
			return false
		}
	}
	return true
}

func isMissing(path string) bool {
	_, err := os.Lstat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// Restore writes the tokens that the daemon uses. Another program may have created new
// tokens in the meantime. The daemon's tokens replace them, because the running clients
// have these.
func (t *Tokens) Restore() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	is, err := tokens.Read(t.home.dir)
	if err != nil {
		return err
	}
	all := maps.Clone(is)
	maps.Copy(all, t.by)
	if maps.Equal(is, all) {
		return nil
	}
	return t.home.writeTokens(all)
}

// Restore writes the lines of a deleted ledger to the ledger's path, and reports whether
// the ledger was deleted. It reads these lines from the file, which the daemon keeps open.
// Lines that were added to a new file in the meantime are kept.
func (l *Ledger) Restore() (deleted bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	was, err := l.file.Stat()
	if err != nil {
		return false, fmt.Errorf("ledger: %w", err)
	}
	is, err := os.Stat(l.home.Ledger())
	if err == nil && os.SameFile(was, is) {
		return false, nil
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("ledger: %w", err)
	}
	// The file may have been deleted between the two calls, so its links are counted now.
	was, err = l.file.Stat()
	if err != nil {
		return false, fmt.Errorf("ledger: %w", err)
	}
	st, ok := was.Sys().(*syscall.Stat_t)
	deleted = ok && st.Nlink == 0
	if err := l.home.Make(); err != nil {
		return deleted, err
	}
	err = whileLocked(l.lockFile(), func() error {
		read := int64(0)
		if deleted { // a ledger that was moved is still where a person put it
			if read, err = l.copyDeleted(was.Size()); err != nil {
				return err
			}
		}
		if err := l.open(); err != nil {
			return err
		}
		l.read = read
		return nil
	})
	if err != nil {
		return deleted, fmt.Errorf("ledger: %w", err)
	}
	return deleted, nil
}

// copyDeleted writes the first size bytes of the deleted ledger to the ledger's path,
// before the lines that are there. It returns the new value of l.read. The caller holds the
// lock on the ledger's file.
func (l *Ledger) copyDeleted(size int64) (read int64, err error) {
	fresh, err := os.ReadFile(l.home.Ledger())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return 0, err
	}
	turns := map[string]bool{}
	for line := range bytes.Lines(fresh) {
		turns[turnIn(line)] = true
	}
	old, err := io.ReadAll(io.NewSectionReader(l.file, 0, size))
	if err != nil {
		return 0, err
	}
	var kept [][]byte
	at := int64(0)
	for line := range bytes.Lines(old) {
		if turn := turnIn(line); turn != "" && !turns[turn] {
			kept = append(kept, line)
			if at < l.read {
				read += int64(len(line))
			}
		}
		at += int64(len(line))
	}
	return read, l.home.files.Write(l.home.Ledger(), durable.Options{}, append(kept, fresh)...)
}

// turnIn returns the id of the turn that a line of the ledger describes, or "" if the line
// is damaged.
func turnIn(line []byte) string {
	var l struct {
		Turn string `json:"turn"`
	}
	if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &l) != nil {
		return ""
	}
	return l.Turn
}

// open opens the ledger's file, and creates it if it is missing.
func (l *Ledger) open() error {
	file, err := os.OpenFile(l.home.Ledger(), os.O_APPEND|os.O_CREATE|os.O_RDWR, 0o600)
	if err != nil {
		return err
	}
	old := l.file
	l.file = file
	if old != nil {
		return old.Close()
	}
	return nil
}

// Close closes the ledger's file. Lines can still be added after that, but
// [Ledger.Restore] must not be called anymore.
func (l *Ledger) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.file.Close()
}
