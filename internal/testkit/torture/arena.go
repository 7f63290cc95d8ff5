//go:build linux

package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An arenaSpec describes an arena. The zero value describes an arena with one agent.
type arenaSpec struct {
	agents   int
	top      string   // YAML lines for the top of claude-swarm.yaml
	defaults string   // YAML lines below defaults:, each indented by two
	env      []string // additional environment of the daemon, which the stand-ins inherit
	disk     int      // the project is on a separate file system of this size, in MiB
	files    int      // maximum number of files in that file system; 0 means 30,000
	starter  []string // program and arguments that are put before the command that starts the daemon
}

// An arena is a scratch project with stand-ins for the agents' clients. Its methods are
// safe for concurrent use.
type arena struct {
	program string
	client  string // the stand-in
	dir     string // folder of the project
	home    string // home folder of all processes that the arena starts, by which they are recognized
	env     []string
	agents  []string
	store   *dropbox.Store
	disk    *volume // nil for the system's disk
	starter []string
	halted  bool // the work was halted early, so messages in new/ count as neither lost nor left behind

	// delivering is held for reading while a message is delivered; see [arena.betweenDeliveries].
	delivering sync.RWMutex

	mu   sync.Mutex
	jobs []*job // the sent messages, in no particular order
	next int    // number of the next job
}

// newArena creates an arena, without starting its daemon. The caller must close it.
func (r *rig) newArena(ctx context.Context, spec arenaSpec) (*arena, error) {
	base, err := r.newDir()
	if err != nil {
		return nil, err
	}
	a := &arena{program: r.program, client: r.client, dir: filepath.Join(base, "p"), home: filepath.Join(base, "home")}
	run := filepath.Join(base, "run")
	for _, d := range []string{a.dir, a.home, run, filepath.Join(base, "locks"), filepath.Join(base, "tmp")} {
		if err := os.Mkdir(d, 0o700); err != nil {
			return nil, err
		}
	}
	a.env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + a.home, "XDG_RUNTIME_DIR=" + run, "LANG=C.UTF-8", "TMPDIR=" + filepath.Join(base, "tmp"),
		"STANDIN_LOG=" + a.journal(), "STANDIN_LOCK=" + filepath.Join(base, "locks"),
	}, spec.env...)
	var config strings.Builder
	fmt.Fprintf(&config, "debounce: 100ms\nmax_waiting: 1000000\n%s", spec.top)
	if !strings.Contains(spec.top, "max_running") {
		config.WriteString("max_running: 4\n")
	}
	fmt.Fprintf(&config, "log: {max_size_mb: 1000}\ndefaults:\n  command: [%q]\n%s", a.client, spec.defaults)
	for _, key := range []string{"retry_delay: 200ms", "max_failures: 100"} {
		if name, _, _ := strings.Cut(key, ":"); !strings.Contains(spec.defaults, name) {
			config.WriteString("  " + key + "\n")
		}
	}
	config.WriteString("policy: {turns_per_hour: 0}\nagents:\n") // there is no limit, because there are hundreds of unproven messages
	for i := range max(1, spec.agents) {
		a.agents = append(a.agents, fmt.Sprintf("agent%d", i))
		config.WriteString("  " + a.agents[i] + ": {}\n")
	}
	if a.starter = spec.starter; spec.disk > 0 {
		a.disk = &volume{dir: a.dir, names: rand.IntN(2) == 0}
		if err := a.disk.mount(spec.disk, cmp.Or(spec.files, 30_000)); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(filepath.Join(a.dir, "claude-swarm.yaml"), []byte(config.String()), 0o600); err != nil {
		return nil, err
	}
	if _, err := a.swarm(ctx, "init"); err != nil {
		return nil, err
	}
	if a.store, err = dropbox.Open(a.mail(), dropbox.Options{}); err != nil {
		return nil, err
	}
	return a, nil
}

