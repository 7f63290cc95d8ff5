package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// The output of config check is a configuration that is equal to the checked one.
func TestEffectiveIsTheSameConfiguration(t *testing.T) {
	const text = `
dead_drop_dir: mail
debounce: 1500ms
max_running: 3
defaults: {turn_timeout: 90m, env: {A: "1"}}
agents:
  coder:
    role: "writes: code"
    system: |
      You write code.
      # not a comment
    command: [claude, --verbose]
    env: {B: "yes"}
    model: "4"
    thinking: "off"
    mcp_servers:
      files: {command: npx, args: [-y, "7"], env: {A: "1"}}
      far: {type: http, url: "https://example.com/mcp", headers: {X-Key: k}}
      bare: {type: sse, url: "https://example.com/mcp"}
  reviewer:
    allowed_tools: [Read, "Bash(go test:*)"]
    disallowed_tools: []
    reread: [BACKLOG.md]
    channels: ["api-{slug}", "&local"]
    mcp: false
    allowed_dirs: [/srv]
irc:
  server: irc.example.net:6697
  sasl: plain
  password_file: secret
  channels: {errors: null}
  join: [general, "&local"]
  map: [{type: note, from: lead, channel: none}, {moment: result, to: reviewer, channel: project-x}]
  allow: [{account: ann, may: [talk, task]}, {mask: "*!*@host.example", may: [control]}]
policy: {acl: {coder: {publish: [a.b], direct: []}, reviewer: {subscribe: [], broadcast: false}}}
retention: {done_days: 30, done_mb: 0}
`
	path := t.TempDir() + "/claude-swarm.yaml"
	want, err := config.Parse(path, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	printed, err := yaml.Marshal(effective(want))
	if err != nil {
		t.Fatal(err)
	}
	got, err := config.Parse(path, printed)
	if err != nil {
		t.Fatalf("%v in\n%s", err, printed)
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(config.File{})); diff != "" {
		t.Errorf("read again (-want +got):\n%s\nprinted:\n%s", diff, printed)
	}
	// The output contains every key in the configuration reference.
	var shown map[string]any
	if err := yaml.Unmarshal(printed, &shown); err != nil {
		t.Fatal(err)
	}
	for _, key := range config.Keys() {
		if !hasKey(shown, key.Path) {
			t.Errorf("the key %s is not printed", key.Path)
		}
	}
	var asJSON map[string]any
	data, err := json.Marshal(effective(want))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &asJSON); err != nil {
		t.Errorf("JSON: %v in %s", err, data)
	}
}

func TestYAMLSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0s", time.Second: "1s", 10 * time.Minute: "10m", 2 * time.Hour: "2h", 90 * time.Minute: "1h30m",
		1500 * time.Millisecond: "1.5s", 10 * time.Second: "10s", 100 * time.Minute: "1h40m",
	} {
		if got := yamlSpan(d); got != want {
			t.Errorf("yamlSpan(%v) = %s, want %s", d, got, want)
		}
	}
}

// hasKey reports whether nested mappings contain a path such as a.b.c. In a path, NAME
// means the agent reviewer.
func hasKey(at map[string]any, path string) bool {
	for {
		name, rest, more := strings.Cut(path, ".")
		if name == "NAME" {
			name = "reviewer"
		}
		value, ok := at[name]
		if !ok || !more {
			return ok
		}
		at, ok = value.(map[string]any)
		if !ok {
			return false
		}
		path = rest
	}
}
