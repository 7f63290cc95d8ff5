package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

// A verdict is the outcome for a mutant.
type verdict string

const (
	caught  verdict = "caught"
	escaped verdict = "ESCAPED"
	noBuild verdict = "no build"
)

// A finding is the verdict on one mutant.
type finding struct {
	Mutant  string  `json:"mutant"` // its id
	Verdict verdict `json:"verdict"`
	By      string  `json:"by,omitempty"`      // the test that failed, or a description of another failure
	Seconds float64 `json:"seconds,omitempty"` // time until the verdict
	State   string  `json:"state"`             // hash of the sources for which the finding is valid
}

// A bench builds and tests mutants of one package. It is safe for concurrent use.
type bench struct {
	root   string // root folder of the module
	target target
	tmp    string
	quick  bool // run only the short tests

	mu     sync.Mutex
	plain  map[string]string        // test programs without a mutant, by folder
	limits map[string]time.Duration // time limits of the stages, by name
}

// A stage is a selection of tests from one package.
type stage struct {
	name string
	dir  string // the package's folder
	args []string
}

// stages returns the stages that a mutant must survive to escape, fastest first.
func (b *bench) stages() (all []stage) {
	short := []string{"-test.short", "-test.failfast"}
	dirs := b.target.tests()
	last := dirs[len(dirs)-1]
	for _, dir := range dirs[:len(dirs)-1] {
		all = append(all, stage{"all of " + dir, dir, []string{"-test.failfast"}})
	}
	if b.target.first != "" {
		all = append(all, stage{"first", last, []string{"-test.failfast", "-test.run", b.target.first}})
	}
	all = append(all, stage{"short", last, short})
	if !b.quick {
		all = append(all, stage{"all", last, []string{"-test.failfast"}})
	}
	return all
}

// leastLimit is the minimum time limit of a stage. It is long because a mutant can make
// very short tests wait.
const leastLimit = 30 * time.Second

// limit returns the time limit for running a stage with a mutant. This is four times as
// long as the tests take without a mutant, because the machine may be busier later. When
// the first mutant reaches the stage, limit runs the stage's tests without a mutant. They
// must pass.
func (b *bench) limit(ctx context.Context, s stage) (time.Duration, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if limit, ok := b.limits[s.name]; ok {
		return limit, nil
	}
	if b.limits == nil {
		b.limits = map[string]time.Duration{}
	}
	if b.plain == nil {
		b.plain = map[string]string{}
	}
	if b.plain[s.dir] == "" {
		bin, err := b.build(ctx, s.dir, "plain", nil)
		if err != nil {
			return 0, err
		}
		b.plain[s.dir] = bin
	}
	began := time.Now()
	if by, err := b.fails(ctx, b.plain[s.dir], s, time.Hour); err != nil {
		return 0, err
	} else if by != "" {
		return 0, fmt.Errorf("%s: without a mutant the tests fail: %s", b.target.pkg, by)
	}
	b.limits[s.name] = max(leastLimit, 4*time.Since(began))
	return b.limits[s.name], nil
}

// judge builds a mutant and runs the tests until one fails.
func (b *bench) judge(ctx context.Context, m mutant) (finding, error) {
	f := finding{Mutant: m.id(), Verdict: escaped}
	began := time.Now()
	bin, dir := "", ""
	defer func() { os.Remove(bin) }()
	for _, s := range b.stages() {
		if s.dir != dir {
			os.Remove(bin)
			built, err := b.build(ctx, s.dir, m.name(), &m)
			if wrong, ok := errors.AsType[*buildError](err); ok {
				f.Verdict, f.By = noBuild, wrong.says
				return f, nil
			} else if err != nil {
				return f, err
			}
			bin, dir = built, s.dir
		}
		limit, err := b.limit(ctx, s)
		if err != nil {
			return f, err
		}
		by, err := b.fails(ctx, bin, s, limit)
		if err != nil {
			return f, err
		}
		if by != "" {
			f.Verdict, f.By = caught, by
			break
		}
	}
	f.Seconds = time.Since(began).Round(100 * time.Millisecond).Seconds()
	return f, nil
}

// fails runs a stage and returns the test that failed, or "" if none failed. If a failed
// test passes when it is run alone, the machine may just have been busy, so the stage is
// repeated with twice the time limit.
func (b *bench) fails(ctx context.Context, bin string, s stage, limit time.Duration) (by string, err error) {
	for range 2 {
		if by, err = b.test(ctx, bin, s, limit); err != nil || by == "" {
			return by, err
		}
		top, _, _ := strings.Cut(strings.Fields(by)[0], "/")
		if !strings.HasPrefix(top, "Test") && !strings.HasPrefix(top, "Fuzz") {
			return by, nil
		}
		alone := stage{s.name, s.dir, append(slices.Clone(s.args), "-test.run", "^"+top+"$")}
		if again, err := b.test(ctx, bin, alone, limit); err != nil || again != "" {
			return again, err
		}
		limit *= 2
	}
	return by, nil
}

