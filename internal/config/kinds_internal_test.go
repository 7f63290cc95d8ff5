package config

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// fakeKinds returns kinds of clients that differ in every property on which the
// configuration depends.
func fakeKinds() []*runner.Kind {
	return []*runner.Kind{
		{Name: "claude", Command: []string{"uno"}, Modes: []string{"ask", "edit"}, Mode: "edit", Attaches: true},
		{
			Name: "sandy", Command: []string{"due", "--serve"}, Modes: []string{"ask", "sandbox"}, Mode: "sandbox",
			Asks: true, Linger: 10 * time.Minute,
			Lacks: map[string]string{"allowed_tools": "permissions", "compact_window": "", "thinking": "", "background": "", "session: continue": "session: resume"},
			Options: []runner.Option{{Name: "initial_mode", Check: func(v any) error {
				if _, ok := v.(string); !ok {
					return errors.New("want text")
				}
				return nil
			}}},
		},
		{Name: "bare", Attaches: true, Options: []runner.Option{}},
	}
}

// told returns everything that a person is told about a configuration: its errors and
// notes.
func told(f *File, err error) string {
	var b strings.Builder
	list, word := Errors(nil), "note"
	if errs, ok := errors.AsType[Errors](err); ok {
		list, word = errs, "error"
	} else if err != nil {
		return err.Error()
	} else {
		list = f.Notes()
	}
	for _, e := range list {
		fmt.Fprintf(&b, "%s %s\n", word, strings.TrimPrefix(e.Error(), "swarm.yaml:"))
		if e.Try != "" {
			fmt.Fprintf(&b, "  try: %s\n", e.Try)
		}
	}
	return b.String()
}

// Each kind of client has its own program, permission modes and linger time.
func TestAnAgentIsOfItsKind(t *testing.T) {
	type result struct {
		Command []string
		Mode    string
		Linger  time.Duration
	}
	for text, want := range map[string]result{
		"agents: {a: }":                                                                                        {[]string{"uno"}, "edit", 0},
		"agents: {a: {backend: sandy}}":                                                                        {[]string{"due", "--serve"}, "sandbox", 10 * time.Minute},
		"defaults: {backend: sandy}\nagents: {a: }":                                                            {[]string{"due", "--serve"}, "sandbox", 10 * time.Minute},
		"defaults: {linger: 0s}\nagents: {a: {backend: sandy}}":                                                {[]string{"due", "--serve"}, "sandbox", 0},
		"agents: {a: {backend: sandy, session: fresh}}":                                                        {[]string{"due", "--serve"}, "sandbox", 0},
		"agents: {a: {backend: sandy, command: [mine], permission_mode: ask, linger: 1m}}":                     {[]string{"mine"}, "ask", time.Minute},
		"agents: {a: {backend: sandy, permission_mode: null}}":                                                 {[]string{"due", "--serve"}, "sandbox", 10 * time.Minute},
		"agents: {a: {backend: bare, acp_command: [opencode, acp]}}":                                           {[]string{"opencode", "acp"}, "", 0},
		"agents: {a: {backend: bare, command: opencode acp}}":                                                  {[]string{"opencode", "acp"}, "", 0},
		"defaults: {backend: bare, acp_command: opencode acp}\nagents: {a: }":                                  {[]string{"opencode", "acp"}, "", 0},
		"defaults: {command: mine}\nagents: {a: }":                                                             {[]string{"mine"}, "edit", 0},
		"defaults: {command: mine}\nagents: {a: {backend: sandy}}":                                             {[]string{"due", "--serve"}, "sandbox", 10 * time.Minute},
		"defaults: {backend: sandy, acp_command: mine}\nagents: {a: {backend: bare, command: [other, words]}}": {[]string{"other", "words"}, "", 0},
	} {
		f, err := parse("swarm.yaml", []byte(text), fakeKinds())
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		a := f.Agents[0]
		if diff := cmp.Diff(want, result{a.Client.Command, a.Client.PermissionMode, a.Linger}); diff != "" {
			t.Errorf("%s: -want +got:\n%s", text, diff)
		}
	}
}

