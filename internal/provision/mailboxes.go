package provision

import (
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/config"
)

// mailboxes creates the mailboxes' folder and a mailbox for each agent and for the lead.
func (s *setup) mailboxes(file *config.File) error {
	there := isFolder(file.DeadDropDir)
	names := append(file.Names(), dropbox.Lead)
	had := make(map[string]bool)
	for _, name := range names {
		had[name] = isFolder(filepath.Join(file.DeadDropDir, name))
	}
	// The manifest lists the parent folders that we created. The mailboxes' folder itself
	// is recognized by its content.
	if err := s.m.makeFolders(filepath.Dir(file.DeadDropDir), ""); err != nil {
		return err
	}
	s.m.Mail = short(s.m.dir, file.DeadDropDir)
	if err := s.m.save(); err != nil {
		return err
	}
	if !there {
		if err := s.m.disk.asks("make " + file.DeadDropDir); err != nil {
			return err
		}
	}
	// Create and MakeMailbox can be called repeatedly; they recreate deleted folders.
	if err := dropbox.Create(file.DeadDropDir); err != nil {
		return err
	}
	s.r.made(file.DeadDropDir, !there)
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	if err != nil {
		return err
	}
	defer store.Close()
	if err := s.renewIgnore(store); err != nil {
		return err
	}
	for _, name := range names {
		if !had[name] {
			if err := s.m.disk.asks("make the mailbox " + name); err != nil {
				return err
			}
		}
		if err := store.MakeMailbox(name); err != nil {
			return err
		}
		s.r.made(filepath.Join(file.DeadDropDir, name), !had[name])
	}
	return nil
}

// renewIgnore replaces the mailboxes' .gitignore if an earlier version wrote it.
func (s *setup) renewIgnore(store *dropbox.Store) error {
	path := filepath.Join(store.Dir(), ".gitignore")
	if outdated, err := store.IgnoreOutdated(); err != nil || !outdated {
		return err
	}
	if err := s.m.disk.asks("write " + path); err != nil {
		return err
	}
	renewed, err := store.RenewIgnore()
	if renewed {
		s.r.add(path, Remade, "", "")
	}
	return err
}

// checkMailboxes reports the state of the mailboxes' folder and of each mailbox.
func (s *setup) checkMailboxes(file *config.File) {
	state := func(ok bool) (State, string) {
		if ok {
			return Current, ""
		}
		return Missing, "claude-swarm init"
	}
	store, err := dropbox.Open(file.DeadDropDir, dropbox.Options{})
	st, try := state(err == nil)
	why := ""
	if err != nil && !errors.Is(err, dropbox.ErrNoStore) {
		why = err.Error()
	}
	s.r.add(file.DeadDropDir, st, why, try)
	if err != nil {
		return
	}
	defer store.Close()
	if outdated, err := store.IgnoreOutdated(); err == nil && outdated {
		s.r.add(filepath.Join(file.DeadDropDir, ".gitignore"), Drifted, "made by an earlier version", "claude-swarm init")
	}
	for _, name := range append(file.Names(), dropbox.Lead) {
		_, err := store.Mailbox(name)
		st, try := state(err == nil)
		s.r.add(filepath.Join(file.DeadDropDir, name), st, "", try)
	}
}

// subscriptionsOf returns the path of the file in which dropbox keeps an agent's
// patterns.
func subscriptionsOf(deadDrop, agent string) string {
	return filepath.Join(deadDrop, "topics", "subscriptions", agent)
}

// subscribe adds patterns to the agents' subscriptions. The manifest does not list
// subscriptions, because an agent changes its subscriptions while it works.
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
		had, err := topic.Of(store).Subscriptions(agent)
		if err != nil {
			return err
		}
		path := subscriptionsOf(file.DeadDropDir, agent)
		if !slices.ContainsFunc(topics[agent], func(pattern string) bool { return !slices.Contains(had, pattern) }) {
			s.r.made(path, false)
			continue
		}
		if err := s.m.disk.asks("write " + path); err != nil {
			return err
		}
		has, err := topic.Of(store).Subscribe(agent, topics[agent]...)
		if err != nil {
			return err
		}
		item := Item{Path: short(s.m.dir, path), State: Made, Why: strings.Join(has, " ")}
		if len(had) > 0 {
			item.State = Added
		}
		s.r.Items = append(s.r.Items, item)
	}
	return nil
}
