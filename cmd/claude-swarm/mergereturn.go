package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
)

// giveBack sends the author of a branch a message about a conflict or a failed verifier. It is in
// the task of the branch, so the agent works on it in the same working tree.
func (m *merger) giveBack(c *cli.Context, done merge.Merge) error {
	if _, ok := m.file.Agent(done.Agent); !ok {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: nobody is told: there is no agent named %q\n", done.Agent)
		return nil
	}
	letter := &dropbox.Message{
		To: []string{done.Agent}, Type: dropbox.Task, Trace: done.Task,
		// A crash may repeat this, but a later attempt may tell the same again.
		Key:     fmt.Sprintf("merge %s %d", done.ID, done.Asked.UnixNano()),
		Subject: fmt.Sprintf("%s could not be merged into %s", done.Branch, done.Target),
		Body:    returnText(done),
	}
	if done.Task != "" {
		if _, first, err := m.Message(done.Task); err == nil {
			letter.Thread = first.Thread
		}
	}
	sent, err := m.Send(letter)
	if err != nil {
		return err
	}
	fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s is told: message %s\n", done.Agent, sent[0].ID)
	return nil
}

// returnText says to an agent why its branch was not merged, and what it shall do.
func returnText(done merge.Merge) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Your branch %s at %.12s could not be merged into %s: %s.\n", done.Branch, done.Commit, done.Target, done.Why)
	for _, list := range [][]string{done.Paths, done.Output} {
		if len(list) > 0 {
			fmt.Fprintf(&b, "\n    %s\n", strings.Join(list, "\n    "))
		}
	}
	fmt.Fprintf(&b, "\nIn the working tree of your branch, merge %s (git merge %s), make it right there, and commit. A person merges it again then.\n", done.Target, done.Target)
	return []byte(b.String())
}
