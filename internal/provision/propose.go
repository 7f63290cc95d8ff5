package provision

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// A Proposal is the content of a new project's claude-swarm.yaml. The zero value means
// the template's two agents.
type Proposal struct {
	Agents         []Proposed
	Backend        string // the kind of all agents; "" means the kind that [Proposal.Kind] chooses
	Command        string // "" means the kind's usual program
	PermissionMode string // "" means the kind's usual mode

	// Installed lists the kinds whose programs are on the PATH, in the order of
	// [backends.Kinds].
	Installed []*runner.Kind

	// Refused is set if git refuses the repository, so that its other work trees are unknown.
	Refused *git.OwnerError
}

// A Proposed is one agent of a [Proposal].
type Proposed struct {
	Name string
	Dir  string // the agent's working folder, as written in the file; "" means the project's folder
	Why  string // a message for the person that says where the agent was found
}

// Installed returns the kinds whose usual programs are on the PATH, in the order of
// [backends.Kinds].
func Installed() (all []*runner.Kind) {
	for _, k := range backends.Kinds() {
		if program := k.Program(); program != "" {
			if _, err := exec.LookPath(program); err == nil {
				all = append(all, k)
			}
		}
	}
	return all
}

// Propose proposes a configuration for a project folder: a coder for the folder itself and
// an agent for each other git work tree. If there is no other work tree, it proposes the
// template's agents.
func Propose(ctx context.Context, dir string) Proposal {
	p := Proposal{Installed: Installed()}
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	out, err := git.Worktrees(ctx, os.Environ(), dir)
	if owner, ok := errors.AsType[*git.OwnerError](err); ok {
		p.Refused = owner
	}
	if err != nil {
		return p // git is not installed, or the folder is not in a repository that git can use
	}
	here := followLinks(dir)
	for block := range strings.SplitSeq(out, "\x00\x00") {
		path, branch, bare := "", "", false
		for line := range strings.SplitSeq(block, "\x00") {
			key, value, _ := strings.Cut(line, " ")
			switch key {
			case "worktree":
				path = value
			case "branch":
				branch = strings.TrimPrefix(value, "refs/heads/")
			case "bare", "prunable":
				bare = true
			}
		}
		if path == "" || bare || followLinks(path) == here || !isFolder(path) {
			continue
		}
		if strings.HasPrefix(here, followLinks(path)+string(filepath.Separator)) {
			continue // the work tree that contains this folder
		}
		cwd := path
		if rel, err := filepath.Rel(here, followLinks(path)); err == nil {
			cwd = rel
		}
		if name := p.name(branch, filepath.Base(path)); name != "" {
			p.Agents = append(p.Agents, Proposed{name, cwd, "work tree of " + branch})
		}
	}
	if len(p.Agents) > 0 {
		p.Agents = slices.Insert(p.Agents, 0, Proposed{p.name("coder", "main"), "", "this folder"})
	}
	return p
}

var strange = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`[^a-z0-9_-]+`) })

// name derives an agent's name from the first of the words that yields a valid, unused
// name. It returns "" if no word does.
func (p *Proposal) name(words ...string) string {
	for _, w := range words {
		w = strings.Trim(strange().ReplaceAllString(strings.ToLower(w), "-"), "-_")
		w = strings.TrimRight(w[:min(len(w), 32)], "-_")
		taken := slices.ContainsFunc(p.Agents, func(a Proposed) bool { return a.Name == w })
		if !taken && dropbox.CheckAgent(w) == nil {
			return w
		}
	}
	return ""
}

// ParseProposed parses an agent in the form NAME or NAME=FOLDER.
func ParseProposed(text string) (Proposed, error) {
	name, dir, _ := strings.Cut(strings.TrimSpace(text), "=")
	if err := dropbox.CheckAgent(name); err != nil {
		return Proposed{}, err
	}
	return Proposed{Name: name, Dir: dir}, nil
}

// Config returns the text of claude-swarm.yaml; "" means the unchanged template.
func (p Proposal) Config() string {
	kind, first := p.Kind(), backends.Kinds()[0]
	others := p.others(kind)
	if len(p.Agents) == 0 && p.Command == "" && p.PermissionMode == "" && kind == first && others == "" {
		return ""
	}
	text := config.Template()
	if len(p.Agents) > 0 {
		head, rest, _ := strings.Cut(text, "\nagents:\n")
		var b strings.Builder
		for i, a := range p.Agents {
			if i > 0 {
				b.WriteString("\n")
			}
			fmt.Fprintf(&b, "  %s:\n    role: %s\n", a.Name, a.Name)
			if a.Dir != "" {
				fmt.Fprintf(&b, "    cwd: %s\n", yamlQuote(a.Dir))
			}
			b.WriteString("    #zone: \"\"                   # the part of the project that it is responsible for\n" +
				"    #system: \"\"                 # added to the client's own instructions\n" +
				"    #allowed_tools: null        # null: all, as far as permission_mode allows\n")
		}
		text = head + "\nagents:\n" + b.String() + "\n" + afterSection(rest)
	}
	text = setKey(text, "command", p.Command)
	text = setKey(text, "permission_mode", p.PermissionMode)
	if kind != first {
		text = forKind(setKey(text, "backend", kind.Name), kind)
	}
	if others != "" {
		text = strings.Replace(text, "\ndefaults:\n", "\ndefaults:\n  # also installed here, usable as an agent's backend: "+others+"\n", 1)
	}
	return text
}

// afterSection returns the part of a YAML document that follows its first section,
// beginning at the first line that is not indented.
func afterSection(text string) string {
	end := 0
	for line := range strings.Lines(text) {
		if line != "\n" && !strings.HasPrefix(line, " ") {
			break
		}
		end += len(line)
	}
	return text[end:]
}

// Kind returns the kind of the proposed agents: the specified kind; otherwise, the first
// kind if a command is given or no kind is installed; otherwise, the first installed
// kind.
func (p Proposal) Kind() *runner.Kind {
	first := backends.Kinds()[0]
	switch {
	case p.Backend != "":
		if k := backends.Kind(p.Backend); k != nil {
			return k
		}
	case p.Command == "" && len(p.Installed) > 0:
		return p.Installed[0]
	}
	return first
}

// others returns the names of all installed kinds except one, separated by commas.
func (p Proposal) others(but *runner.Kind) string {
	var names []string
	for _, k := range p.Installed {
		if k != but {
			names = append(names, k.Name)
		}
	}
	return strings.Join(names, ", ")
}

// forKind replaces or removes the keys of the template's agents that a kind does not support.
func forKind(text string, k *runner.Kind) string {
	var out strings.Builder
	for line := range strings.Lines(text) {
		key, _, _ := strings.Cut(strings.TrimLeft(line, " #"), ":")
		_, lacks := k.Lacks[key]
		switch {
		case !lacks || !strings.HasPrefix(line, "    "):
			out.WriteString(line)
		case !strings.HasPrefix(line, "    #"): // the reviewer's list of tools; the reviewer must not change files
			out.WriteString("    permissions: {allow: [\"execute git diff*\", \"execute git log*\", \"execute git show*\"], deny: [edit, delete, move]}\n")
		}
	}
	return out.String()
}

// setKey sets a key under defaults by replacing the comment that shows the key's default.
func setKey(text, key, value string) string {
	if value == "" {
		return text
	}
	var out strings.Builder
	done := false
	for line := range strings.Lines(text) {
		if !done && strings.HasPrefix(line, "  #"+key+": ") {
			line, done = "  "+key+": "+yamlQuote(value)+"\n", true
		}
		out.WriteString(line)
	}
	return out.String()
}
