// Package tokens reads the secrets with which senders prove their identity, and masks them in
// text. The secrets are in a file in the daemon's folder, with one line for each name. Only the
// owner can read the file.
//
// Package journal creates the secrets. This package only reads the file, and imports only
// the standard library.
package tokens

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// File returns the path of the token file in the daemon's folder home.
func File(home string) string { return filepath.Join(home, "tokens") }

// Read returns the token of each name. A missing file is treated as empty, not as an
// error.
func Read(home string) (map[string]string, error) {
	data, err := os.ReadFile(File(home))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("read the tokens: %w", err)
	}
	read := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		if name, token, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			read[name] = token
		}
	}
	return read, nil
}
