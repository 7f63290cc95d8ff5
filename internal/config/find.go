package config

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// maxBytes is far above any real configuration; it keeps a mistaken path from
// being read into memory.
const maxBytes = 1 << 20

// Find walks up from a folder to the first that has a claude-swarm.yaml and
// returns the absolute path of that file. Where there is none the error is
// [ErrNoProject].
func Find(from string) (string, error) {
	dir, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for {
		path := filepath.Join(dir, Name)
		info, err := os.Stat(path)
		switch {
		case err == nil && !info.IsDir():
			return path, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", err // it may be there: going on would find another project
		}
		above := filepath.Dir(dir)
		if above == dir {
			return "", ErrNoProject
		}
		dir = above
	}
}

// Load reads a configuration file. What is wrong in the file comes back as
// [Errors]; a file that cannot be read as the operating system's error.
func Load(path string) (*File, error) {
	// Without waiting, since a fifo would wait for somebody who writes.
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}
