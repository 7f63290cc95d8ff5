package bridge

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

func joinedFile(dir string) string { return filepath.Join(dir, "joined.json") }

// readJoined reads the list of channels that people asked the bridge to join and that are
// not in the options.
func readJoined(dir string) ([]string, error) {
	data, err := os.ReadFile(joinedFile(dir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var names []string
	if err := json.Unmarshal(data, &names); err != nil {
		return nil, nil // the file is damaged, but the bridge rejoins a channel when it has a message for that channel
	}
	return names, nil
}
