package journal

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// CatchUp counts the lines that other processes have added with [AppendLedger], and returns
// those that were not counted before. A person's own session adds such lines while the daemon
// is running. If no line was added, CatchUp only asks for the size of the file.
func (l *Ledger) CatchUp() (added []LedgerLine, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	info, err := l.file.Stat()
	if errors.Is(err, os.ErrClosed) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("ledger: %w", err)
	}
	if info.Size() < l.read { // a person has shortened the file
		l.read = info.Size()
	}
	if info.Size() == l.read {
		return nil, nil
	}
	size, err := readLines(io.NewSectionReader(l.file, l.read, info.Size()-l.read), func(line LedgerLine) bool {
		if l.known[line.Turn] || l.older[line.Turn] {
			return true
		}
		l.know(line.Turn)
		l.count(line)
		if l.heard != nil {
			l.heard(line, false)
		}
		added = append(added, line)
		return true
	})
	l.read += size
	if err != nil {
		return added, fmt.Errorf("ledger: %w", err)
	}
	return added, nil
}

// wholeSize returns the size of the ledger's file, in bytes, at a moment at which no process
// is adding a line.
func (l *Ledger) wholeSize() (size int64, err error) {
	err = whileLocked(l.lockFile(), func() error {
		info, err := os.Stat(l.home.Ledger())
		if errors.Is(err, fs.ErrNotExist) {
			return nil
		} else if err != nil {
			return err
		}
		size = info.Size()
		return nil
	})
	return size, err
}
