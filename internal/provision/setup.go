package provision

import (
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Options tune Init. The zero value is ready to use.
type Options struct {
	// Config is the text of the claude-swarm.yaml to write where there is none;
	// empty means [config.Template].
	Config string

	// Subscribe says of agents which topics they are to hear of, as patterns.
	Subscribe map[string][]string

	// Skill makes the skill that teaches a session of Claude Code the verbs.
	Skill bool

	// Upgrade makes again what an older version made and nobody changed since.
	Upgrade bool
	// Reset makes everything of ours again, also what somebody changed; but never
	// a claude-swarm.yaml, which is the person's own.
	Reset bool

	// Step, if set, is asked before every change on disk outside the mailboxes.
	// An error ends the run there, as a crash would; the next run goes on.
	Step func(what string) error
}

// A setup is one run of init, check, remove or attach over a project. It belongs to
// one goroutine.
type setup struct {
	m *manifest
	r *Report
}

// openSetup reads the manifest of a project, and begins the report of the run.
func openSetup(dir string, step func(string) error, r *Report) (*setup, error) {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r.Config = filepath.Join(dir, config.Name)
	m, err := openManifest(dir, r.Config, step)
	if err != nil {
		return nil, err
	}
	return &setup{m: m, r: r}, nil
}

// inOrder takes steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
