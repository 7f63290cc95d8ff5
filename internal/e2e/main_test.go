package e2e_test

import (
	"cmp"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// These are the programs that the tests run. The first two are built once for all tests.
var (
	program string // our program
	standin string // the stand-in for the client, for tests that need many turns or exact timing
	cli     string // the real Claude Code CLI
)

// full makes some tests run all their cases: make nightly PART=e2e. Otherwise, they leave
// out the cases that show the same with the real client as another case does.
var full = os.Getenv("E2E") == "full"

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "e2e:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("e2e: left out by -short: each test runs the real client")
		return 0, nil
	}
	if status, done, err := acptest.Again(); done {
		return status, err
	}
	root, err := repository()
	if err != nil {
		return 0, err
	}
	if cli, err = findCLI(root); err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "e2e")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program, standin = filepath.Join(dir, "claude-swarm"), filepath.Join(dir, "standin", "claude")
	for to, packages := range map[string]string{"": "./cmd/...", "standin": "./internal/testkit/standin/claude"} {
		build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", filepath.Join(dir, to)+"/", packages)
		build.Dir = root
		if out, err := build.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("go build: %w\n%s", err, out)
		}
	}
	return m.Run(), nil
}

func repository() (string, error) {
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	return strings.TrimSpace(string(out)), err
}

// findCLI finds the version of the real Claude Code that the CLI variable specifies:
// oldest, newest, or a version number that `make tools CLI=VERSION` installs. If CLI is
// not set, the version is claude.Newest.
func findCLI(root string) (string, error) {
	version := cmp.Or(os.Getenv("CLI"), "newest")
	switch version {
	case "oldest":
		version = claude.Oldest
	case "newest":
		version = claude.Newest
	}
	path := filepath.Join(root, ".tools", "claude", version, "node_modules", ".bin", "claude")
	if _, err := os.Stat(path); err != nil {
		return "", fmt.Errorf("Claude Code %s is missing\n  try: make tools CLI=%s", version, version)
	}
	return path, nil
}
