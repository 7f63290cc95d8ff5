package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// demoLimit is how long the demo waits for the answer. The scripted model answers within
// seconds, but a real one can take minutes.
const demoLimit = 10 * time.Minute

func demoCommand() *cli.Command {
	return &cli.Command{
		Name:     "demo",
		Category: groupProject,
		Usage:    "show two agents at work, in a scratch folder",
		Description: `Makes a scratch git repository with two agents, starts a daemon there, gives one
of them a task, and prints what happens: the coder asks the reviewer, changes
files, runs a test, and the answer comes to the lead's mailbox.

The model is scripted and runs on this machine, so no account is needed. The
claude program edits the files, so it must be installed. With --live, the model
is real and your account pays: from a few cents to about half a US dollar.` +
			examples("claude-swarm demo", "claude-swarm demo --dir /tmp/demo"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "live", Usage: "use the real model, with your account"},
			&cli.BoolFlag{Name: "keep", Usage: "keep the folder, so that you can look at it"},
			&cli.StringFlag{Name: "dir", Usage: "use the empty or new folder `D`, and keep it"},
		},
		Action: demo,
	}
}

func demo(c *cli.Context) (err error) {
	if err := noArguments(c); err != nil {
		return err
	}
	// If one of these signals arrives, the demo stops its daemon before it exits. SIGPIPE
	// arrives if the program that reads the output has exited.
	ctx, stop := signal.NotifyContext(c.Context, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	defer stop()
	s, err := newStage(ctx, c.String("dir"), c.Bool("keep"), c.Bool("live"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.clear(ctx)) }()
	s.out, s.pal = c.App.Writer, paletteOf(c.App.Writer)
	if err := s.play(ctx); err != nil {
		switch {
		case c.Context.Err() != nil:
			return context.Canceled
		case ctx.Err() != nil:
			return fail(exitInterrupted, "", "the demo was stopped before it was done")
		}
		return hint(fmt.Errorf("the demo failed: %w", err), "claude-swarm demo --keep   (then look in the folder that it names)")
	}
	return nil
}

// play runs the demo. It runs the verbs of this program that a person would type.
func (s *stage) play(ctx context.Context) error {
	s.say("  project  %s\n", s.dir)
	s.say("  client   %s\n", s.client.about)
	if s.live {
		s.say("  model    the real one: your own account pays for it\n")
	} else {
		s.say("  model    scripted, on this machine: no account, no network, no cost\n")
	}
	if err := s.build(ctx); err != nil {
		return err
	}
	s.command("claude-swarm start")
	if err := s.startDaemon(ctx); err != nil {
		return err
	}
	id, answer, err := s.sendTask(ctx)
	if err := errors.Join(err, s.stopDaemon(ctx)); err != nil {
		return err
	}
	if answer == "" {
		return errors.New("no answer came")
	}
	s.say("\n  The answer, in the lead's mailbox:\n\n")
	s.say("%s\n", indent(screen.Wrap(answer, width-6), "    "))
	if err := s.showChanges(ctx); err != nil {
		return err
	}
	s.command("claude-swarm trace " + id)
	tree, err := s.self(ctx, "trace", id).CombinedOutput()
	if err != nil {
		return fmt.Errorf("trace: %w: %s", err, tree)
	}
	s.say("%s", tree)
	return s.showReceipts(ctx)
}

// say prints formatted text to the demo's output.
func (s *stage) say(format string, args ...any) { fmt.Fprintf(s.out, format, args...) }

// command prints a command line that is about to run.
func (s *stage) command(line string) {
	s.say("\n%s\n", s.pal.paint("$ "+line, color.Bold))
}

// startDaemon starts this program as the daemon of the scratch project, and returns when the
// daemon is ready.
func (s *stage) startDaemon(ctx context.Context) error {
	cmd := s.self(context.WithoutCancel(ctx), "start", "--foreground")
	errs, err := cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start the daemon: %w", err)
	}
	s.daemon = &child{cmd: cmd, lines: make(chan string, 64), done: make(chan struct{})}
	go s.daemon.watch(errs) // stopDaemon waits for this goroutine
	for {
		select {
		case line, ok := <-s.daemon.lines:
			if !ok {
				<-s.daemon.done
				return fmt.Errorf("the daemon did not start: %s", s.daemon.last)
			}
			if strings.Contains(line, "ready") {
				s.say("ready\n")
				return nil
			}
		case <-time.After(readyTimeout):
			return errors.Join(errors.New("the daemon is not ready"), s.stopDaemon(ctx))
		case <-ctx.Done():
			return errors.Join(ctx.Err(), s.stopDaemon(ctx))
		}
	}
}

// A child is the daemon that runs as a child process.
type child struct {
	cmd   *exec.Cmd
	lines chan string // lines of the daemon's output; closed when the output ends
	last  string      // the last line; valid after done is closed
	done  chan struct{}
	err   error // the result of Wait; valid after done is closed
}

// watch reads the daemon's output until it ends, and then waits for the daemon to exit.
func (d *child) watch(r io.Reader) {
	defer close(d.done)
	text := &lineBuffer{}
	buf := make([]byte, 4096)
	for {
		n, err := r.Read(buf)
		for _, line := range text.add(buf[:n]) {
			d.last = line
			select {
			case d.lines <- line:
			default: // the buffer is full because startDaemon no longer reads lines
			}
		}
		if err != nil {
			break
		}
	}
	close(d.lines)
	d.err = d.cmd.Wait()
}

