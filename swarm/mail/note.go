package mail

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Note logs an error that the caller cannot handle. The status shows the error until the
// folder in which it happened is writable again.
func (s *Service) Note(err error) {
	if err == nil {
		return
	}
	s.Log.Error("a record could not be written", keyErr, err)
	folder := s.folderOf(err)
	s.Notices.Trouble.Until("notes "+folder, "a record could not be written: "+err.Error(), func() error {
		// Make recreates a deleted folder.
		return errors.Join(s.Home.Make(), TryWriting(folder))
	})
}

// folderOf returns the folder in which an operation on a file failed: the daemon's folder,
// one of its subfolders, or the tmp folder of a mailbox.
func (s *Service) folderOf(err error) string {
	path := ""
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		path = e.Path
	} else if e, ok := errors.AsType[*os.LinkError](err); ok {
		path = e.New
	}
	switch {
	case path == "":
		return s.Home.Dir()
	case filepath.IsAbs(path):
		return filepath.Dir(path)
	}
	// Errors of a store contain paths relative to the store's folder, and errors of a
	// window contain paths relative to the window's folder.
	mailbox, _, inside := strings.Cut(path, "/")
	if !inside {
		return filepath.Dir(s.Home.WindowFile("any"))
	}
	return filepath.Join(s.Store.Dir(), mailbox, "tmp")
}

// TryWriting checks whether a folder is writable. It durably writes a one-block file
// there, and removes it.
func TryWriting(folder string) error {
	f, err := os.CreateTemp(folder, ".try-*")
	if err != nil {
		return err
	}
	_, err = f.Write(make([]byte, 4<<10))
	if err == nil {
		err = f.Sync()
	}
	if err := errors.Join(err, f.Close(), os.Remove(f.Name())); err != nil {
		return fmt.Errorf("write in %s: %w", folder, err)
	}
	return nil
}
