package verify

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// Settings describe one verifier. The tags are those of the configuration's keys; see package
// config.
type Settings struct {
	Run     string        `key:"run" is:"raw"`                    // a command line of sh
	Timeout time.Duration `key:"timeout" default:"10m"`           // the maximum duration of a run
	Memory  int           `key:"memory_mb" zero:"for any amount"` // the maximum memory of all its processes together, in MB; 0 means no limit
	// RunIn is a program and its arguments that run the command line, such as a sandbox; empty
	// means that it is run directly.
	RunIn []string `key:"run_in" is:"raw" type:"text or list" split:"words"`
}

// args returns the program to start, with its arguments.
func (s Settings) args() []string {
	return append(append([]string{}, s.RunIn...), "sh", "-c", s.Run)
}

// key returns the cache key for a tree.
func (s Settings) key(name, tree, prefix string) string {
	data, err := json.Marshal([]any{name, tree, prefix, s.Run, s.RunIn, s.Timeout, s.Memory})
	if err != nil { // strings and numbers can always be encoded
		panic(err)
	}
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}