func TestWhatAKindCannotDoIsSaid(t *testing.T) {
	for text, want := range map[string]string{
		"agents: {a: {backend: cluade}}": "error 1:23: backend: \"cluade\" is unknown; this version has claude, sandy or bare; did you mean claude?\n",
		"agents: {a: {agent: sandy}}":    "error 1:14: unknown key \"agent\"; did you mean backend?\n",
		"agents: {a: {backend: bare}}":   "error 1:23: backend bare needs a command, and agent a has none\n  try: command: [PROGRAM, ARGUMENTS]\n",
		"defaults: {command: mine}\nagents: {a: {backend: bare}}": "error 2:23: backend bare needs a command, and agent a has none\n" +
			"  try: command: [PROGRAM, ARGUMENTS]\n",
		"agents: {a: {backend: bare, command: x, acp_command: [y]}}": "error 1:41: acp_command is another name for command, which is at line 1\n",
		"agents: {a: {backend: bare, acp_command: [y], command: x}}": "error 1:47: acp_command is another name for command, which is at line 1\n",
		"agents: {a: {backend: bare, acp_command: []}}":              "error 1:42: command: is empty\n",

		"agents: {a: {backend: sandy, permission_mode: edit}}":                            "error 1:47: permission_mode: \"edit\" is not one of backend sandy: ask or sandbox\n",
		"agents: {a: {backend: bare, command: x, permission_mode: ask}}":                  "error 1:58: permission_mode: backend bare has no permission modes\n  try: permission_mode: null\n",
		"defaults: {permission_mode: edit}\nagents: {a: , b: {backend: sandy}}":           "error 1:29: permission_mode: \"edit\" is not one of backend sandy: ask or sandbox\n",
		"defaults: {permission_mode: ask}\nagents: {a: , b: {backend: sandy}}":            "",
		"agents: {a: {backend: sandy, attached: true}}":                                   "error 1:40: attached: a session of backend sandy cannot be attached\n  try: attached: false, or backend: claude or bare\n",
		"defaults: {attached: true}\nagents: {a: {backend: sandy}, b: {attached: false}}": "error 1:22: attached: a session of backend sandy cannot be attached\n  try: attached: false, or backend: claude or bare\n",

		"agents: {a: {backend: sandy, allowed_tools: Read, thinking: low}}": "error 1:45: allowed_tools: backend sandy does not support it\n  try: permissions\n" +
			"error 1:61: thinking: backend sandy does not support it\n",
		"agents: {a: {backend: sandy, session: continue}}":                                                              "error 1:39: session: continue: backend sandy does not support it\n  try: session: resume\n",
		"agents: {a: {backend: sandy, allowed_tools: null, thinking: null, background: false, compact_window: 200000}}": "",
		"defaults: {thinking: low, background: true}\nagents: {a: , b: {backend: sandy}, c: {backend: sandy, thinking: null}}": "note 1:22: thinking: backend sandy does not support it, so it does not apply to b\n" +
			"note 1:39: background: backend sandy does not support it, so it does not apply to b\n" +
			"note 1:39: background: backend sandy does not support it, so it does not apply to c\n",
		"agents: {a: {permissions: {allow: [fetch]}}}":             "error 1:27: permissions: backend claude does not support it\n  try: allowed_tools, disallowed_tools or permission_mode\n",
		"defaults: {permissions: {allow: [fetch]}}\nagents: {a: }": "note 1:25: permissions: backend claude does not support it, so it does not apply to a\n  try: allowed_tools, disallowed_tools or permission_mode\n",

		"agents: {a: {backend_options: {x: 1}}}":                                             "error 1:31: backend_options: backend claude does not support it\n",
		"agents: {a: {backend: sandy, backend_options: {x: 1}}}":                             "",
		"agents: {a: {backend: sandy, backend_options: {intial_mode: x}}}":                   "note 1:48: backend_options.intial_mode: backend sandy does not recognize it and passes it on to the client; did you mean initial_mode?\n",
		"agents:\n  a:\n    backend: sandy\n    backend_options:\n      initial_mode: [x]\n": "error 5:21: backend_options.initial_mode: want text\n",
		"defaults: {backend: sandy, backend_options: {initial_mode: 7}}\nagents: {a: , b: }": "error 1:60: backend_options.initial_mode: want text\n",
		"agents: {a: {backend: sandy, backend_options: [x]}}":                                "error 1:47: backend_options: want keys with values, got a list\n",
		"agents: {a: {backend: sandy, backend_options: {x: .nan}}}":                          "error 1:51: backend_options.x: .nan is not a value: want text, a number, true or false, null, a list or keys with values\n",
	} {
		if got := told(parse("swarm.yaml", []byte(text), fakeKinds())); got != want {
			t.Errorf("%s:\n%swant\n%s", text, got, want)
		}
	}
}