func (a *arena) journal() string        { return filepath.Join(filepath.Dir(a.dir), "turns.log") }
func (a *arena) mail() string           { return filepath.Join(a.dir, ".dead-drop") }
func (a *arena) own() journal.Home      { return journal.HomeOf(a.dir) }
func (a *arena) box(name string) string { return filepath.Join(a.mail(), name) }

// close kills all processes that are still running in the arena, closes its store and
// unmounts its disk.
func (a *arena) close() error {
	for _, p := range a.processes() {
		p.kill()
	}
	err := a.store.Close()
	if a.disk != nil {
		err = errors.Join(err, a.disk.unmount())
	}
	return err
}

// swarm runs a verb of the program and returns its output.
func (a *arena) swarm(ctx context.Context, args ...string) (string, error) {
	return a.feed(ctx, nil, args...)
}

// feed is like swarm, with stdin as the verb's standard input.
func (a *arena) feed(ctx context.Context, stdin []byte, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	words := append([]string{a.program}, args...)
	if args[0] == "start" {
		words = append(slices.Clone(a.starter), words...)
	}
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Dir, cmd.Env = a.dir, a.env
	var out, errs bytes.Buffer
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(stdin), &out, &errs
	// If the verb starts a daemon, Run must not wait for the daemon.
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return out.String(), &verbError{args: args, code: cmd.ProcessState.ExitCode(), err: err, text: strings.TrimSpace(errs.String())}
	}
	return out.String(), nil
}

// A verbError is the error of a verb that failed.
type verbError struct {
	args []string
	code int
	err  error
	text string // output of the verb on standard error
}

func (e *verbError) Error() string {
	return fmt.Sprintf("claude-swarm %s: %v: %s", strings.Join(e.args, " "), e.err, e.text)
}

func (e *verbError) Unwrap() error { return e.err }

// start starts the daemon and waits until it is ready. On a slow machine, the daemon may
// need longer than the start verb waits for it.
func (a *arena) start(ctx context.Context) error {
	_, err := a.swarm(ctx, "start")
	if verb, ok := errors.AsType[*verbError](err); ok && verb.code == 5 {
		return until(ctx, "the daemon is ready", func() bool { _, err := a.status(ctx, a.agents[0]); return err == nil })
	}
	return err
}

// stop stops the daemon after its turns have ended. It is not an error if no daemon is
// running.
func (a *arena) stop(ctx context.Context) error {
	_, err := a.swarm(ctx, "stop")
	if verb, ok := errors.AsType[*verbError](err); ok && verb.code == 4 {
		return nil
	}
	return err
}

// status asks the daemon for its status.
func (a *arena) status(ctx context.Context, agents ...string) (swarm.Status, error) {
	c, err := a.dial(ctx)
	if err != nil {
		return swarm.Status{}, err
	}
	st, err := c.Status(ctx, agents...)
	return st, errors.Join(err, c.Close())
}

func (a *arena) dial(ctx context.Context) (*control.Client, error) {
	env := map[string]string{}
	for _, kv := range a.env {
		key, value, _ := strings.Cut(kv, "=")
		env[key] = value
	}
	return control.Dial(ctx, a.dir, "torture", func(key string) string { return env[key] })
}

// patience is the maximum time that [until] waits for a condition, and the maximum time
// that [arena.await] waits without progress. It is so long that it ends only a run that
// hangs, not one on a slow machine.
const patience = 5 * time.Minute

// until waits until ok returns true. It returns an error after [patience].
func until(ctx context.Context, what string, ok func() bool) error {
	deadline := time.Now().Add(patience)
	for !ok() {
		if time.Now().After(deadline) {
			return fmt.Errorf("never happened: %s", what)
		}
		if err := pause(ctx, 20*time.Millisecond); err != nil {
			return err
		}
	}
	return nil
}

// pause waits for d. If ctx ends first, it returns the error of ctx.
func pause(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
