package e2e_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// An agent that has a session gets a changed system prompt in its next turn. This applies
// to a process that resumes the session, to a process that replaces a waiting client, and
// to the first turn after a daemon restart.
func TestAChangedSystemTextReachesAResumedAgent(t *testing.T) {
	t.Parallel()
	for _, linger := range []string{"0s", "10m"} {
		t.Run("linger "+linger, func(t *testing.T) {
			t.Parallel()
			p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done."}]}`, "  coder:\n    role: coder\n    linger: "+linger+"\n    system: FIRST-RULE\n")
			change := func(from, to string) {
				t.Helper()
				path := filepath.Join(p.dir, "claude-swarm.yaml")
				data, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				p.write("claude-swarm.yaml", strings.Replace(string(data), from, to, 1))
			}
			check := func(task, want string) {
				t.Helper()
				p.receipt("coder", p.send("coder", task))
				reqs := p.requests()
				last := reqs[len(reqs)-1]
				if last.Session != reqs[0].Session || !strings.Contains(last.LastUser, task) {
					t.Fatalf("%s is not worked on in the session of the first turn", task)
				}
				for _, rule := range []string{"FIRST-RULE", "SECOND-RULE", "THIRD-RULE"} {
					if got := strings.Contains(last.All, rule); got != (rule == want) {
						t.Errorf("%s: the request tells the agent %s: %v, want %s alone", task, rule, got, want)
					}
				}
			}
			p.start()
			check("First task", "FIRST-RULE")
			change("FIRST-RULE", "SECOND-RULE")
			p.swarm("reload")
			check("Second task", "SECOND-RULE")
			p.swarm("stop")
			change("SECOND-RULE", "THIRD-RULE")
			p.start()
			check("Third task", "THIRD-RULE")
		})
	}
}
