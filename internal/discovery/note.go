package discovery

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A Note is the content of a daemon's lock file. It is intended for people, and for
// callers that would otherwise look for the socket in the wrong place. Only the kernel's
// lock proves that a daemon is running; the note may be outdated or missing.
type Note struct {
	PID     int
	Since   time.Time
	Version string
	Socket  string
	// Namespace is the daemon's PID namespace, as named by the kernel. It is empty on a
	// system without PID namespaces.
	Namespace string
}

// ReadNote reads the note in a lock file. The daemon that wrote it may have ended.
func ReadNote(path string) Note {
	var n Note
	data, err := os.ReadFile(path)
	if err != nil {
		return n
	}
	for line := range strings.Lines(string(data)) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch key {
		case "pid":
			n.PID, _ = strconv.Atoi(value) // 0 means unknown, as if the value were missing
		case "since":
			n.Since, _ = time.Parse(time.RFC3339, value)
		case "version":
			n.Version = value
		case "socket":
			n.Socket = value
		case "namespace":
			n.Namespace = value
		}
	}
	return n
}

// Write writes the note to a lock file. The caller must hold the lock.
func (n Note) Write(path string) error {
	text := fmt.Sprintf("pid %d\nsince %s\nversion %s\nsocket %s\n", n.PID, n.Since.UTC().Format(time.RFC3339), n.Version, n.Socket)
	if n.Namespace != "" {
		text += "namespace " + n.Namespace + "\n"
	}
	return os.WriteFile(path, []byte(text), 0o600)
}
