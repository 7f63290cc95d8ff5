package swarm

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// attachedStatus says which session does the mail of an attached agent, and what
// to do where none does. The plugin of attach lies beside the daemon's files; the path is as
// seen from the project.
func attachedStatus(home journal.Home, name string) (why, next string) {
	if b, err := home.BindingOf(name); err == nil && b != nil {
		return fmt.Sprintf("your own session does its mail: pid %d", b.Process.PID), ""
	}
	next = "claude-swarm attach " + name
	if info, err := os.Stat(filepath.Join(home.Dir(), "attach", name)); err == nil && info.IsDir() {
		next = "claude --plugin-dir " + filepath.Join(filepath.Base(home.Dir()), "attach", name)
	}
	return "no session of your own is attached as " + name, next
}
