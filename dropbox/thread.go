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

// Threads represents the halted conversations of a store.
type Threads struct{ store *Store }

// Threads returns the halted conversations of the store.
func (s *Store) Threads() Threads { return Threads{s} }

// A HaltedThread is a halted conversation.
type HaltedThread struct {
	Thread string
	Why    string    // one or more lines; empty for an empty file that a person created
	Since  time.Time // UTC
}

// haltFileOf returns the path of the file that halts a thread: halted/<thread>. If the
// thread does not have the form of an id or a partial id, the file name is the SHA-256 of
// the thread.
func haltFileOf(thread string) string {
	if idPartShape(thread) {
		return haltedDir + "/" + thread
	}
	sum := sha256.Sum256([]byte(thread))
	return haltedDir + "/" + hex.EncodeToString(sum[:])
}

// Halt durably halts a conversation and records the reason for people to read. The store
// only records the halt; callers that deliver or claim must check [Threads.Halted]. If
// the conversation is already halted, the existing reason is kept. Any program can also
// halt a conversation by creating the file halted/THREAD.
func (t Threads) Halt(thread, why string) error {
	if err := t.halt(thread, why); err != nil {
		return fmt.Errorf("halt thread %s: %w", thread, err)
	}
	return nil
}

func (t Threads) halt(thread, why string) error {
	if thread == "" {
		return invalid("no thread")
	}
	if err := checkText("thread", thread, maxWord); err != nil {
		return err
	}
	// The process that created the folder may have been killed before the folder was
	// durable.
	if err := errors.Join(t.store.disk.mkdir(haltedDir), t.store.disk.syncDir(".")); err != nil {
		return err
	}
	text := thread + "\n" + strings.TrimRight(why, "\n") + "\n"
	return t.store.disk.put(haltedDir+"/"+scratchPrefix+NewID(), haltFileOf(thread), []byte(text))
}

// Halted returns the halt of a conversation, or nil if the conversation is not halted. It
// looks up only one file name.
func (t Threads) Halted(thread string) (*HaltedThread, error) {
	if thread == "" {
		return nil, nil
	}
	h, err := t.read(haltFileOf(thread), thread)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("look at thread %s: %w", thread, err)
	}
	return h, nil
}

func (t Threads) read(file, thread string) (*HaltedThread, error) {
	f, err := t.store.disk.openRead(file)
	if err != nil {
		return nil, err
	}
	defer f.close()
	h := &HaltedThread{Thread: thread, Since: modTime(&f.st).UTC()}
	data, err := f.read(64 << 10)
	if err != nil {
		return nil, err
	}
	// A person may have written anything in the file.
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

// List lists the halted conversations, most recent halt first.
func (t Threads) List() ([]HaltedThread, error) {
	names, err := t.store.disk.names(haltedDir)
	if err != nil {
		return nil, fmt.Errorf("list halted threads: %w", err)
	}
	var list []HaltedThread
	for _, name := range names {
		if unfinished(name) {
			continue
		}
		h, err := t.read(haltedDir+"/"+name, "")
		if errors.Is(err, fs.ErrNotExist) || errors.Is(err, ErrInvalid) || errors.Is(err, ErrTooLarge) {
			continue // the file was removed in the meantime or does not halt a conversation
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

// Unhalt allows a halted conversation to continue. It is not an error if the conversation
// is not halted.
func (t Threads) Unhalt(thread string) error {
	err := ignoreMissing(t.store.disk.remove(haltFileOf(thread)))
	if err == nil {
		err = ignoreMissing(t.store.disk.syncDir(haltedDir))
	}
	if err != nil {
		return fmt.Errorf("unhalt thread %s: %w", thread, err)
	}
	return nil
}
