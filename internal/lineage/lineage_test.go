package lineage_test

import (
	"bufio"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/lineage"
)

// Above finds every ancestor in a long chain, and Variable reads the environment of one
// of them.
func TestAbove(t *testing.T) {
	script := "echo $$; read x"
	for range 12 {
		script = "sh -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'; true"
		if len(script) > 60_000 { // each level of quoting multiplies the quotes
			break
		}
	}
	cmd := exec.Command("sh", "-c", script)
	cmd.Env = append(os.Environ(), "LINEAGE_MUCH="+strings.Repeat("x", 100_000), "LINEAGE_TEST=yes and no")
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
	defer cmd.Wait()
	defer in.Close()
	var pid int
	if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
		t.Fatal(err)
	}
	above := lineage.Above(pid)
	i := slices.Index(above, os.Getpid())
	if i < 10 || above[i-1] != cmd.Process.Pid {
		t.Fatalf("Above(%d) = %v, want more than 10 shells below %d", pid, above, os.Getpid())
	}
	if got := lineage.Variable(above[i-1], "LINEAGE_TEST"); got != "yes and no" {
		t.Errorf("Variable = %q", got)
	}
	if got := lineage.Variable(os.Getpid(), "LINEAGE_TEST"); got != "" {
		t.Errorf("Variable of a process without it = %q", got)
	}
}

func TestNoSuchProcess(t *testing.T) {
	if above := lineage.Above(1 << 30); above != nil {
		t.Errorf("Above = %v", above)
	}
	if got := lineage.Variable(1<<30, "PATH"); got != "" {
		t.Errorf("Variable = %q", got)
	}
}
