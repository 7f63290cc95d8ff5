package config

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A keptSlug is the slug of a project that specifies none, so that the project keeps its
// channels on IRC when its folder is moved or renamed.
type keptSlug struct {
	V       int    `json:"v"`
	Slug    string `json:"slug"`
	Project string `json:"project"` // the folder in which the daemon recorded it
}

func slugFile(project string) string { return filepath.Join(project, discovery.HomeName, "slug.json") }

// slugFor returns the slug of a project that specifies none: the recorded one, else the one of
// the folder's name. If the project is a copy and the original still exists, the record
// belongs to the original.
func slugFor(project string) string {
	var kept keptSlug
	err := durable.ReadJSON(slugFile(project), &kept)
	if err != nil || kept.Slug != slugOf(kept.Slug) || kept.Project != project && exists(filepath.Join(kept.Project, Name)) {
		kept.Slug = ""
	}
	return cmp.Or(kept.Slug, slugOf(filepath.Base(project)))
}

// KeepSlug records the project's slug, if the project uses IRC and specifies no slug. The
// record survives a power failure.
func (f *File) KeepSlug(files durable.Files) error {
	now := keptSlug{1, f.IRC.Slug, f.Dir}
	if !f.IRC.On() || !f.slugless {
		return nil
	}
	var kept keptSlug
	if durable.ReadJSON(slugFile(f.Dir), &kept) == nil && kept == now {
		return nil
	}
	if err := files.WriteJSON(slugFile(f.Dir), now); err != nil {
		return fmt.Errorf("record the slug: %w", err)
	}
	return nil
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
