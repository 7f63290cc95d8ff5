package compat

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// A Census lists what a version has, without a verdict: its tools, hook events, kinds of
// task and so on. A name that is new in a version is a question to a person. The key is what
// the list contains; a list is sorted and never empty.
type Census map[string][]string

// toolsOffered is the census's list of the tools that a session without any flag offers.
const toolsOffered = "tools offered without flags"

// Unsorted returns the tools that no list of swarm/runner/claude contains.
func (c Census) Unsorted() []string {
	return slices.DeleteFunc(slices.Clone(c[toolsOffered]), claude.Sorted)
}

// Against returns one line for each name that c has and was has not, or the other way round.
func (c Census) Against(was Census) []string {
	var changes []string
	for _, list := range slices.Sorted(func(yield func(string) bool) {
		for name := range was {
			if !yield(name) {
				return
			}
		}
		for name := range c {
			if _, both := was[name]; !both && !yield(name) {
				return
			}
		}
	}) {
		for _, name := range c[list] {
			if !slices.Contains(was[list], name) {
				changes = append(changes, list+": new: "+name)
			}
		}
		for _, name := range was[list] {
			if !slices.Contains(c[list], name) {
				changes = append(changes, list+": gone: "+name)
			}
		}
	}
	return changes
}

// TakeCensus lists what the program has. It runs three sessions and reads the program's
// file.
func TakeCensus(ctx context.Context, o Options) (Census, error) {
	c := Census{}
	inFull := []string{"ENABLE_TOOL_SEARCH=false"} // all tools with their schemas
	for _, session := range []struct {
		list       string
		env, flags []string
	}{
		{toolsOffered, nil, nil}, {toolsOffered, inFull, nil}, {"tools offered in a turn", nil, turnFlags()},
	} {
		names, routes, err := toolsOf(ctx, o, session.env, session.flags)
		if err != nil {
			return nil, err
		}
		for _, name := range names {
			c.add(session.list, name)
		}
		for _, route := range routes {
			c.add("routes of SendMessage", route)
		}
	}
	if err := c.readFlags(ctx, o); err != nil {
		return nil, err
	}
	return c, c.readProgram(o.Command[0])
}

// turnFlags are the flags about tools that an agent without a list gets.
func turnFlags() []string {
	allow, off := claude.ToolLists()
	return slices.Concat([]string{"--permission-mode", "acceptEdits", "--allowedTools"}, allow, []string{"--disallowedTools"}, off)
}

// toolsOf runs a session and returns its tools, and the routes of SendMessage as its schema
// describes them.
func toolsOf(ctx context.Context, o Options, env, flags []string) (names, routes []string, err error) {
	l, err := newLab(ctx, "", o)
	if err != nil {
		return nil, nil, err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	l.env = env
	c, err := l.start(flags...)
	if err != nil {
		return nil, nil, err
	}
	if err := c.say(first, "Begin"); err != nil {
		return nil, nil, err
	}
	if _, err := c.await(1, "result", ""); err != nil {
		return nil, nil, err
	}
	inits, asked := c.all("system", "init"), l.asked()
	if len(inits) == 0 || len(asked) == 0 {
		return nil, nil, fmt.Errorf("%w: a turn without an init line or a request", errStrange)
	}
	tools, _ := inits[0]["tools"].([]any)
	for _, t := range tools {
		if name, ok := t.(string); ok {
			names = append(names, name)
		}
	}
	var request struct {
		Tools []struct {
			Name        string
			Description string
			Schema      struct {
				Properties map[string]struct{ Description string }
			} `json:"input_schema"`
		}
	}
	if err := json.Unmarshal(asked[0].Body, &request); err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errStrange, err)
	}
	for _, t := range request.Tools {
		if len(env) > 0 { // otherwise the request contains a placeholder for the others
			names = append(names, t.Name)
		}
		if t.Name == "SendMessage" {
			routes = append(routes, l.plain(t.Schema.Properties["to"].Description))
		}
	}
	return names, routes, nil
}

var flagName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^\s+(?:-\w, )?(--[a-z][A-Za-z-]+)`) })

func (c Census) readFlags(ctx context.Context, o Options) (err error) {
	l, err := newLab(ctx, "", o)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, l.close()) }()
	help, err := l.run("--help")
	for _, m := range flagName().FindAllSubmatch(help, -1) {
		c.add("flags", string(m[1]))
	}
	return err
}

func (c Census) add(list, name string) {
	if i, found := slices.BinarySearch(c[list], name); !found {
		c[list] = slices.Insert(c[list], i, name)
	}
}

// readProgram looks for lists of names in the program's file: the program contains its source
// text.
func (c Census) readProgram(command string) error {
	path, err := exec.LookPath(command)
	if err != nil {
		return err
	}
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	const piece, overlap = 16 << 20, 64 << 10 // bytes
	buf := make([]byte, piece)
	for at := int64(0); ; at += piece - overlap {
		n, err := f.ReadAt(buf, at)
		for _, s := range sightings() {
			s.look(buf[:n], c)
		}
		if errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
	}
}

// A sighting finds names in the program's text. Each pattern begins with literal, which is
// searched for first, because that is fast.
type sighting struct {
	list    string
	literal string
	before  int // how many bytes before the literal the pattern begins
	pattern *regexp.Regexp
}

var sightings = sync.OnceValue(func() []sighting {
	return []sighting{
		{"hook events", `["PreToolUse","PostToolUse","PostToolUseFailure"`, 0, regexp.MustCompile(`^\[("[A-Za-z]+",?)+\]`)},
		{"task types", `["local_bash"`, 0, regexp.MustCompile(`^\[("[a-z_]+",?)+\]`)},
		{"task types", `["local_agent"`, 0, regexp.MustCompile(`^\[("[a-z_]+",?)+\]`)},
		{"result subtypes", `"error_max_`, 0, regexp.MustCompile(`^"error_max_[a-z_]+"`)},
		{"result subtypes", `"error_during_execution"`, 0, regexp.MustCompile(`^"error_during_execution"`)},
		{"settings", `.describe("`, 160, regexp.MustCompile(`[{,]([a-zA-Z]\w+):\(\)=>[^{}"':;]{1,120}\.optional\(\)(?:\.catch\(void 0\))?$`)},
	}
})

var quotedName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`"([A-Za-z_]+)"`) })

func (s *sighting) look(text []byte, c Census) {
	for at := 0; ; at++ {
		i := bytes.Index(text[at:], []byte(s.literal))
		if i < 0 {
			return
		}
		at += i
		if s.before > 0 {
			if m := s.pattern.FindSubmatch(text[max(0, at-s.before):at]); m != nil {
				c.add(s.list, string(m[1]))
			}
			continue
		}
		for _, m := range quotedName().FindAllSubmatch(s.pattern.Find(text[at:min(len(text), at+4096)]), -1) {
			c.add(s.list, string(m[1]))
		}
	}
}
