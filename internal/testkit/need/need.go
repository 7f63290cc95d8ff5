// Package need skips a test that cannot run on this machine because a program or a
// feature of the system is missing. In CI, where SWARM_STRICT=1 is set, it fails the test
// instead, so a test cannot disappear from CI without notice.
//
// Every skip has the form "not run: NAME is missing"; internal/testkit/testrun collects
// these lines and prints them at the end of `make test`.
package need

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"
)

// Strict reports whether a missing program fails the tests that need it.
func Strict() bool { return os.Getenv("SWARM_STRICT") == "1" }

// Program returns the path of an installed program. It also looks in /usr/sbin, which is
// not in every person's PATH although servers are installed there.
func Program(t testing.TB, name string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	if err == nil {
		return path
	}
	path = filepath.Join("/usr/sbin", name)
	if _, err := os.Stat(path); err != nil {
		Missing(t, name)
	}
	return path
}

// Bubblewrap returns the folder with bwrap: the program that the variable BWRAP names, or the
// one on the PATH. CI uses the variable, because codex runs its commands with a bwrap that it
// finds on the PATH.
func Bubblewrap(t testing.TB) (dir string) {
	t.Helper()
	path := os.Getenv("BWRAP")
	if path == "" {
		path = Program(t, "bwrap")
	}
	if out, err := exec.Command(path, "--unshare-all", "--ro-bind", "/", "/", "true").CombinedOutput(); err != nil {
		t.Logf("%v\n%s", err, out)
		Missing(t, "a bwrap that may create namespaces")
	}
	return filepath.Dir(path)
}

// Programs demands several programs, for example those that a shell script calls.
func Programs(t testing.TB, names ...string) {
	t.Helper()
	for _, name := range names {
		Program(t, name)
	}
}

// Missing ends a test that needs what this machine lacks, such as "tmux" or "a user
// namespace".
func Missing(t testing.TB, what string) {
	t.Helper()
	if Strict() {
		t.Fatalf("%s is missing", what)
	}
	t.Skipf("not run: %s is missing", what)
}

// called matches the programs that our tests' shell scripts call, and that are neither part
// of sh nor one of the core utilities.
var called = regexp.MustCompile(`\b(bash|grep|ps|sed|setsid|xargs) [-a-z'"$/]`)

// Absent returns the programs that a shell script calls and that are missing here.
func Absent(script string) []string {
	var absent []string
	for _, m := range called.FindAllStringSubmatch(script, -1) {
		if _, err := exec.LookPath(m[1]); err != nil && !slices.Contains(absent, m[1]) {
			absent = append(absent, m[1])
		}
	}
	return absent
}

// Script demands the programs that a shell script calls.
func Script(t testing.TB, script string) {
	t.Helper()
	Programs(t, Absent(script)...)
}
