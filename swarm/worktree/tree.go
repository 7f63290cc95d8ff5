package worktree

import (
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
)

// A Mode says in which working tree an agent's turns run.
type Mode string

const (
	None     Mode = "none"  // in the project itself, or in the folder that cwd names
	PerAgent Mode = "agent" // in a working tree that belongs to the agent
	PerTask  Mode = "task"  // in a working tree that the agent has for each task
)

// On reports whether turns in this mode run in a working tree.
func (m Mode) On() bool { return m == PerAgent || m == PerTask }

// Settings are an agent's settings about working trees. The tags are those of the
// configuration's keys; see package config.
type Settings struct {
	Mode Mode `key:"worktree" type:"none | agent | task" default:"none" doc:"The git working tree in which the agent works. none: the project itself. agent: .worktrees/NAME, with the branch agent/NAME. task: a tree for each task, .worktrees/agent-task-ID, with the branch task/ID; the folder is removed when the task is done and committed. See docs/worktrees.md."`
	// Copy and Link name files below the project.
	Copy []string `key:"worktree_copy" is:"empty" doc:"Files that git ignores and that a new working tree needs, such as [.env]; each is copied there. Relative to the project."`
	Link []string `key:"worktree_link" is:"empty" doc:"Like worktree_copy, but the tree gets a link to the file or folder in the project, such as [node_modules]."`
}

// folder is the folder of all working trees, in the project.
const folder = ".worktrees"

// A Tree is the working tree that one agent has for a task, or for all its tasks.
type Tree struct {
	Agent string `json:"agent"`
	Task  string `json:"task,omitempty"` // the trace of the task's messages; "" if the tree is for all tasks
	// Dir is the tree's folder, relative to the project, with slashes.
	Dir    string `json:"dir"`
	Branch string `json:"branch"`
	Base   string `json:"base"` // the commit at which the branch began
	// Target is the branch that was checked out in the project when the tree was made; "" if
	// none was.
	Target string    `json:"target,omitempty"`
	Made   time.Time `json:"made"`
	State  State     `json:"state"`
	// Admin is the absolute path of git's own folder for this worktree. It is read when the tree
	// is new. An agent can change the file .git in the tree, so that file is not asked again.
	Admin string `json:"admin,omitempty"`
	// Tip is the commit of the branch when the folder was removed.
	Tip string `json:"tip,omitempty"`
	// Message is the ID of the message for which the tree was last used.
	Message string `json:"message,omitempty"`
}

// A State says how far a tree has come; see the package comment.
type State string

const (
	Making   State = "making"
	Ready    State = "ready"
	Removing State = "removing"
	Removed  State = "removed"
)

// plain matches the task ids that can be part of a path and of a branch.
var plain = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// namesOf returns the folder and the branch of a new tree. prefix is [git.Repo].Prefix of the
// project: it tells the agents of several projects in one repository apart. again says that
// somebody else already has the task's branch.
func namesOf(prefix, agent, task string, again bool) (dir, branch string) {
	switch {
	case task == "":
		return path.Join(folder, agent), "agent/" + inBranch(prefix) + agent
	case again:
		task += "-" + agent
	}
	return path.Join(folder, "agent-task-"+task), "task/" + task
}

// inBranch replaces in a path what a branch cannot have or a shell would not take as it is.
func inBranch(path string) string {
	return strings.Map(func(r rune) rune {
		if r == '_' || r != unicode.ReplacementChar && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '-'
	}, path)
}

// below returns the folder in a tree that corresponds to a folder of the project. top is the
// folder of the repository's working tree that contains the project.
func below(tree, top, dir string) string {
	rel, err := filepath.Rel(top, dir)
	if err != nil || rel == ".." || strings.HasPrefix(rel, "../") {
		return tree
	}
	return filepath.Join(tree, rel)
}
