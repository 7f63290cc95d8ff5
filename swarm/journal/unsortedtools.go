package journal

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// UnsortedTools stores, durably, the tools that clients have offered and that this version
// of claude-swarm does not know. From the next start of a client on, no agent gets them. It
// is safe for concurrent use.
type UnsortedTools struct {
	path  string
	files durable.Files
	mu    sync.Mutex
	of    map[string][]string // by kind of client
}

// OpenUnsortedTools reads the file. If the error is a [*durable.DamagedError], the list is empty
// but usable.
func OpenUnsortedTools(home Home) (*UnsortedTools, error) {
	u := &UnsortedTools{path: home.unsortedFile(), files: home.files}
	err := durable.ReadJSON(u.path, &u.of)
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		e.Lost, e.Next = "in its next turn, an agent may have tools that claude-swarm does not know", "claude-swarm start, which sets it aside"
		u.of = map[string][]string{}
		return u, e
	} else if err != nil {
		return nil, fmt.Errorf("unknown tools: %w", err)
	}
	if u.of == nil { // the file is missing or contains null
		u.of = map[string][]string{}
	}
	return u, nil
}

// Of returns the tools that clients of this kind have offered and that this version of
// claude-swarm does not know, in alphabetical order. An earlier version may have stored
// tools that this version knows.
func (u *UnsortedTools) Of(kind *runner.Kind) []string {
	if kind.Unsorted == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	return kind.Unsorted(u.of[kind.Name])
}

// Add adds the unknown tools among those that a client of this kind offers.
func (u *UnsortedTools) Add(kind *runner.Kind, offered []string) error {
	if kind.Unsorted == nil {
		return nil
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	was := u.of[kind.Name]
	all := slices.Clone(was)
	for _, tool := range kind.Unsorted(offered) {
		if at, found := slices.BinarySearch(all, tool); !found {
			all = slices.Insert(all, at, strings.Clone(tool))
		}
	}
	if len(all) == len(was) {
		return nil
	}
	u.of[kind.Name] = all
	err := u.files.WriteJSON(u.path, u.of)
	if err != nil {
		u.of[kind.Name] = was // the next client offers the tools again
	}
	return err
}

// Text says which tools of a client no agent gets, and what to write to get them. It
// returns "" if there are no such tools.
func (u *UnsortedTools) Text(kind *runner.Kind) (why, next string) {
	tools := u.Of(kind)
	if len(tools) == 0 {
		return "", ""
	}
	them := "them"
	if len(tools) == 1 {
		them = "it"
	}
	return fmt.Sprintf("%s offers %s that this version of claude-swarm does not know, so agents do not get %s: %s",
		kind.Title, screen.Count(len(tools), "tool"), them, strings.Join(tools, ", ")), "allowed_tools: all, for an agent that needs " + them + ", then claude-swarm reload"
}
