package backends_test

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

var (
	repository string
	program    string // claude-swarm, built once
)

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "backends:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("backends: left out by -short: each row runs a real client")
		return 0, nil
	}
	if status, done, err := acptest.Again(); done {
		return status, err
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return 0, err
	}
	repository = strings.TrimSpace(string(out))
	dir, err := os.MkdirTemp("", "backends")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	program = filepath.Join(dir, "claude-swarm")
	build := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", program, "./cmd/claude-swarm")
	build.Dir = repository
	if out, err := build.CombinedOutput(); err != nil {
		return 0, fmt.Errorf("go build: %w\n%s", err, out)
	}
	// One of the clients creates an empty .git in the folder for temporary files, which
	// makes the projects of other tests appear to be in a repository. The .git is removed
	// afterwards, unless it existed before.
	stray := filepath.Join(os.TempDir(), ".git")
	if _, err := os.Stat(stray); err != nil {
		defer os.Remove(stray)
	}
	code := m.Run()
	printTable(os.Stdout)
	if os.Getenv("PROVE") != "" {
		err = writeProven()
	}
	return code, err
}
