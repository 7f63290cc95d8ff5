package client

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// ErrNotRegular reports that a path is a folder, a device or some other file that cannot
// be attached.
var ErrNotRegular = errors.New("not a regular file")

// Attach copies a file into the store. The error is a [*FileError] if the caller may not
// send the file; otherwise it is [os.ErrNotExist], [ErrNotRegular], or another error from
// the file system or the store.
func (c *Client) Attach(path string) (dropbox.Attachment, error) {
	name := filepath.Base(path)
	path, err := c.Readable(path)
	if err != nil {
		return dropbox.Attachment{}, fmt.Errorf("attach: %w", err)
	}
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
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

// Readable checks that the caller may send a file, and returns the path to open. If the
// caller is an agent, the path contains no symbolic links. A person may send any file. An
// agent may send only files that its tools may read, because the recipient of the message
// can read the file. No agent may send a file in the daemon's folder. The error is a
// [*FileError] or an error from the file system.
//
// An agent may send data through a pipe, such as its standard input, because it can read
// that data anyway.
func (c *Client) Readable(name string) (string, error) {
	if c.Me.Name == dropbox.Lead {
		return name, nil
	}
	r, ok := c.Reading[c.Me.Name]
	if !ok {
		r = Reading{Allowed: new([]string)}
	}
	return r.check(name, agentFolders{c.Me.Name, c.Home.Dir(), c.Store.Dir()})
}