// name returns a name for the mutant's files.
func (m mutant) name() string { return fmt.Sprintf("%x", lot(m)[:4]) }

// A buildError is the compiler's error for a mutant that does not build.
type buildError struct{ says string }

func (e *buildError) Error() string { return e.says }

// build compiles the tests of a package into a program. If m is not nil, the mutated file
// replaces the original.
func (b *bench) build(ctx context.Context, dir, name string, m *mutant) (string, error) {
	bin := filepath.Join(b.tmp, filepath.Base(dir)+name+".test")
	args := []string{"test", "-c", "-vet=off", "-ldflags=-w", "-o", bin}
	if m != nil {
		path := filepath.Join(b.root, m.pkg, m.file)
		src, err := os.ReadFile(path)
		if err != nil {
			return "", err
		}
		mutated, overlay := filepath.Join(b.tmp, name+".go"), filepath.Join(b.tmp, name+".json")
		data, err := json.Marshal(map[string]map[string]string{"Replace": {path: mutated}})
		if err != nil {
			return "", err
		}
		if err := errors.Join(os.WriteFile(mutated, m.apply(src), 0o600), os.WriteFile(overlay, data, 0o600)); err != nil {
			return "", err
		}
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./"+dir)...)
	cmd.Dir = b.root
	out, err := cmd.CombinedOutput()
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if _, ok := errors.AsType[*exec.ExitError](err); ok {
		return "", &buildError{says: string(bytes.TrimSpace(out))}
	}
	return bin, err
}

// test runs a stage and returns the test that failed, or "" if none failed. If the time
// limit expires, the running test counts as failed, because the mutant makes it wait for
// an event that never happens.
func (b *bench) test(ctx context.Context, bin string, s stage, limit time.Duration) (by string, err error) {
	tmp, err := os.MkdirTemp(b.tmp, "")
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, removeAll(tmp)) }()
	if err := os.Chmod(tmp, 0o711); err != nil { // some tests run a process as another user
		return "", err
	}
	timed, cancel := context.WithTimeout(ctx, limit+10*time.Second) // the tests' own timeout ends them earlier
	defer cancel()
	cmd := exec.CommandContext(timed, bin, append(slices.Clone(s.args), "-test.timeout", limit.String())...)
	cmd.Dir = filepath.Join(b.root, s.dir)
	cmd.Env = append(os.Environ(), "TMPDIR="+tmp)
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
	cmd.WaitDelay = 5 * time.Second
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err = cmd.Run()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case timed.Err() != nil:
		return "no end after " + limit.Round(time.Second).String(), nil
	case err == nil:
		return "", nil
	}
	if _, ok := errors.AsType[*exec.ExitError](err); !ok {
		return "", err
	}
	return failure(out.Bytes()), nil
}

var (
	timedOut   = regexp.MustCompile(`(?m)^panic: test timed out[^\n]*\n\s*running tests:\n\s*(\S+)`)
	failedTest = regexp.MustCompile(`(?m)^ *--- FAIL: (\S+)`)
	panicked   = regexp.MustCompile(`(?m)^(panic: .*|fatal error: .*)$`)
)

// failure returns the first failed test in the output of tests, or a description of
// another failure. The output lists a subtest after its test.
func failure(out []byte) string {
	if t := timedOut.FindSubmatch(out); t != nil {
		return string(t[1]) + " without an end"
	}
	if p := panicked.FindSubmatch(out); p != nil {
		return cut(string(p[1]))
	}
	if f := failedTest.FindAllSubmatch(out, -1); f != nil {
		by := string(f[0][1])
		for _, sub := range f[1:] {
			if bytes.HasPrefix(sub[1], []byte(by+"/")) {
				by = string(sub[1])
			}
		}
		return by
	}
	return cut("the tests ended with " + strconv.Quote(string(bytes.TrimSpace(out))))
}

func cut(s string) string { return s[:min(len(s), 100)] }

// removeAll removes a folder in which tests may have created unreadable folders.
func removeAll(dir string) error {
	if os.RemoveAll(dir) == nil {
		return nil
	}
	err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if d != nil && d.IsDir() {
			return os.Chmod(path, 0o700)
		}
		return nil
	})
	return errors.Join(err, os.RemoveAll(dir))
}
