package main

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// madeReady runs the program in a folder and returns Go's report on package
// initialization. The report contains one line per package, with the time and the
// allocated bytes.
func madeReady(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command(ourselves(t), args...)
	home := t.TempDir()
	cmd.Dir = dir
	cmd.Env = append(withoutMarks(os.Environ()), "GODEBUG=inittrace=1", "HOME="+home, "XDG_RUNTIME_DIR="+home, "PWD="+dir, "GORACE=atexit_sleep_ms=0")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%q: %v\n%s", args, err, stderr.Bytes())
	}
	return stderr.String()
}

// Every verb must wait for the packages to be initialized. Therefore, our packages only
// fill tables during initialization, and compile regular expressions when they first need
// them.
func TestStartMakesLittleReady(t *testing.T) {
	const most = 16 << 10 // bytes per package; the configuration's tables need 5 KiB
	made := regexp.MustCompile(`(?m)^init (github\.com/claude-swarm/claude-swarm/\S+) .*, (\d+) bytes`)
	trace := madeReady(t, t.TempDir(), "version")
	seen := made.FindAllStringSubmatch(trace, -1)
	if len(seen) < 5 {
		t.Fatalf("version made %d packages ready, too few for this test to say anything:\n%s", len(seen), trace)
	}
	for _, m := range seen {
		if strings.HasSuffix(m[1], "/cmd/claude-swarm") { // this line includes the initialization of the tests
			continue
		}
		if bytes, err := strconv.Atoi(m[2]); err != nil || bytes > most {
			t.Errorf("package %s takes %s bytes at the start, more than %d", m[1], m[2], most)
		}
	}
}

// A plain send runs in main like every other verb, after all packages have been
// initialized. Therefore, a breakpoint in the verb works.
func TestAPlainSendBeginsInMain(t *testing.T) {
	dir := t.TempDir()
	overwrite(t, filepath.Join(dir, config.Name), "agents: {coder: }\n")
	madeReady(t, dir, "init")
	for _, text := range []string{"first", "second"} { // the second run finds the files from the first run
		trace := madeReady(t, dir, "send", "coder", text)
		if !regexp.MustCompile(`(?m)^init main `).MatchString(trace) {
			t.Errorf("send %s was over before main began:\n%s", text, trace)
		}
	}
	sent, err := filepath.Glob(filepath.Join(dir, ".dead-drop", "coder", "new", "*.md"))
	if err != nil || len(sent) != 2 {
		t.Errorf("coder has %q, %v, want two messages", sent, err)
	}
}

func overwrite(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}
