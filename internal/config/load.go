package config

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"syscall"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"gopkg.in/yaml.v3"
)

// Load reads a configuration file. If the file has mistakes, the error is [Errors]. If the
// file cannot be read, it is another error, such as [os.ErrNotExist].
func Load(path string) (*File, error) {
	// Without O_NONBLOCK, opening a named pipe would wait for a writer.
	in, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	if info, err := in.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file", path)
	}
	data, err := io.ReadAll(io.LimitReader(in, maxBytes+1))
	if err != nil {
		return nil, err
	}
	return Parse(path, data)
}

// Parse reads a configuration from data as if data were the content of the file at path.
// That file need not exist; relative paths are relative to its folder. If data has
// mistakes, the error is [Errors].
func Parse(path string, data []byte) (*File, error) { return parse(path, data, backends.Kinds()) }

func parse(path string, data []byte, clients []*runner.Kind) (*File, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, err
	}
	text := strings.TrimPrefix(string(data), "\ufeff") // a byte order mark is not part of the first line
	r := &reader{path: path, dir: filepath.Dir(abs), lines: strings.Split(text, "\n"), at: make(map[string]entry), kinds: clients}
	f := standardFile()
	f.Path, f.Dir, f.source, f.from = abs, r.dir, data, r
	r.file(r.document(text), &f)
	if err := r.failed(); err != nil {
		return nil, err
	}
	r.notes.sort()
	return &f, nil
}

// oneAgent is the line that an error suggests for a file without agents.
const oneAgent = "agents: {coder: {role: coder}}"

// file reads the top level and then the agents, and finally checks the keys that name
// agents.
func (r *reader) file(n *yaml.Node, f *File) {
	switch {
	case n == nil && len(r.errs) > 0:
		return
	case n == nil:
		r.report(&yaml.Node{}, "", wrong(oneAgent, "the file is empty; a project needs an agent"))
		return
	case n.Kind != yaml.MappingNode:
		r.report(n, "", wrong(oneAgent, "want keys with values, got %s", kind(n)))
		return
	}
	f.DeadDropDir, f.ProjectDir = filepath.Join(r.dir, f.DeadDropDir), r.dir
	r.keys(n, "", reflect.ValueOf(f).Elem())
	r.at[""] = entry{n, n}
	if r.agents(f) {
		r.named(f)
		r.timed(f)
		r.acl(f)
		r.irc(f)
		r.money(f)
		r.webhooks(f)
		r.verify(f)
	}
	if len(r.errs) == 0 {
		r.folders(f)
	}
}

// agents reads the agents, which inherit the values of defaults regardless of where
// defaults appears in the file. It returns false if an agent has a mistake, or if the key
// agents is missing or has the wrong type.
func (r *reader) agents(f *File) bool {
	r.project = f.ProjectDir
	f.defaults = standardAgent()
	f.defaults.Client.Dir, f.defaults.Budget = r.project, f.Budget.Agent
	if n := r.at["defaults"].value; n != nil {
		r.keys(n, "defaults", reflect.ValueOf(&f.defaults).Elem())
	}
	before := len(r.errs)
	switch n := r.at["agents"].value; {
	case n == nil:
		r.fail("", oneAgent, "agents: missing; a project needs an agent")
	case n.Kind != yaml.MappingNode && !isNull(n):
		r.fail("agents", oneAgent, "want a key for each agent, got %s", kind(n))
	case len(n.Content) == 0:
		r.fail("agents", oneAgent, "none yet; a project needs one")
		return true
	default:
		r.each(n, "agents", func(name string, k, v *yaml.Node) {
			if e := badName("agent name", name); e != nil {
				r.report(k, "", e)
				return
			}
			a := f.defaults
			a.Name = name
			r.keys(v, "agents."+name, reflect.ValueOf(&a).Elem())
			r.ofKind(&a, &f.defaults)
			f.Agents = append(f.Agents, a)
		})
	}
	return len(r.errs) == before
}
