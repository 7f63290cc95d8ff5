package provision

import (
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Options are the options for Init. The zero value is ready to use.
type Options struct {
	// Config is the content for claude-swarm.yaml if the file is missing; empty means
	// [config.Template].
	Config string

	// Subscribe contains, for each agent, the topic patterns to which it subscribes.
	Subscribe map[string][]string

	// Skill creates the skill that explains the verbs to a Claude Code session.
	Skill bool

	// Upgrade also recreates a claude-swarm.yaml that another version created and that
	// has not been changed.
	Upgrade bool
	// Reset recreates all of our parts, even changed ones, except a changed
	// claude-swarm.yaml, which belongs to the person.
	Reset bool

	// Step, if set, is called before every change on disk outside the mailboxes. An error
	// ends the run at that point, as a crash would; the next run continues from there.
	Step func(what string) error
}

// A setup is one run of init, check, remove or attach on a project. It must be used by
// one goroutine only.
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

// inOrder calls the steps in order until one fails.
func inOrder(steps ...func() error) error {
	for _, step := range steps {
		if err := step(); err != nil {
			return err
		}
	}
	return nil
}
