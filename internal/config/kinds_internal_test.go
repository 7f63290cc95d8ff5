package config

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Each kind of client has its own program and permission modes.
func TestAnAgentIsOfItsKind(t *testing.T) {
	kinds := []*runner.Kind{
		{Name: "one", Command: []string{"uno"}, Modes: []string{"ask", "edit"}, Mode: "edit"},
		{Name: "two", Command: []string{"due", "--serve"}, Modes: []string{"ask", "sandbox"}, Mode: "sandbox"},
		{Name: "three", Command: []string{"tre"}},
	}
	for name, c := range map[string]struct {
		agent   Agent
		written []string
		command []string
		mode    string
		problem string
	}{
		"nothing is written":   {Agent{Backend: "two", Command: []string{"uno"}, PermissionMode: "edit"}, nil, []string{"due", "--serve"}, "sandbox", ""},
		"all is written":       {Agent{Backend: "two", Command: []string{"mine"}, PermissionMode: "ask"}, []string{"command", "permission_mode"}, []string{"mine"}, "ask", ""},
		"a mode of another":    {Agent{Backend: "two", PermissionMode: "edit"}, []string{"permission_mode"}, []string{"due", "--serve"}, "edit", `"edit" is not one of backend two: ask or sandbox`},
		"it knows no modes":    {Agent{Backend: "three", PermissionMode: "edit"}, []string{"permission_mode"}, []string{"tre"}, "edit", "backend three knows no permission modes"},
		"no mode of a default": {Agent{Backend: "three", PermissionMode: "edit"}, nil, []string{"tre"}, "", ""},
	} {
		a := c.agent
		problem := ""
		if e := a.ofKind(kinds, func(key string) bool { return slices.Contains(c.written, key) }); e != nil {
			problem = e.Problem
		}
		if !slices.Equal(a.Command, c.command) || a.PermissionMode != c.mode || problem != c.problem {
			t.Errorf("%s: command %q, mode %q, problem %q; want %q, %q, %q", name, a.Command, a.PermissionMode, problem, c.command, c.mode, c.problem)
		}
	}
	if got := kindModes(kinds); !slices.Equal(got, []string{"ask", "edit", "sandbox"}) {
		t.Errorf("the modes of all are %q", got)
	}
}

// A person's session of a kind that has no hooks for it cannot be an agent.
func TestOnlyAKindWithHooksForItIsAttached(t *testing.T) {
	kinds := []*runner.Kind{{Name: "one"}, {Name: "two", Attaches: true}, {Name: "three", Attaches: true}}
	for text, want := range map[string]string{
		"agents:\n  ada:\n    attached: true\n":                "swarm.yaml:3:15: attached: a session of backend one cannot be attached",
		"defaults: {attached: true}\nagents:\n  ada: {}\n":     "swarm.yaml:1:22: attached: a session of backend one cannot be attached",
		"agents:\n  ada:\n    attached: false\n":               "",
		"agents:\n  ada:\n    attached: true\n    role: two\n": "",
	} {
		r := &reader{path: "swarm.yaml", dir: t.TempDir(), lines: strings.Split(text, "\n"), at: make(map[string]entry)}
		f := standardFile()
		r.file(r.document(text), &f)
		if len(r.errs) > 0 {
			t.Fatal(r.errs)
		}
		a := f.Agents[0]
		a.Backend = cmp.Or(a.Role, "one")
		r.ofKind(&a, kinds)
		got, try := "", ""
		for _, e := range r.errs {
			got, try = e.Error(), e.Try
		}
		if got != want || got != "" && try != "attached: false, or backend: two or three" {
			t.Errorf("%q: %s; try %q; want %s", text, got, try, want)
		}
	}
}
