package backends_test

import (
	"bytes"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/models"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// A client that cannot carry its conversation into another folder begins a new one in each
// worktree, and its first prompt there contains what the agent did and said in the earlier ones.
func TestAConversationGoesThroughWorktrees(t *testing.T) {
	m := newProject(t)
	var (
		mu       sync.Mutex
		requests []string
	)
	model := &models.Server{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return // the client hung up
		}
		mu.Lock()
		requests = append(requests, string(body))
		mu.Unlock()
		r.Body = io.NopCloser(bytes.NewReader(body))
		model.ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	entry := m.client("coder", "opencode", web.URL)
	entry["worktree"] = "task"
	m.configure(map[string]any{"debounce": "300ms", "agents": map[string]any{"coder": entry}})
	if err := os.WriteFile(filepath.Join(m.dir, ".gitignore"), []byte(".dead-drop/\n.claude-swarm/\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	m.git("init", "-q", "-b", "main")
	m.git("add", ".")
	m.git("commit", "-q", "-m", "begin")
	m.swarm("start")
	begun := 0
	for _, n := range []string{"first", "second", "third"} {
		mu.Lock()
		begun = len(requests)
		mu.Unlock()
		id := strings.TrimSpace(string(m.swarm("send", "coder", "The "+n+" task\n@sh pwd > "+n+".txt && git add "+n+".txt && git -c user.name=A -c user.email=a@example.org commit -q -m "+n+"\n@say the "+n+" word is ember-"+n)))
		dir := filepath.Join(m.dir, ".worktrees", "agent-task-"+id)
		m.until("the "+n+" task is done, and its folder is removed", 4*time.Minute, func(*swarm.Status) bool {
			receipts, _ := filepath.Glob(filepath.Join(m.dir, ".dead-drop/coder/done/*/*"+id+".receipt.yaml"))
			_, err := os.Stat(dir)
			return len(receipts) == 1 && os.IsNotExist(err)
		})
		if where := m.git("show", "task/"+id+":"+n+".txt"); where != dir {
			t.Errorf("the %s task ran in %s, want %s", n, where, dir)
		}
	}
	mu.Lock()
	defer mu.Unlock()
	first := ""
	for _, r := range requests[begun:] { // a request for a title may come before
		if first == "" && strings.Contains(r, "The third task") && strings.Contains(r, "prior-context") {
			first = r
		}
	}
	for _, said := range []string{"first.txt", "ember-first", "ember-second"} {
		if !strings.Contains(first, said) {
			t.Errorf("the first prompt of the third task lacks %q", said)
		}
	}
	if list := m.git("worktree", "list"); strings.Contains(list, "\n") {
		t.Errorf("worktrees are left:\n%s", list)
	}
}

// git runs git as a person in the project, and returns its output.
func (m *mixed) git(args ...string) string {
	m.t.Helper()
	cmd := exec.Command("git", append([]string{"-c", "user.name=Per Son", "-c", "user.email=per@example.org"}, args...)...)
	cmd.Dir, cmd.Env = m.dir, m.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		m.t.Fatalf("git %v: %v\n%s", args, err, out)
	}
	return strings.TrimSpace(string(out))
}
