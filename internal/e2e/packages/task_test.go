package packages_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// model is the scripted answer to the task.
const model = `{"replies": [{"name": "answer", "times": -1, "text": "The task is done."}]}`

// checkTask makes a project with an installed program, lets an agent work on one task with
// the real client, and removes the project. Nothing of ours is left then.
func checkTask(m *machine, program string) {
	m.t.Helper()
	client := filepath.Join(repository, ".tools/claude", claude.Newest, "node_modules/.bin/claude")
	if _, err := os.Stat(client); err != nil {
		m.t.Fatalf("Claude Code %s is missing\n  try: make tools", claude.Newest)
	}
	scenario, err := fakeapi.Load(strings.NewReader(model))
	if err != nil {
		m.t.Fatal(err)
	}
	server := httptest.NewServer(fakeapi.New(scenario, nil))
	defer server.Close()
	task := *m
	task.dir = filepath.Join(m.dir, "project")
	if err := os.Mkdir(task.dir, 0o755); err != nil {
		m.t.Fatal(err)
	}
	defer os.RemoveAll(task.dir)
	task.env = append(append([]string{}, m.env...), "ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=sk-ant-test-0000",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1")
	task.path(filepath.Dir(client))

	dirs := []string{"home", "run", "tmp"}
	var before []string
	for _, dir := range dirs {
		before = append(before, listing(m.t, filepath.Join(m.top, dir))...)
	}
	task.run(program, "init", "--non-interactive", "--agent", "coder")
	task.run(program, "start")
	defer task.try(program, "stop", "--now") // a daemon still runs only if the test failed
	if said := task.run(program, "send", "coder", "Do the task.", "--wait"); !strings.Contains(said, "The task is done.") {
		m.t.Errorf("the answer to the task is %q", said)
	}
	task.run(program, "stop")
	task.run(program, "init", "--remove", "--purge", "--yes")
	if left := listing(m.t, task.dir); len(left) > 0 {
		m.t.Errorf("the project still has %q", left)
	}
	for _, dir := range dirs {
		for _, name := range added(before, listing(m.t, filepath.Join(m.top, dir))) {
			// The client, fish and man keep their own files there.
			if strings.Contains(name, "claude-swarm") || !strings.Contains(name, "claude") && dir != "home" && name != "cc-socks" {
				m.t.Errorf("the program has left %s in %s", name, dir)
			}
		}
	}
}
