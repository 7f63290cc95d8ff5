//go:build linux

// Compatpage tests the facts of internal/compat with several versions of Claude Code, and
// writes docs/dev/compatibility.md from the recordings of the supported ones.
//
//	make compat                                 the oldest and the newest supported version
//	make compat VERSIONS="2.1.197 2.1.332"      these versions, installed below .tools
//	make compat FACTS=stop-hook,steer           only these facts
//	make compat UPDATE=1                        record what they answer, and take a census
//
// It runs in a network namespace that has only loopback. It fails if a version does not
// behave as it was recorded, if claude-swarm does not work with an answer, or if a version
// that was never recorded shows a shape that no other version has.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/claude-swarm/claude-swarm/internal/compat"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// insideVar is set if this program is running in a separate network namespace.
const insideVar = "COMPAT_INSIDE"

// These paths are relative to the checkout.
const (
	page       = "docs/dev/compatibility.md"
	recordings = "internal/compat/testdata"
)

// atOnce is the number of parallel experiments. It is small because an experiment spends
// most of its time starting a client, which keeps a processor busy.
const atOnce = 2

func main() {
	if len(os.Args) == 2 && os.Args[1] == "mcp" {
		compat.ServeEcho(os.Stdin, os.Stdout)
		return
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "compat:", err)
		code = 1
	}
	os.Exit(code)
}

func run(ctx context.Context) (code int, err error) {
	tools := flag.String("tools", ".tools", "the folder below which `make tools` installs the clients")
	only := flag.String("facts", "", "test only these facts, by their names in the recordings, and take no census; separated by commas")
	flag.Parse()
	if os.Getenv(insideVar) == "" {
		return moveInside()
	}
	versions := flag.Args()
	if len(versions) == 0 {
		versions = supported()
	}
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	update, all := os.Getenv("UPDATE") != "", compat.Recordings()
	wrong := 0
	for _, version := range versions {
		program, err := filepath.Abs(filepath.Join(*tools, "claude", version, "node_modules/.bin/claude"))
		if err != nil {
			return 0, err
		}
		if _, err := os.Stat(program); err != nil {
			return 0, fmt.Errorf("version %s of Claude Code is missing\n  try: make tools CLI=%s", version, version)
		}
		o := compat.Options{Command: []string{program}, Server: []string{self, "mcp"}, AtOnce: atOnce}
		if *only != "" {
			o.Only = strings.Split(*only, ",")
		}
		report, err := compat.Run(ctx, o)
		if err != nil {
			return 0, err
		}
		census := all[version].Census
		if *only == "" {
			if census, err = compat.TakeCensus(ctx, o); err != nil {
				return 0, fmt.Errorf("%s: census: %w", version, err)
			}
		}
		wrong += judge(version, report, census, all[version], update)
		if update {
			got := recordingOf(report)
			got.Census = census
			for name, was := range all[version].Facts {
				if _, asked := got.Facts[name]; !asked && *only != "" {
					got.Facts[name] = was
				}
			}
			all[version] = got
			if err := os.WriteFile(filepath.Join(recordings, version+".txt"), []byte(got.Format(version)), 0o644); err != nil {
				return 0, err
			}
		}
	}
	if update && !slices.ContainsFunc(supported(), func(v string) bool { return all[v].Facts == nil }) {
		err = os.WriteFile(page, []byte(pageOf(supported(), all)), 0o644)
	}
	return min(wrong, 1), err
}

func supported() []string { return []string{claude.Oldest, claude.Newest} }

func recordingOf(r *compat.Report) compat.Recording {
	got := compat.Recording{Facts: map[string]compat.Recorded{}}
	for _, a := range r.Answers {
		got.Facts[a.Name] = compat.Recorded{Text: a.Text, Shape: a.Shape}
	}
	return got
}

// judge prints the answers of a version and returns how many of them are wrong. An answer
// that was recorded for this version must be the same; with update, its shape may differ.
func judge(version string, r *compat.Report, census compat.Census, was compat.Recording, update bool) (wrong int) {
	for _, a := range r.Answers {
		state, known := a.State, a.Known
		if before, ok := was.Facts[a.Name]; ok && state == compat.Yes && (before.Text != a.Text || before.Shape != a.Shape) {
			state, known = compat.Differs, before.Shape
		}
		fmt.Printf("%-7s %s: %s: %s\n", state, version, a.Claim, a.Text)
		if state == compat.Differs {
			for _, line := range compat.Difference(known, a.Shape) {
				fmt.Println("        " + line)
			}
		}
		if state != compat.Yes && (state != compat.Differs || !update) {
			wrong++
		}
	}
	for _, tool := range census.Unsorted() {
		wrong++
		fmt.Printf("%-7s %s: the tool %s is in none of the lists of swarm/runner/claude/arguments.go\n", compat.No, version, tool)
	}
	if was.Census != nil {
		for _, change := range census.Against(was.Census) {
			fmt.Printf("%-7s %s: census: %s\n", compat.Differs, version, change)
			if !update {
				wrong++
			}
		}
	}
	fmt.Printf("%s: %d of %d facts hold, %d wrong in total\n", version, r.Count(compat.Yes)+r.Count(compat.Differs), len(r.Answers), wrong)
	return wrong
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
	if _, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok {
		return 0, err
	}
	return cmd.ProcessState.ExitCode(), nil
}
