package hold

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// KindAttached is the kind of [Attached].
const KindAttached Kind = "attached"

// Attached holds an agent whose mail goes to a person's own session. The daemon runs no
// turns for it.
type Attached struct{ Home journal.Home }

// Now says which session handles the agent's mail, and what to do if no session does. The
// plugin that attach creates is stored next to the daemon's files. Its path is shown relative
// to the project.
func (h Attached) Now(q Query) (Held, bool) {
	if !q.Attached {
		return Held{}, false
	}
	held := Held{Kind: KindAttached, State: away}
	if b, err := h.Home.BindingOf(q.Agent); err == nil && b != nil {
		held.Why = fmt.Sprintf("your own session handles its mail: pid %d", b.Process.PID)
		if list := b.Listed(); list != "" {
			held.Why += "; " + list
		}
		return held, true
	}
	held.Why, held.Next = "no session of your own is attached as "+q.Agent, "claude-swarm attach "+q.Agent
	if info, err := os.Stat(filepath.Join(h.Home.Dir(), "attach", q.Agent)); err == nil && info.IsDir() {
		held.Next = "claude --plugin-dir " + filepath.Join(filepath.Base(h.Home.Dir()), "attach", q.Agent)
	}
	return held, true
}
