package examples_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// patience is the maximum duration of one command; a command normally takes a few
// milliseconds.
const patience = 60 * time.Second

// built is a folder with the real program and the stand-ins: claude, and acp for the clients in
// [others]. It is created once.
var built = sync.OnceValues(func() (string, error) {
	if err := noteSources(); err != nil {
		return "", err
	}
	bin, err := os.MkdirTemp("", "cs-bin")
	if err != nil {
		return "", err
	}
	out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", bin+"/", "../cmd/...", "../internal/testkit/standin/claude", "../internal/testkit/acpstandin/acp").CombinedOutput()
	if err != nil {
		return bin, fmt.Errorf("go build: %w\n%s", err, out)
	}
	for program := range others {
		if err := playOther(filepath.Join(bin, "others"), bin, program); err != nil {
			return bin, err
		}
	}
	return bin, nil
})

// others are the programs of clients that speak the Agent Client Protocol, with their backends.
var others = map[string]string{"codex-acp": "codex", "gemini": "gemini", "opencode": "opencode", "copilot": "copilot"}

// playOther puts a program into a folder. The stand-in in bin imitates that program.
func playOther(folder, bin, program string) error {
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("#!/bin/sh\nACPSTANDIN=%s exec %s/acp \"$@\"\n", others[program], bin)
	return execfile.Write(filepath.Join(folder, program), []byte(text))
}

// linkPrograms puts links to the system's programs into a folder, except for the excluded
// ones.
func linkPrograms(folder string, without []string) error {
	for _, dir := range []string{"/usr/bin", "/bin"} {
		programs, err := os.ReadDir(dir)
		if err != nil {
			return err
		}
		for _, p := range programs {
			if slices.Contains(without, p.Name()) {
				continue
			}
			err := os.Symlink(filepath.Join(dir, p.Name()), filepath.Join(folder, p.Name()))
			if err != nil && !errors.Is(err, fs.ErrExist) {
				return err
			}
		}
	}
	return nil
}

// noteSources reads the folders of the program's source, so that the go command drops its
// cached result of this test when one of them has changed.
func noteSources() error {
	for _, dir := range []string{"cmd", "dropbox", "internal", "ircbridge", "streamjson", "swarm", "window"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return fmt.Errorf("look at the sources: %w", err)
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	if bin, _ := built(); bin != "" {
		os.RemoveAll(bin)
	}
	os.Exit(code)
}

// A swarm is a copy of an example with a separate home folder. The path of its folder is
// short because it is part of the path of the daemon's socket.
type swarm struct {
	t   *testing.T
	dir string
	env []string
}

func copyExample(t *testing.T, name string) *swarm {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	top, err := os.MkdirTemp("", "cs")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(top) })
	s := &swarm{t: t, dir: filepath.Join(top, name)}
	for _, dir := range []string{"home", "run"} {
		if err := os.Mkdir(filepath.Join(top, dir), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	s.env = []string{
		"PATH=" + strings.Join([]string{bin, filepath.Join(bin, "others"), os.Getenv("PATH")}, string(os.PathListSeparator)),
		"HOME=" + filepath.Join(top, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(top, "run"), "TZ=UTC",
	}
	if name == "sandbox" {
		s.env[0] = "PATH=" + need.Bubblewrap(t) + string(os.PathListSeparator) + strings.TrimPrefix(s.env[0], "PATH=")
	}
	if err := os.CopyFS(s.dir, os.DirFS(name)); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		// A daemon is still running only if the test has failed.
		stop := s.command(context.Background(), "stop", "--now")
		_ = stop.Run()
	})
	return s
}

func (s *swarm) command(ctx context.Context, args ...string) *exec.Cmd {
	bin, _ := built()
	cmd := exec.CommandContext(ctx, filepath.Join(bin, "claude-swarm"), args...)
	cmd.Dir, cmd.Env = s.dir, s.env
	return cmd
}

// run runs a verb, which must succeed, and returns what it prints.
func (s *swarm) run(args ...string) string {
	s.t.Helper()
	return s.ends(0, args...)
}

// ends runs a verb, which must end with an exit status, and returns what it prints.
func (s *swarm) ends(status int, args ...string) string {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	var stderr bytes.Buffer
	cmd := s.command(ctx, args...)
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != status {
		s.t.Fatalf("claude-swarm %q: %v\n%s%s", args, err, out, stderr.String())
	}
	return string(out)
}

// quiet fails the test if a mailbox still contains an unfinished, waiting, claimed or dead
// message, or if a socket still exists.
func (s *swarm) quiet(agents []string) {
	s.t.Helper()
	for _, agent := range append(slices.Clone(agents), dropbox.Lead) {
		for _, folder := range []string{"tmp", "new", "cur", "dead"} {
			entries, err := os.ReadDir(filepath.Join(s.dir, ".dead-drop", agent, folder))
			if err != nil {
				s.t.Error(err)
			}
			for _, e := range entries {
				s.t.Errorf("left in %s/%s: %s", agent, folder, e.Name())
			}
		}
	}
	_ = filepath.WalkDir(filepath.Dir(s.dir), func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type()&fs.ModeSocket != 0 {
			s.t.Errorf("left: the socket %s", path)
		}
		return nil
	})
}

