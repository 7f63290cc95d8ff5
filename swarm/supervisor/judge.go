package supervisor

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Judge is a model that judges the latest steps of an agent: one turn of a backend for each
// judgement, without tools and in a new session.
type Judge struct {
	Backend runner.Backend
	// Turn prepares a turn for a judgement about an agent: its id, files, environment and
	// cap, and a Spec with the command, an empty folder, the model and the thinking. The
	// prompt, the session and the absence of tools are set here.
	Turn func(agent string) (runner.Turn, error)
	// Ended is called with each turn that Turn has prepared, once it has ended, so that its
	// cost is counted and its files are removed.
	Ended   func(agent string, t runner.Turn, o runner.Outcome)
	Timeout time.Duration // of one judgement; 0 means a minute
}
