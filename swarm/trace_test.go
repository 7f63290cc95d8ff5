package swarm_test

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// traced returns a home that contains a turn of agent a, and a turn of agent b that has
// more hops. The pid file refers to a client that has ended.
func traced(t *testing.T) journal.Home {
	t.Helper()
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	for turn, rec := range map[string]string{
		"aaaaaaaaaa-1": `{"v":1,"turn":"aaaaaaaaaa-1","agent":"a","message":"aaaaaaaaaa","hops":1}`,
		"bbbbbbbbbb-1": `{"v":1,"turn":"bbbbbbbbbb-1","agent":"b","message":"bbbbbbbbbb","hops":3}`,
	} {
		if err := os.WriteFile(filepath.Join(home.Turns(), turn+".json"), []byte(rec), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(home.PIDFile("a"), []byte("1073741824 1 aaaaaaaaaa-1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// If no client is recorded and no daemon is among the parent processes, the parents of a
// process are not read, because they cannot show which turn the process belongs to. In
// this case, only the mark in the process's environment counts.
func TestWithoutClientsNobodyIsBelowATurn(t *testing.T) {
	home := traced(t)
	script := `CLAUDE_SWARM_TURN=aaaaaaaaaa-1 sh -c "env -i PATH=$PATH sh -c 'echo \$\$; read x; true'; true"; true`
	if got, err := callerIn(t, home, script); err != nil || got.Agent != "a" {
		t.Errorf("with a client: CallerOf = %+v, %v, want a", got, err)
	}
	if err := os.Remove(home.PIDFile("a")); err != nil {
		t.Fatal(err)
	}
	if got, err := callerIn(t, home, script); err != nil || got.Agent != "" {
		t.Errorf("without one: CallerOf = %+v, %v, want nobody", got, err)
	}
	script = `CLAUDE_SWARM_TURN=aaaaaaaaaa-1 exec sh -c 'echo $$; read x; true'`
	if got, err := callerIn(t, home, script); err != nil || got.Agent != "a" {
		t.Errorf("with a mark of its own: CallerOf = %+v, %v, want a", got, err)
	}
}

// callerIn returns the caller of a shell script; see pidIn.
func callerIn(t *testing.T, home journal.Home, script string) (journal.Caller, error) {
	t.Helper()
	pid := pidIn(t, script)
	return home.CallerOf(pid, nil)
}

// pidIn starts a shell script that prints a pid and waits, and returns that pid.
func pidIn(t *testing.T, script string) int {
	t.Helper()
	need.Script(t, script)
	cmd := exec.Command("sh", "-c", script)
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		in.Close()
		_ = cmd.Wait() // the exit status is that of the script's last command
	})
	var pid int
	if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
		t.Fatal(err)
	}
	return pid
}

// A caller is identified by its outermost ancestor process that belongs to a turn. If
// there is such an ancestor, the caller's own environment does not matter. It may be
// empty, or specify another agent or another turn.
func TestACallerIsTracedByItsProcesses(t *testing.T) {
	home := traced(t)
	waits := `'echo $$; read x; true'`
	client := "CLAUDE_SWARM_TURN=aaaaaaaaaa-1 sh -c "
	for name, c := range map[string]struct{ script, want string }{
		"a person":            {"sh -c " + waits, ""},
		"below a client":      {client + waits + "; true", "a"},
		"without environment": {client + `"env -i PATH=$PATH sh -c ` + quoted(waits) + `; true"; true`, "a"},
		"in another session":  {client + `"env -i PATH=$PATH setsid -w sh -c ` + quoted(waits) + `; true"; true`, "a"},
		"as another agent":    {client + `"CLAUDE_SWARM_AGENT=b CLAUDE_SWARM_TURN=bbbbbbbbbb-1 sh -c ` + quoted(waits) + `; true"; true`, "a"},
		"a turn of elsewhere": {"CLAUDE_SWARM_TURN=cccccccccc-1 sh -c " + waits + "; true", ""},
		"a file of elsewhere": {"CLAUDE_SWARM_TURN=../../x sh -c " + waits + "; true", ""},
		"its own environment": {"CLAUDE_SWARM_TURN=bbbbbbbbbb-1 exec sh -c " + waits, "b"},
		"a child left behind": {"(" + client + waits + " <&3 & ) 3<&0; sleep 60", "a"},
	} {
		t.Run(name, func(t *testing.T) {
			if strings.Contains(c.script, "sleep 60") {
				c.script = strings.Replace(c.script, "; sleep 60", "; cat", 1)
			}
			got, err := callerIn(t, home, c.script)
			if err != nil || got.Agent != c.want {
				t.Errorf("CallerOf = %+v, %v, want %q", got, err, c.want)
			}
		})
	}
}

// quoted escapes a quoted script for use inside double quotes.
func quoted(s string) string { return strings.ReplaceAll(s, "$$", `\$\$`) }

// A process that the daemon adopted is assigned to a turn even if it is not known which
// turn the process belongs to. While clients are alive, the process is assigned to the
// turn with the most hops, and otherwise to the last turn.
func TestACallerThatTheDaemonAdopted(t *testing.T) {
	home := traced(t)
	note := discovery.Note{PID: os.Getpid(), Since: time.Now(), Version: "test"}
	if err := note.Write(home.LockFile()); err != nil {
		t.Fatal(err)
	}
	lock := flock.New(home.LockFile())
	if got, err := lock.TryLock(); !got || err != nil {
		t.Fatal(got, err)
	}
	defer lock.Unlock()
	// This process acts as the daemon, and adopts orphaned processes as the daemon does.
	pid := pidIn(t, `(env -i setsid sh -c 'echo $$; read x; true' <&3 &) 3<&0; cat`)
	then := time.Now().Add(-time.Minute)
	if err := os.Chtimes(filepath.Join(home.Turns(), "bbbbbbbbbb-1.json"), then, then); err != nil {
		t.Fatal(err)
	}
	if got, err := home.CallerOf(pid, nil); err != nil || got.Agent != "a" {
		t.Errorf("no client lives: CallerOf = %+v, %v, want a, which had the last turn", got, err)
	}
	self, err := runner.Identify(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	for i, name := range []string{"a", "b"} {
		turn := strings.Repeat(name, 10) + "-1"
		line := fmt.Sprintf("%d %d %s\n", self.PID, self.Start, turn)
		if i == 0 { // the two clients must be different processes
			p, err := runner.Identify(os.Getppid())
			if err != nil {
				t.Fatal(err)
			}
			line = fmt.Sprintf("%d %d %s\n", p.PID, p.Start, turn)
		}
		if err := os.WriteFile(home.PIDFile(name), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := home.CallerOf(pid, nil); err != nil || got.Agent != "b" {
		t.Errorf("CallerOf = %+v, %v, want b, whose turn has more hops", got, err)
	}
}

// An environment that specifies a turn that is not running is refused, and cannot make
// WhoAmI read a file outside the project.
func TestAnEnvironmentOfNoTurn(t *testing.T) {
	home := traced(t)
	if _, err := home.Tokens(dropbox.Lead, "a", "b"); err != nil {
		t.Fatal(err)
	}
	gone := `{"v":1,"turn":"dddddddddd-1","agent":"a","message":"dddddddddd","process":{"pid":1073741824,"start":1}}`
	if err := os.WriteFile(filepath.Join(home.Turns(), "dddddddddd-1.json"), []byte(gone), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ agent, turn, want string }{
		{"a", "aaaaaaaaaa-1", ""},
		{"", "aaaaaaaaaa-1", ""},
		{"a", "../../../x", `CLAUDE_SWARM_TURN="../../../x" is not the id of a turn`},
		{"a", "aaaaaaaaaa-1/../bbbbbbbbbb-1", `CLAUDE_SWARM_TURN="aaaaaaaaaa-1/../bbbbbbbbbb-1" is not the id of a turn`},
		{"a", "cccccccccc-1", "turn cccccccccc-1: no such turn here"},
		{"a", "bbbbbbbbbb-1", "turn bbbbbbbbbb-1 belongs to b, not to a"},
		{"a", "dddddddddd-1", "turn dddddddddd-1 has ended"},
	} {
		id, err := journal.WhoAmI(home, func(name string) string {
			return map[string]string{runner.AgentVar: c.agent, runner.MarkVar: c.turn, runner.TokenVar: "x"}[name]
		})
		_, isTrace := errors.AsType[*journal.TraceError](err)
		switch {
		case c.want == "" && (err != nil || id.Name != "a" || id.Turn != c.turn):
			t.Errorf("%q in turn %q: %+v, %v", c.agent, c.turn, id, err)
		case c.want != "" && (!isTrace || err.Error() != c.want):
			t.Errorf("%q in turn %q: %+v, %v, want %q", c.agent, c.turn, id, err, c.want)
		}
	}
}
