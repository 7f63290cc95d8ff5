package provision

import (
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
)

// subscriptionsOf is where dropbox keeps the patterns of an agent.
func subscriptionsOf(deadDrop, agent string) string {
	return filepath.Join(deadDrop, "topics", "subscriptions", agent)
}

// subscribe lets agents hear of topics, beside what they hear already. It is not
// noted as ours: an agent changes its subscriptions while it works.
func (s *setup) subscribe(file *config.File, topics map[string][]string) error {
	if len(topics) == 0 {
		return nil
	}
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	for _, agent := range slices.Sorted(maps.Keys(topics)) {
		had, err := store.Subscriptions(agent)
		if err != nil {
			return err
		}
		path := subscriptionsOf(file.DeadDropDir, agent)
		if !slices.ContainsFunc(topics[agent], func(pattern string) bool { return !slices.Contains(had, pattern) }) {
			s.note(path, false)
			continue
		}
		if err := s.does("write " + path); err != nil {
			return err
		}
		has, err := store.Subscribe(agent, topics[agent]...)
		if err != nil {
			return err
		}
		item := Item{Path: short(s.dir, path), State: Made, Why: strings.Join(has, " ")}
		if len(had) > 0 {
			item.State = Added
		}
		s.r.Items = append(s.r.Items, item)
	}
	return nil
}