// stopDaemon stops the daemon in at most three steps. The first interrupt lets a running
// turn finish, the second interrupt stops the turn, and the third step kills the daemon.
// If ctx is done, stopDaemon waits only 200 ms before the second step. It can be called
// several times.
func (s *stage) stopDaemon(ctx context.Context) error {
	if s.daemon == nil {
		return nil
	}
	d := s.daemon
	s.daemon = nil
	patience := 10 * time.Second
	if ctx.Err() != nil {
		patience = 200 * time.Millisecond
	}
	for _, step := range []struct {
		signal os.Signal
		wait   time.Duration
	}{{os.Interrupt, patience}, {os.Interrupt, 25 * time.Second}, {os.Kill, 5 * time.Second}} {
		if err := d.cmd.Process.Signal(step.signal); err != nil && !errors.Is(err, os.ErrProcessDone) {
			return fmt.Errorf("stop the daemon: %w", err)
		}
		select {
		case <-d.done:
			if d.err != nil {
				return fmt.Errorf("the daemon failed: %w: %s", d.err, d.last)
			}
			return nil
		case <-time.After(step.wait):
		}
	}
	return errors.New("the daemon could not be stopped")
}

// sendTask sends the task to coder and shows events until the answer arrives.
func (s *stage) sendTask(ctx context.Context) (id, answer string, err error) {
	s.command("claude-swarm send coder --file task.md --wait")
	s.say("%s\n\n", s.pal.paint(indent(strings.TrimSpace(demoTask), "  | "), color.Faint))
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	line := newTimeline(s)
	shown := make(chan struct{})
	watched, unwatch := context.WithCancel(ctx)
	go func() { // the code below waits for this goroutine
		defer close(shown)
		line.follow(watched)
	}()
	cmd := s.self(ctx, "send", "coder", "--file", "task.md", fmt.Sprintf("--wait=%s", demoLimit))
	cmd.Stderr = new(strings.Builder)
	out, err := cmd.Output()
	unwatch()
	<-shown
	line.look() // shows the events that occurred after the last call
	if err != nil {
		return "", "", fmt.Errorf("%w: %s%s", err, strings.TrimSpace(fmt.Sprint(cmd.Stderr)), line.failures())
	}
	id, answer, _ = strings.Cut(string(out), "\n")
	return id, strings.TrimSpace(answer), nil
}

// showChanges shows the changed files and runs the test that coder wrote.
func (s *stage) showChanges(ctx context.Context) error {
	s.command("git diff --stat")
	if _, err := s.git(ctx, "add", "-AN", "--", ".", ":!.dead-drop"); err != nil {
		return err
	}
	stat, err := s.git(ctx, "diff", "--stat")
	if err != nil {
		return err
	}
	s.say("%s\n", strings.TrimRight(stat, "\n"))
	s.command("sh test.sh")
	test := s.run(ctx, "sh", "test.sh")
	out, err := test.CombinedOutput()
	s.say("%s\n", strings.TrimSpace(string(out)))
	if err != nil {
		return fmt.Errorf("the test that coder wrote does not pass: %w", err)
	}
	return nil
}

// showReceipts shows the receipt of each turn and the cost of the demo.
func (s *stage) showReceipts(ctx context.Context) error {
	file, err := config.Load(s.path(config.Name))
	if err != nil {
		return err
	}
	p, err := (&project{dir: file.Dir, file: file, home: journal.HomeOf(file.Dir)}).openPost(ctx)
	if err != nil {
		return err
	}
	defer p.close()
	var t table
	total, unknown := 0.0, false
	for _, name := range file.Names() {
		h, err := view.HistoryOf(p.Client, name, time.Time{}, 0)
		if err != nil {
			return err
		}
		for _, turn := range h.Turns {
			r := turn.Receipt
			if r == nil {
				return fmt.Errorf("a turn of %s failed: %s", name, turn.Reason)
			}
			t.add("receipt", name, fmt.Sprintf("%.1f s", turn.Seconds), screen.Count(r.ToolCalls, "tool call"),
				screen.Thousands(r.Tokens.In+r.Tokens.CacheRead+r.Tokens.CacheWrite)+" tokens in, "+screen.Thousands(r.Tokens.Out)+" out", screen.Cost(r.CostUSD, r.CostUnknown))
		}
		total, unknown = total+h.CostUSD, unknown || h.CostUnknown > 0
	}
	if len(t.rows) < 2 {
		return fmt.Errorf("%s instead of two", screen.Count(len(t.rows), "turn"))
	}
	s.say("\n")
	t.write(s.out, nil)
	if s.live {
		s.say("\nDone in %s. %s\n", screen.Span(time.Since(s.began)), hasCost(total, unknown))
	} else {
		s.say("\nDone in %s. The costs are the client's estimate; nothing was paid.\n", screen.Span(time.Since(s.began)))
	}
	if s.keep {
		s.say("Everything is in %s\n", s.dir)
	}
	return nil
}

// lineBuffer splits a stream into lines.
type lineBuffer struct{ rest string }

func (b *lineBuffer) add(data []byte) []string {
	b.rest += string(data)
	var lines []string
	for {
		line, rest, ok := strings.Cut(b.rest, "\n")
		if !ok {
			return lines
		}
		lines, b.rest = append(lines, line), rest
	}
}

// hasCost returns a sentence about the cost of a demo with the real model.
func hasCost(usd float64, unknown bool) string {
	if unknown && usd == 0 {
		return "The client does not report its cost."
	}
	return "It has cost " + screen.Cost(usd, unknown) + ", according to the client's estimate."
}
