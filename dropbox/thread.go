package dropbox

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// A HaltedThread is a conversation that is halted.
type HaltedThread struct {
	Thread string
	Why    string    // one or more lines; empty when the file was made by hand
	Since  time.Time // UTC
}

// haltFileOf is the file that halts a thread: halted/<thread>, or the SHA-256 of one
// that cannot be the name of a file.
func haltFileOf(thread string) string {
	if idPartShape(thread) {
		return haltedDir + "/" + thread
	}
	sum := sha256.Sum256([]byte(thread))
	return haltedDir + "/" + hex.EncodeToString(sum[:])
}

// HaltThread halts one conversation, durable, with the reason for people. The store
// only keeps that; those who deliver and claim ask [Store.ThreadHalted]. If it is
// halted already the first reason stays. Any program may do the same: the file
// halted/THREAD is enough.
func (s *Store) HaltThread(thread, why string) error {
	if err := s.haltThread(thread, why); err != nil {
		return fmt.Errorf("halt thread %s: %w", thread, err)
	}
	return nil
}

func (s *Store) haltThread(thread, why string) error {
	if thread == "" {
		return invalid("no thread")
	}
	if err := checkText("thread", thread, maxWord); err != nil {
		return err
	}
	if there, err := s.disk.exists(haltedDir); err != nil {
		return err
	} else if !there {
		if err := errors.Join(s.disk.mkdir(haltedDir), s.disk.syncDir(".")); err != nil {
			return err
		}
	}
	text := thread + "\n" + strings.TrimRight(why, "\n") + "\n"
	return s.disk.put(haltedDir+"/"+scratchPrefix+NewID(), haltFileOf(thread), []byte(text))
}

// ThreadHalted says whether a conversation is halted; nil when it is not. It costs
// one look at one name.
func (s *Store) ThreadHalted(thread string) (*HaltedThread, error) {
	if thread == "" {
		return nil, nil
	}
	h, err := s.readHalted(haltFileOf(thread), thread)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("look at thread %s: %w", thread, err)
	}
	return h, nil
}

func (s *Store) readHalted(file, thread string) (*HaltedThread, error) {
	f, err := s.disk.openRead(file)
	if err != nil {
		return nil, err
	}
	defer f.close()
	h := &HaltedThread{Thread: thread, Since: modTime(&f.st).UTC()}
	data, err := f.read(64 << 10)
	if err != nil {
		return nil, err
	}
	// What a person wrote into it may be anything.
	first, rest, _ := strings.Cut(string(data), "\n")
	if thread == "" {
		h.Thread = strings.TrimPrefix(file, haltedDir+"/")
		if haltFileOf(first) == file {
			h.Thread = first
		}
	}
	if first == h.Thread {
		h.Why = strings.TrimSpace(rest)
	} else {
		h.Why = strings.TrimSpace(string(data))
	}
	return h, nil
}

// HaltedThreads lists the conversations that are halted, the newest first.
func (s *Store) HaltedThreads() ([]HaltedThread, error) {
	names, err := s.disk.names(haltedDir)
	if err != nil {
		return nil, fmt.Errorf("list halted threads: %w", err)
	}
	var list []HaltedThread
	for _, name := range names {
		if unfinished(name) {
			continue
		}
		h, err := s.readHalted(haltedDir+"/"+name, "")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
			continue // gone meanwhile, or a thing that halts nothing that has a name
		} else if err != nil {
			return nil, fmt.Errorf("list halted threads: %w", err)
		}
		list = append(list, *h)
	}
	slices.SortFunc(list, func(a, b HaltedThread) int {
		if n := b.Since.Compare(a.Since); n != 0 {
			return n
		}
		return strings.Compare(a.Thread, b.Thread)
	})
	return list, nil
}

// UnhaltThread lets a conversation go on; it is not an error when it is not halted.
func (s *Store) UnhaltThread(thread string) error {
	err := ignoreMissing(s.disk.remove(haltFileOf(thread)))
	if err == nil {
		err = ignoreMissing(s.disk.syncDir(haltedDir))
	}
	if err != nil {
		return fmt.Errorf("unhalt thread %s: %w", thread, err)
	}
	return nil
}