// A key in defaults does not apply to a client that does not support it.
func TestWhatDefaultsSayAndAClientCannotDo(t *testing.T) {
	f, err := parse("swarm.yaml", []byte("defaults: {thinking: low, allowed_tools: Read, permissions: {allow: [fetch]}}\nagents: {a: , b: {backend: sandy}}"), fakeKinds())
	if err != nil {
		t.Fatal(err)
	}
	a, b := f.Agents[0], f.Agents[1]
	if a.Client.Thinking != "low" || a.Client.AllowedTools == nil || len(a.Permissions.Allow) != 0 {
		t.Errorf("of claude: %+v", a)
	}
	if b.Client.Thinking != "" || b.Client.AllowedTools != nil || !slices.Equal(b.Permissions.Allow, []string{"fetch"}) {
		t.Errorf("of sandy: %+v", b)
	}
}

func TestOptionsOfABackend(t *testing.T) {
	const text = `
defaults:
  backend: sandy
  backend_options: {initial_mode: full, both: of defaults, gone: 1}
agents:
  a:
    backend_options:
      both: of a
      gone: null
      count: 7
      share: 0.5
      on: true
      day: 2026-01-02
      deep: {list: [1, {x: null}], "7": seven}
  b: {backend: bare, command: x, backend_options: {own: &own [x]}}
  c: {backend: bare, command: x, backend_options: {same: *own}}
  d: {}
`
	f, err := parse("swarm.yaml", []byte(text), fakeKinds())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []map[string]any{
		{
			"initial_mode": "full", "both": "of a", "count": 7, "share": 0.5, "on": true, "day": "2026-01-02",
			"deep": map[string]any{"list": []any{1, map[string]any{"x": nil}}, "7": "seven"},
		},
		{"own": []any{"x"}},
		{"same": []any{"x"}},
		{"initial_mode": "full", "both": "of defaults", "gone": 1},
	} {
		if diff := cmp.Diff(want, f.Agents[i].Client.Options); diff != "" {
			t.Errorf("%s: -want +got:\n%s", f.Agents[i].Name, diff)
		}
	}
}

