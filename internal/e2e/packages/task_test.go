package packages_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/fakeapi"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// model is a scripted model that changes README.md, as docs/from-zero.md asks.
const model = `{"replies": [
	{"name": "look", "times": 1, "match": {"last_user_contains": "what the project is for"}, "content": [{"tool_use": {"name": "Bash", "input": {"command": "echo It is a try. >>README.md; echo changed"}}}]},
	{"name": "answer", "times": -1, "text": "README.md says it now."}]}`

// checkTask does what docs/from-zero.md says with an installed program and the real client,
// from the project to the removal. Nothing of ours is left then.
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
	home := filepath.Join(m.top, "home")
	task := *m
	task.env = append(append([]string{}, m.env...), "ANTHROPIC_BASE_URL="+server.URL, "ANTHROPIC_API_KEY=sk-ant-test-0000",
		"DISABLE_AUTOUPDATER=1", "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1", "DISABLE_TELEMETRY=1", "DISABLE_ERROR_REPORTING=1",
		"GIT_AUTHOR_NAME=ann", "GIT_AUTHOR_EMAIL=ann@example.org", "GIT_COMMITTER_NAME=ann", "GIT_COMMITTER_EMAIL=ann@example.org")
	task.path(filepath.Dir(client))
	task.path(filepath.Dir(program))

	dirs := []string{"home", "run", "tmp"}
	var before []string
	for _, dir := range dirs {
		before = append(before, listing(m.t, filepath.Join(m.top, dir))...)
	}
	project := filepath.Join(home, "projects/first")
	defer func() {
		task.dir = project
		task.try(program, "stop", "--now") // a daemon still runs only if the test failed
		if err := os.RemoveAll(filepath.Join(home, "projects")); err != nil {
			m.t.Error(err)
		}
	}()
	said := task.run("sh", "-c", "set -e\n"+fromZero(m.t))
	for _, part := range []string{"README.md says it now.", "+It is a try.", "1 turn", "swarm.day", "5.00 USD"} {
		if !strings.Contains(said, part) {
			m.t.Errorf("the commands of docs/from-zero.md do not print %q:\n%s", part, said)
		}
	}
	if left := listing(m.t, project, ".git"); len(left) != 1 || left[0] != "README.md" || string(read(m.t, filepath.Join(project, "README.md"))) != "# First\n" {
		m.t.Errorf("the project still has %q", left)
	}
	for _, dir := range dirs {
		for _, name := range added(before, listing(m.t, filepath.Join(m.top, dir), "projects")) {
			// The client, fish and man keep their own files there.
			if strings.Contains(name, "claude-swarm") || !strings.Contains(name, "claude") && dir != "home" && name != "cc-socks" {
				m.t.Errorf("the program has left %s in %s", name, dir)
			}
		}
	}
}

// fromZero returns the commands of docs/from-zero.md after the installation.
func fromZero(t *testing.T) string {
	t.Helper()
	_, page, ok := strings.Cut(string(read(t, filepath.Join(repository, "docs/from-zero.md"))), "\n## 3. ")
	if !ok {
		t.Fatal("docs/from-zero.md has no section 3")
	}
	var commands strings.Builder
	for _, block := range strings.Split(page, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		commands.WriteString(block)
	}
	return commands.String()
}
