package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// A bench runs benchmarks. The files that they create stay in its scratch folder.
type bench struct {
	module  string // root folder of the module
	scratch string
	runs    int
}

// prepare builds the programs and the benchmarks.
func prepare(ctx context.Context, of []goal) (*bench, error) {
	out, err := exec.CommandContext(ctx, "go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	b := &bench{module: strings.TrimSpace(string(out))}
	if b.scratch, err = os.MkdirTemp("", "claude-swarm-bench-"); err != nil {
		return nil, err
	}
	if err := b.programs(ctx); err != nil {
		return b, err
	}
	built := map[string]bool{}
	for _, group := range variants(of) {
		for _, v := range group {
			if built[v.pkg] {
				continue
			}
			built[v.pkg] = true
			if err := b.command(ctx, ".", "go", "test", "-c", "-o", b.binary(v.pkg), "./"+v.pkg).Run(); err != nil {
				return b, fmt.Errorf("go test -c ./%s: %w", v.pkg, err)
			}
		}
	}
	return b, nil
}

// programs builds the shipped program and the programs with which the benchmarks compare
// it.
func (b *bench) programs(ctx context.Context) error {
	if err := b.command(ctx, ".", "make", "-s", "build").Run(); err != nil {
		return fmt.Errorf("make build: %w", err)
	}
	if err := os.Mkdir(b.bin(), 0o700); err != nil {
		return err
	}
	linked := filepath.Join(b.scratch, "linked")
	if err := os.Mkdir(linked, 0o700); err != nil {
		return err
	}
	cmd := b.command(ctx, "cmd/claude-swarm", "go", "build", "-trimpath", "-ldflags=-s -w", "-o", linked+"/", "./testdata/bench/...")
	cmd.Env = append(cmd.Env, "CGO_ENABLED=0")
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("go build ./testdata/bench/...: %w", err)
	}
	// All programs are copied in the same way as make install copies ours, because the
	// start time of a program depends on how it was written to disk.
	others, err := filepath.Glob(filepath.Join(linked, "*"))
	if err != nil {
		return err
	}
	for _, path := range append(others, filepath.Join(b.module, "bin", "claude-swarm")) {
		if err := b.command(ctx, ".", "cp", path, b.bin()+"/").Run(); err != nil {
			return fmt.Errorf("cp %s: %w", path, err)
		}
	}
	return os.RemoveAll(linked)
}

func (b *bench) bin() string { return filepath.Join(b.scratch, "bin") }

// close deletes the programs and the files that the benchmarks created.
func (b *bench) close() error { return os.RemoveAll(b.scratch) }

func (b *bench) binary(pkg string) string {
	return filepath.Join(b.scratch, path.Base(pkg)+".test")
}

func (b *bench) command(ctx context.Context, dir, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = filepath.Join(b.module, dir)
	cmd.Env = append(os.Environ(), "SWARM_BENCH_BIN="+b.bin())
	cmd.Stderr = os.Stderr
	return cmd
}

// run waits until the disk is idle, runs a variant, and returns the values that it
// reports.
func (b *bench) run(ctx context.Context, v variant) (map[string]float64, error) {
	b.runs++
	left := filepath.Join(b.scratch, strconv.Itoa(b.runs))
	if err := os.Mkdir(left, 0o700); err != nil {
		return nil, err
	}
	if err := settle(b.scratch); err != nil {
		return nil, err
	}
	cmd := b.command(ctx, v.pkg, b.binary(v.pkg), "-test.run=^$", "-test.bench="+exactly(v.bench), "-test.benchtime="+v.time,
		"-test.artifacts", "-test.outputdir="+left, "-test.timeout=5m")
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w\n%s", v.bench, v.pkg, err, out)
	}
	all, err := parse(bytes.NewReader(out))
	if err != nil {
		return nil, fmt.Errorf("%s in %s: %w", v.bench, v.pkg, err)
	}
	values, ok := all[v.bench]
	if !ok {
		return nil, fmt.Errorf("%s in %s did not run:\n%s", v.bench, v.pkg, out)
	}
	return values, nil
}

// exactly returns a pattern that matches only the benchmark with this name.
func exactly(name string) string {
	parts := strings.Split(name, "/")
	for i, part := range parts {
		parts[i] = "^" + regexp.QuoteMeta(part) + "$"
	}
	return strings.Join(parts, "/")
}

// parse reads benchmark lines in the format of the Go project's proposal 14313: name,
// iterations, and pairs of a value and a unit. It removes the processor count from the
// end of each name.
func parse(r io.Reader) (map[string]map[string]float64, error) {
	all := map[string]map[string]float64{}
	sc := bufio.NewScanner(r)
	for sc.Scan() {
		f := strings.Fields(sc.Text())
		if len(f) < 4 || !strings.HasPrefix(f[0], "Benchmark") || len(f)%2 != 0 {
			continue
		}
		if _, err := strconv.Atoi(f[1]); err != nil {
			continue
		}
		values := map[string]float64{}
		for i := 2; i < len(f); i += 2 {
			n, err := strconv.ParseFloat(f[i], 64)
			if err != nil {
				return nil, fmt.Errorf("line %q: %w", sc.Text(), err)
			}
			values[f[i+1]] = n
		}
		all[withoutProcs(f[0])] = values
	}
	return all, sc.Err()
}

func withoutProcs(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name
	}
	if _, err := strconv.Atoi(name[i+1:]); err != nil {
		return name
	}
	return name[:i]
}
