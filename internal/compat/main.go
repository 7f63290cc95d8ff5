//go:build linux

package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// insideVar is set if this program is running in a separate network namespace.
const insideVar = "COMPAT_INSIDE"

// page is the path of the file that contains the answers, relative to the checkout.
const page = "docs/compatibility.md"

func main() {
	if len(os.Args) == 2 && os.Args[1] == "mcp" {
		serveMCP(os.Stdin, os.Stdout)
		return
	}
	code, err := run()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		code = 1
	}
	os.Exit(code)
}

func run() (code int, err error) {
	tools := flag.String("tools", ".tools", "the folder below which `make tools` installs the clients")
	flag.Parse()
	if os.Getenv(insideVar) == "" {
		return moveInside()
	}
	supported := []string{claude.Oldest, claude.Newest}
	versions := flag.Args()
	if len(versions) == 0 {
		versions = supported
	}
	answers := make([][]answer, len(versions))
	for i, version := range versions {
		program, err := filepath.Abs(filepath.Join(*tools, "claude", version, "node_modules/.bin/claude"))
		if err != nil {
			return 0, err
		}
		if _, err := os.Stat(program); err != nil {
			return 0, fmt.Errorf("version %s of Claude Code is missing\n  try: make tools CLI=%s", version, version)
		}
		answers[i] = askAll(version, program)
	}
	if slices.Equal(versions, supported) {
		err = os.WriteFile(page, []byte(pageOf(versions, answers)), 0o644)
	}
	fmt.Print(table(versions, answers))
	wrong := 0
	for i, version := range versions {
		for j, a := range answers[i] {
			if !a.good {
				wrong++
				fmt.Fprintf(os.Stderr, "%s: %s: %s\n", version, facts[j].claim, a.text)
			}
		}
	}
	fmt.Printf("%d passed, %d failed\n", len(versions)*len(facts)-wrong, wrong)
	return min(wrong, 1), err
}

// moveInside reruns this program in a network namespace that has only loopback.
func moveInside() (int, error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	unshare := []string{"--net"}
	if exec.Command("unshare", "--net", "true").Run() != nil {
		unshare = []string{"--user", "--map-root-user", "--net"}
	}
	cmd := exec.Command("unshare", append(append(unshare, "sh", "-c", `ip link set lo up && exec "$0" "$@"`, self), os.Args[1:]...)...)
	cmd.Env = append(os.Environ(), insideVar+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	err = cmd.Run()
	if cmd.ProcessState == nil {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}

// An answer describes how one version behaves with regard to one fact.
type answer struct {
	text string
	good bool // whether claude-swarm works with it
}

// atOnce is the number of parallel experiments. It is small because an experiment spends
// most of its time starting a client, which keeps a processor busy.
const atOnce = 2

// askAll runs all experiments against one version.
func askAll(version, program string) []answer {
	answers := make([]answer, len(facts))
	var wg sync.WaitGroup
	slots := make(chan struct{}, atOnce)
	for i, f := range facts {
		wg.Go(func() {
			slots <- struct{}{}
			defer func() { <-slots }()
			text, err := f.try(version, program)
			if err != nil {
				answers[i] = answer{text: "not determined: " + screen.Short(err.Error(), 300)}
				return
			}
			answers[i] = answer{text, f.good(text)}
		})
	}
	wg.Wait()
	return answers
}

func (f *fact) try(version, program string) (text string, err error) {
	l, err := newLab(version, program)
	if err != nil {
		return "", err
	}
	defer l.close()
	return f.ask(l)
}

// good reports whether claude-swarm works with an answer.
func (f *fact) good(text string) bool {
	if len(f.wants) == 0 {
		return strings.HasPrefix(text, "yes")
	}
	return slices.Contains(f.wants, text)
}

// errStrange means that the client's output has an unknown format.
var errStrange = errors.New("the client's output has a different form")
