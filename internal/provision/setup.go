package provision

import (
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Options tune Init. The zero value is ready to use.
type Options struct {
	// Config is the content for claude-swarm.yaml if the file is missing; empty means
	// [config.Template].
	Config string

	// Subscribe contains the patterns of topics to which each agent subscribes.
	Subscribe map[string][]string

	// Skill makes the skill that explains the verbs to a session of Claude Code.
	Skill bool

	// Upgrade also remakes a claude-swarm.yaml that another version made and nobody has
	// changed.
	Upgrade bool
	// Reset remakes all our parts, even changed ones, except a changed claude-swarm.yaml,
	// which belongs to the person.
	Reset bool

	// Step, if set, is called before every change on disk outside the mailboxes. An error
	// ends the run there, as a crash would; the next run continues.
	Step func(what string) error
}

// A setup is one run of init, check, remove or attach over a project. It belongs to
// one goroutine.
type setup struct {
	m *manifest
	r *Report
}

// openSetup reads the manifest of a project and starts the report of the run.
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

// inOrder calls the steps until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