// Each example is a swarm that starts unchanged: every agent does one task and sends its
// answer.
func TestProjectsStart(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, agents := range projects {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := copyExample(t, name)
			s.run("init")
			if got, want := s.run("start"), "agents "+strings.Join(agents, " ")+"\n"; !strings.HasSuffix(got, want) {
				t.Errorf("start prints %q, want it to end with %q", got, want)
			}
			for _, agent := range agents {
				out := s.run("send", agent, "Say hello", "--wait=30s")
				id, answer, _ := strings.Cut(out, "\n")
				if want := "Done: Say hello"; !strings.Contains(answer, want) {
					t.Errorf("send %s --wait prints %q after %s, want %q", agent, answer, id, want)
				}
			}
			if got := s.run("stop"); got != "stopped\n" {
				t.Errorf("stop prints %q", got)
			}
			s.quiet(agents)
		})
	}
}

// A file that is copied into a mailbox is handled like any other message.
func TestSoloTakesAFile(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := copyExample(t, "solo")
	s.run("init")
	if err := os.WriteFile(filepath.Join(s.dir, ".dead-drop/coder/task.md"), []byte("Say hello\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s.run("start")
	deadline := time.Now().Add(patience)
	for !strings.Contains(s.run("inbox", "--json"), `"unread"`) {
		if time.Now().After(deadline) {
			t.Fatalf("no answer to a dropped file within %v", patience)
		}
		time.Sleep(50 * time.Millisecond)
	}
	if out := s.run("history", "coder"); !strings.Contains(out, "Say hello") {
		t.Errorf("history prints %q, want the dropped task", out)
	}
	s.run("stop")
}

// The units start the daemon in the foreground, make it reread the configuration with
// SIGHUP, and stop it with SIGTERM. After a clean stop the exit status is 0.
func TestForegroundAsTheUnitsRunIt(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := copyExample(t, "solo")
	s.run("init")
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := s.command(ctx, "start", "--foreground")
	stderr, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said bytes.Buffer
	seen := func(what string) {
		t.Helper()
		buf := make([]byte, 4096)
		for !strings.Contains(said.String(), what) {
			n, err := stderr.Read(buf)
			said.Write(buf[:n])
			if err != nil {
				t.Fatalf("the daemon ended before it said %q:\n%s", what, said.String())
			}
		}
	}
	seen("ready")
	if err := cmd.Process.Signal(syscall.SIGHUP); err != nil {
		t.Fatal(err)
	}
	seen("configuration was reloaded")
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	seen("daemon stopped")
	if err := cmd.Wait(); err != nil {
		t.Errorf("the daemon ended with %v:\n%s", err, said.String())
	}
	s.quiet([]string{"coder"})
}

// The mixed swarm starts with the clients that are installed, and reports which clients
// are missing. Mail to an agent whose program is missing waits; the other agents keep
// working.
func TestMixedStartsWithWhatIsInstalled(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes seconds")
	}
	s := copyExample(t, "mixed")
	bin, _ := built()
	few := filepath.Join(filepath.Dir(s.dir), "few")
	if err := playOther(few, bin, "codex-acp"); err != nil {
		t.Fatal(err)
	}
	absent := []string{"gemini", "opencode", "copilot"}
	if err := linkPrograms(few, absent); err != nil {
		t.Fatal(err)
	}
	s.env[0] = "PATH=" + few // the daemon adds claude-swarm's folder, which also contains claude
	s.run("init")
	var said bytes.Buffer
	cmd := s.command(t.Context(), "start")
	cmd.Stderr = &said
	if err := cmd.Run(); err != nil {
		t.Fatalf("start: %v\n%s", err, said.String())
	}
	for _, want := range []string{
		"reviewer cannot work: gemini is not on the PATH\n  try: npm install -g @google/gemini-cli",
		"tester cannot work: opencode is not on the PATH\n  try: npm install -g opencode-ai",
		"docs cannot work: copilot is not on the PATH\n  try: npm install -g @github/copilot",
	} {
		if !strings.Contains(said.String(), want) {
			t.Errorf("start does not say %q:\n%s", want, said.String())
		}
	}
	if strings.Contains(said.String(), "coder") || strings.Contains(said.String(), "planner") {
		t.Errorf("start warns about an agent that can work:\n%s", said.String())
	}
	s.run("send", "reviewer", "Look at it")
	for _, agent := range []string{"planner", "coder"} {
		if out := s.run("send", agent, "Say hello", "--wait=30s"); !strings.Contains(out, "Done: Say hello") {
			t.Errorf("%s answers %q", agent, out)
		}
	}
	for deadline := time.Now().Add(patience); !strings.Contains(s.run("status"), "gemini"); time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("status does not name the program that is missing:\n%s", s.run("status"))
		}
	}
	if entries, err := os.ReadDir(filepath.Join(s.dir, ".dead-drop/reviewer/new")); err != nil || len(entries) != 1 {
		t.Errorf("%d messages of reviewer wait (%v), want 1", len(entries), err)
	}
	s.run("stop")
}