// Aliases in a short file cannot expand to a huge value.
func TestAnOptionHasABound(t *testing.T) {
	twice := "agents: {a: {backend: sandy, backend_options: {x0: &x0 [1, 1]"
	for i := range 30 {
		twice += fmt.Sprintf(", x%d: &x%d [*x%d, *x%d]", i+1, i+1, i, i)
	}
	for name, text := range map[string]string{
		"aliases": twice + "}}}",
		"itself":  "agents: {a: {backend: sandy, backend_options: {x: &x [*x]}}}",
		"deep":    "agents: {a: {backend: sandy, backend_options: {x: " + strings.Repeat("[", 50) + strings.Repeat("]", 50) + "}}}",
	} {
		if got := told(parse("swarm.yaml", []byte(text), fakeKinds())); !strings.Contains(got, "is too large or too deep") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

func TestPermissionsAreRead(t *testing.T) {
	const text = `
defaults:
  backend: sandy
  permissions: {allow: [read], deny: ["execute rm -rf*"], otherwise: ask}
agents:
  a: {permissions: {allow: ["execute  go test*", tool files__*], ask: [fetch], timeout: 30s}}
  b: {permissions: {otherwise: null}}
  c: {}
`
	f, err := parse("swarm.yaml", []byte(text), fakeKinds())
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []Permissions{
		{Allow: []string{"execute go test*", "tool files__*", "read"}, Ask: []string{"fetch"}, Deny: []string{"execute rm -rf*"}, Otherwise: "ask", Timeout: 30 * time.Second},
		{Allow: []string{"read"}, Deny: []string{"execute rm -rf*"}, Timeout: 10 * time.Minute},
		{Allow: []string{"read"}, Deny: []string{"execute rm -rf*"}, Otherwise: "ask", Timeout: 10 * time.Minute},
	} {
		if diff := cmp.Diff(want, f.Agents[i].Permissions); diff != "" {
			t.Errorf("%s: -want +got:\n%s", f.Agents[i].Name, diff)
		}
	}
	r := f.Agents[0].Permissions.Rules()
	if len(r.Allow) != 3 || r.Allow[0].Pattern != "go test*" || len(r.Ask) != 1 || len(r.Deny) != 1 || r.Otherwise != "ask" || r.Timeout != 30*time.Second {
		t.Errorf("the rules of a: %+v", r)
	}
	for text, want := range map[string]string{
		"{allow: [exec ls]}":      `1:52: permissions.allow: "exec ls": "exec" is not a kind of tool call; the kinds are read, edit, delete, move, search, execute, think, fetch, switch_mode, other, tool; did you mean execute?`,
		"{ask: [tool]}":           `1:50: permissions.ask: "tool" does not name a tool; write tool NAME, or tool * for all`,
		"{deny: execute}":         `1:50: permissions.deny: want a list, got text`,
		"{otherwise: maybe}":      `1:55: permissions.otherwise: "maybe" is not one of allow, ask or deny`,
		"{timeout: 5}":            `1:53: permissions.timeout: "5" has no unit; write 5s, 5m, 5h or 5d`,
		"{alow: [read]}":          `1:44: unknown key "alow"; did you mean allow?`,
		"{allow: [\"\"]}":         `1:52: permissions.allow: an entry is empty`,
		"{allow: [edit, [read]]}": `1:58: permissions.allow: want text, got a list`,
	} {
		_, err := parse("swarm.yaml", []byte("agents: {a: {backend: sandy, permissions: "+text+"}}"), fakeKinds())
		if err == nil || !strings.HasSuffix(err.Error(), want) {
			t.Errorf("%s: %v\nwant %s", text, err, want)
		}
	}
}

// The kinds of clients in this version name only existing keys.
func TestKindsNameKeys(t *testing.T) {
	for _, k := range backends.Kinds() {
		for key := range maps.Keys(k.Lacks) {
			name, _, _ := strings.Cut(key, ":")
			if !slices.Contains(keysOf(reflect.TypeFor[Agent]()), name) {
				t.Errorf("backend %s lacks %s, which is not a key", k.Name, key)
			}
		}
	}
	if got := kindModes(fakeKinds()); !slices.Equal(got, []string{"ask", "edit", "sandbox"}) {
		t.Errorf("the modes of all are %q", got)
	}
}

// Every kind of client in this version can be chosen.
func TestEveryBackendCanBeChosen(t *testing.T) {
	for _, k := range backends.Kinds() {
		f, err := Parse("swarm.yaml", []byte("agents: {a: {backend: "+k.Name+", command: x, model: \"openai/gpt-5:high\"}}"))
		if err != nil || f.Agents[0].Backend != k.Name || f.Agents[0].Client.Model != "openai/gpt-5:high" || f.Agents[0].Linger != k.Linger || f.Agents[0].Client.PermissionMode != k.Mode {
			t.Errorf("%s: %v", k.Name, err)
		}
	}
}

func TestTagsAreRead(t *testing.T) {
	f, err := Parse("swarm.yaml", []byte("defaults: {tags: [go]}\nagents: {a: {tags: [frontend, go, frontend]}, b: , c: {tags: []}}"))
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range [][]string{{"frontend", "go"}, {"go"}, nil} {
		if !slices.Equal(f.Agents[i].Tags, want) {
			t.Errorf("%s: %q, want %q", f.Agents[i].Name, f.Agents[i].Tags, want)
		}
	}
	for text, want := range map[string]string{
		"agents: {a: {tags: [Frontend]}}":          `1:21: tags: tag "Frontend"`,
		"agents: {a: {tags: [all]}}":               `1:21: tags: tag "all"`,
		"agents: {a: {tags: ['@x']}}":              `1:21: tags: tag "@x"`,
		"agents: {a: {tags: [b]}, b: {tags: [b]}}": `1:20: tags: b is the name of an agent, which is already an address`,
	} {
		if _, err := Parse("swarm.yaml", []byte(text)); err == nil || !strings.HasPrefix(err.Error(), "swarm.yaml:"+want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
	}
}

// Effective returns options with values of any type.
func TestOptionsAreShown(t *testing.T) {
	f, err := parse("swarm.yaml", []byte("agents: {a: {backend: sandy, backend_options: {z: {b: [1, null], a: true}, initial_mode: x}, permissions: {allow: [read]}}}"), fakeKinds())
	if err != nil {
		t.Fatal(err)
	}
	shown := Effective(f, func(keys []string, values []any) map[string]any {
		m := make(map[string]any)
		for i, key := range keys {
			m[key] = values[i]
		}
		return m
	})
	a := shown["agents"].(map[string]any)["a"].(map[string]any)
	want := map[string]any{
		"backend_options": map[string]any{"z": map[string]any{"b": []any{1, nil}, "a": true}, "initial_mode": "x"},
		"permissions":     map[string]any{"allow": []any{"read"}, "ask": []any{}, "deny": []any{}, "otherwise": nil, "timeout": 10 * time.Minute},
		"linger":          10 * time.Minute,
	}
	for key, want := range want {
		if diff := cmp.Diff(want, a[key]); diff != "" {
			t.Errorf("%s: -want +got:\n%s", key, diff)
		}
	}
}
