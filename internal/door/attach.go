package door

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// ErrNotRegular says that a path is a folder, a device or the like, which cannot be
// attached.
var ErrNotRegular = errors.New("no regular file")

// Attach puts a file into the store. The error is [os.ErrNotExist] or
// [ErrNotRegular] when there is none, or one of the store's.
func Attach(store *dropbox.Store, path string) (dropbox.Attachment, error) {
	// Without waiting, since a fifo would wait for somebody who writes.
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return dropbox.Attachment{}, fmt.Errorf("attach %s: %w", path, err)
	}
	defer f.Close()
	if info, err := f.Stat(); err != nil {
		return dropbox.Attachment{}, fmt.Errorf("attach %s: %w", path, err)
	} else if !info.Mode().IsRegular() {
		return dropbox.Attachment{}, fmt.Errorf("attach %s: %w", path, ErrNotRegular)
	}
	return store.Attach(filepath.Base(path), f)
}
