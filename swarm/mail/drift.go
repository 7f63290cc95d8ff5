package mail

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Drift says how the folder of an agent has changed since its last turn, by others. The names
// and paths may have been chosen by anybody.
type Drift struct {
	Since                time.Time // when the last turn ended
	From, To             string    // the commits of HEAD, if it moved
	FromBranch, ToBranch string    // if the branch was switched
	Commits              int       // on the way; 0 if unknown or none
	More                 bool      // there are more than Commits
	Authors              []string  // of these commits, each once
	Files                []string  // written and not committed
	Agents               []AgentFiles
}

// AgentFiles are the files that the turns of an agent wrote.
type AgentFiles struct {
	Agent string
	Files []string
}

const (
	maxDriftFiles   = 8
	maxDriftAgents  = 4
	maxDriftAuthors = 4
	maxDriftWord    = 80 // bytes
)

// Text returns at most three lines about the drift; without one, "".
func (d Drift) Text() string {
	var lines []string
	if head := d.head(); head != "" {
		lines = append(lines, head)
	}
	if len(d.Agents) > 0 {
		var parts []string
		for _, a := range d.Agents[:min(len(d.Agents), maxDriftAgents)] {
			parts = append(parts, foreign(a.Agent)+": "+words(a.Files, maxDriftFiles))
		}
		if more := len(d.Agents) - maxDriftAgents; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
		lines = append(lines, "Files that other agents wrote: "+strings.Join(parts, "; ")+".")
	}
	if len(d.Files) > 0 {
		lines = append(lines, "Files that were written and not committed: "+words(d.Files, maxDriftFiles)+".")
	}
	if len(lines) == 0 {
		return ""
	}
	lines[0] = "Since your last turn ended at " + stamp(d.Since) + ", your folder has changed. " + lines[0]
	return strings.Join(lines, "\n")
}

// head says how HEAD moved.
func (d Drift) head() string {
	if d.From == "" || d.From == d.To && d.FromBranch == d.ToBranch {
		return ""
	}
	text := fmt.Sprintf("HEAD moved from %s to %s", short(d.From), short(d.To))
	if d.Commits > 0 {
		count := screen.Count(d.Commits, "commit")
		if d.More {
			count = "more than " + count
		}
		text += fmt.Sprintf(" (%s by %s)", count, words(d.Authors, maxDriftAuthors))
	}
	if d.FromBranch != d.ToBranch {
		text += fmt.Sprintf("; the branch was switched from %s to %s", foreign(d.FromBranch), foreign(d.ToBranch))
	}
	return text + "."
}

// short returns the abbreviated name of a commit.
func short(commit string) string { return word(commit[:min(len(commit), 10)]) }

// foreign is [word] for a text of any length.
func foreign(s string) string { return word(screen.Truncate(s, maxDriftWord)) }

// words returns a list of foreign texts, at most the given number.
func words(all []string, most int) string {
	var list []string
	for _, s := range all[:min(len(all), most)] {
		list = append(list, foreign(s))
	}
	if more := len(all) - most; more > 0 {
		list = append(list, fmt.Sprintf("%d more", more))
	}
	if len(list) < 2 {
		return strings.Join(list, "")
	}
	return strings.Join(slices.Clone(list[:len(list)-1]), ", ") + " and " + list[len(list)-1]
}
