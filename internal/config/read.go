package config

import (
	"fmt"
	"io"
	"os"
	"syscall"
)

// maxBytes is far above any real configuration; it keeps a mistaken path from
// being read into memory.
const maxBytes = 1 << 20

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
