package merge

import (
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A State says how far a merge came. It is the folder in which its file is.
type State string

const (
	Waiting State = "waiting" // in new
	Merging State = "merging" // in cur
	Merged  State = "merged"  // in done
	Refused State = "refused" // in dead
)

// A Cause says why a merge was refused.
type Cause string

const (
	Conflict  Cause = "conflict"  // the branch and the target changed the same lines; see Merge.Paths
	Red       Cause = "red"       // a verifier failed; see Merge.Output
	Moved     Cause = "moved"     // the branch is not at the commit for which the merge was asked
	Gone      Cause = "gone"      // the branch, the commit or the target is not there
	Cancelled Cause = "cancelled" // a person took it back
)

// A Merge is one entry of the queue: a branch that goes into a target, or the undoing of that.
type Merge struct {
	V durable.Version1 `json:"v"`
	// ID names the entry: the name of the branch and the beginning of its commit, so that the same
	// commit is not merged twice.
	ID     string `json:"id"`
	State  State  `json:"state"`
	Branch string `json:"branch"`
	Commit string `json:"commit"` // the commit that is merged, or the merge commit that is undone
	Target string `json:"target"` // a branch
	// Undoes is the ID of the merge that this one undoes, or "".
	Undoes  string    `json:"undoes,omitempty"`
	Task    string    `json:"task,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Subject string    `json:"subject,omitempty"`
	By      string    `json:"by"` // who asked for it
	Asked   time.Time `json:"asked"`

	// Why says in one line why the merge waits or was refused, and Next what a person can do.
	Why  string `json:"why,omitempty"`
	Next string `json:"next,omitempty"`
	// Cause, Paths and Output are set for a refused merge.
	Cause  Cause    `json:"cause,omitempty"`
	Paths  []string `json:"paths,omitempty"`
	Output []string `json:"output,omitempty"`

	From     string    `json:"from,omitempty"`     // the target's commit when the work on this merge began
	Old      string    `json:"old,omitempty"`      // the target's commit before the merge
	Result   string    `json:"result,omitempty"`   // the merge commit; "" if the target had the commit anyway
	Verified string    `json:"verified,omitempty"` // what the verifiers said, or "unverified"
	Ended    time.Time `json:"ended,omitzero"`
	Undone   string    `json:"undone,omitempty"` // the commit that undid the merge; it is not in the file
}

// folders are the folders of the states.
var folders = map[State]string{Waiting: "new", Merging: "cur", Merged: "done", Refused: "dead"}

// NameOf returns the name that a person types for a branch: the branch without task/ or agent/.
func NameOf(branch string) string {
	for _, prefix := range []string{"task/", "agent/"} {
		if name, ok := strings.CutPrefix(branch, prefix); ok && name != "" {
			return name
		}
	}
	return branch
}

// idOf returns the ID of a merge. A branch cannot contain ~.
func idOf(branch, commit string) string {
	return strings.ReplaceAll(NameOf(branch), "/", "~") + "-" + commit[:min(12, len(commit))]
}

// undoSuffix ends the ID of a merge that undoes another one.
const undoSuffix = "-undo"

// fresh returns the merge without what an interrupted attempt found out.
func (m Merge) fresh() Merge {
	m.Why, m.Next, m.Cause, m.Paths, m.Output, m.Verified = "", "", "", nil, nil, ""
	return m
}

// retry returns the command with which a person asks for the merge again.
func (m Merge) retry() string {
	if m.Undoes != "" {
		return "claude-swarm merge --undo " + m.Undoes
	}
	return "claude-swarm merge " + NameOf(m.Branch)
}

// mostSubject is the length of a subject, in characters, in the message of a commit.
const mostSubject = 100

// message returns the message of the commit.
func (m Merge) message(v Verdict) string {
	title := "Merge " + m.Branch + " into " + m.Target
	if m.Undoes != "" {
		title = "Undo the merge of " + m.Branch
	}
	// The subject is in the title, because in a line to itself it could look like a trailer.
	if s := []rune(strings.Join(strings.Fields(m.Subject), " ")); len(s) > 0 {
		title += ": " + string(s[:min(len(s), mostSubject)])
	}
	var b strings.Builder
	b.WriteString(title + "\n\n")
	for _, t := range [][2]string{{"Task", m.Task}, {"Agent", m.Agent}, {"Verified", v.trailer()}, {"Merge-Id", m.ID}, {"Undoes", m.Undoes}} {
		if t[1] != "" {
			b.WriteString(t[0] + ": " + strings.Join(strings.Fields(t[1]), " ") + "\n")
		}
	}
	return b.String()
}
