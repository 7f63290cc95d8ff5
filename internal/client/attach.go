package client

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

// Attach puts a file into the store. The error is a [*FileError] where who is asking
// may not read it, [os.ErrNotExist] or [ErrNotRegular] when there is none, or one of
// the store's.
func (c *Client) Attach(path string) (dropbox.Attachment, error) {
	name := filepath.Base(path)
	path, err := c.Readable(path)
	if err != nil {
		return dropbox.Attachment{}, fmt.Errorf("attach: %w", err)
	}
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
	return c.Store.Attach(name, f)
}
