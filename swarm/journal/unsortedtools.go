package journal

import (
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// UnsortedTools stores, durably, the tools that clients have offered and that this version
// of claude-swarm does not know. From the next start of a client on, no agent gets them. It
// is safe for concurrent use.
type UnsortedTools struct {
	doc *durable.Doc[unsortedFile]
}

type unsortedFile map[string][]string // by kind of client, in alphabetical order

// OpenUnsortedTools reads the file. If the error is a [*durable.DamagedError], the list is
// empty but usable.
func OpenUnsortedTools(home Home) (*UnsortedTools, error) {
	doc, err := durable.OpenDoc[unsortedFile](home.files, home.unsortedFile(), durable.DocOptions{
		Lost: "in its next turn, an agent may have tools that claude-swarm does not know",
		Next: "claude-swarm start, which sets it aside",
	})
	if err != nil {
		err = fmt.Errorf("unknown tools: %w", err)
	}
	return &UnsortedTools{doc}, err
}

// Of returns the tools that clients of this kind have offered and that this version of
// claude-swarm does not know, in alphabetical order. An earlier version may have stored
// tools that this version knows.
func (u *UnsortedTools) Of(kind *runner.Kind) []string {
	if kind.Unsorted == nil {
		return nil
	}
	return kind.Unsorted(u.doc.Get()[kind.Name])
}

// Add adds the unknown tools among those that a client of this kind offers. If the file
// cannot be written, they are not added: the next client offers them again.
func (u *UnsortedTools) Add(kind *runner.Kind, offered []string) error {
	if kind.Unsorted == nil {
		return nil
	}
	return u.doc.Change(func(of *unsortedFile) bool {
		was := (*of)[kind.Name]
		all := slices.Clone(was)
		for _, tool := range kind.Unsorted(offered) {
			if at, found := slices.BinarySearch(all, tool); !found {
				all = slices.Insert(all, at, strings.Clone(tool))
			}
		}
		(*of)[kind.Name] = all
		return len(all) > len(was)
	})
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
