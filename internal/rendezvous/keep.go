package rendezvous

import (
	"os"
	"path/filepath"
)

// Keep writes a small file of the daemon's folder that the verbs read. It may be
// missing, so it need not be durable, but it is never there by half. What has this
// text already is left alone.
func Keep(home, name, text string) error {
	path := filepath.Join(home, name)
	if old, err := os.ReadFile(path); err == nil && string(old) == text {
		return nil
	}
	// Two that write at once write each their own file.
	tmp, err := os.CreateTemp(home, "."+name+"-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name()) // harmless after the rename
	_, err = tmp.WriteString(text)
	if cerr := tmp.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(tmp.Name(), path)
	}
	return err
}
