package main

import (
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The folders of a turn in a working tree are those of the tree, not the person's.
func TestFoldersInAWorkingTree(t *testing.T) {
	file := &config.File{Dir: "/p", ProjectDir: "/p", DeadDropDir: "/p/.dead-drop"}
	spec := swarm.Spec{Name: "coder"}
	spec.Client.Dir = "/p/src"
	caller := &mcpserver.Caller{
		Plan:    swarm.Plan{Agents: []swarm.Spec{spec}},
		Folders: []string{"/p/src", "/p", "/p/docs", "/opt/data", mcpserver.WorkFolder("/p/.dead-drop", "coder")},
	}
	moveToTree(caller, file, &journal.Record{Agent: "coder", Tree: ".worktrees/coder", Cwd: "/p/.worktrees/coder/src"})
	want := []string{
		"/p/.worktrees/coder/src", "/p/.worktrees/coder", "/p/.worktrees/coder/docs", "/opt/data", mcpserver.WorkFolder("/p/.dead-drop", "coder"),
	}
	if !slices.Equal(caller.Folders, want) {
		t.Errorf("the folders are %q, want %q", caller.Folders, want)
	}
	if got := caller.Plan.Agents[0].Client.Dir; got != "/p/.worktrees/coder/src" {
		t.Errorf("relative paths begin at %s", got)
	}
}
