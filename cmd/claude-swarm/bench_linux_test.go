package main

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The benchmarks in this package measure the program as it is shipped, and run it in separate
// processes. The baselines (the simplest possible programs) and the client are in
// testdata/bench. If SWARM_BENCH_BIN names a folder, the benchmarks build nothing and use the
// programs in that folder. A build leaves many files behind, and deleting them would slow
// down the next program that creates files.

// shipped returns the path of the program to measure.
func shipped(b *testing.B) string {
	b.Helper()
	if dir := os.Getenv("SWARM_BENCH_BIN"); dir != "" {
		return filepath.Join(dir, "claude-swarm")
	}
	if out, err := exec.Command("make", "-s", "-C", "../..", "build").CombinedOutput(); err != nil {
		b.Fatalf("make build: %v\n%s", err, out)
	}
	path, err := filepath.Abs("../../bin/claude-swarm")
	if err != nil {
		b.Fatal(err)
	}
	return path
}

// small builds one of the programs in testdata/bench with the same build options as
// claude-swarm.
func small(b *testing.B, name string) string {
	b.Helper()
	if dir := os.Getenv("SWARM_BENCH_BIN"); dir != "" {
		return filepath.Join(dir, name)
	}
	path := filepath.Join(b.TempDir(), name)
	cmd := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", path, "./testdata/bench/"+name)
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		b.Fatalf("go build %s: %v\n%s", name, err, out)
	}
	return path
}

// A place is a project with its own HOME and XDG_RUNTIME_DIR, for the files that the
// program keeps outside the project.
type place struct {
	b       *testing.B
	program string
	dir     string
	env     []string
}

// newPlace creates a project with the given number of agents. Their client is
// testdata/bench/client, the smallest client that the daemon accepts.
func newPlace(b *testing.B, agents int, env ...string) *place {
	b.Helper()
	return newPlaceOf(b, b.ArtifactDir(), agents, small(b, "client"), env...)
}

func newPlaceOf(b *testing.B, dir string, agents int, client string, env ...string) *place {
	b.Helper()
	return newPlaceOfKind(b, dir, agents, "claude", client, env...)
}

func newPlaceOfKind(b *testing.B, dir string, agents int, backend, client string, env ...string) *place {
	b.Helper()
	runtime, err := os.MkdirTemp("", "cs") // the path of a socket is limited to about 100 bytes
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { os.RemoveAll(runtime) })
	p := &place{b: b, program: shipped(b), dir: dir}
	p.env = append(withoutMarks(os.Environ()), append(env, "HOME="+runtime, "XDG_RUNTIME_DIR="+runtime, "PWD="+dir)...)
	var config bytes.Buffer
	fmt.Fprintf(&config, "defaults:\n  backend: %s\n  command: [%q]\n  mcp: false\npolicy: {turns_per_hour: 0}\nagents:\n", backend, client)
	for i := range agents {
		fmt.Fprintf(&config, "  agent%d:\n    role: worker %d\n", i, i)
	}
	if err := errors.Join(os.MkdirAll(dir, 0o700), os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), config.Bytes(), 0o600)); err != nil {
		b.Fatal(err)
	}
	return p
}

func (p *place) command(args ...string) *exec.Cmd {
	cmd := exec.Command(p.program, args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	return cmd
}

// start starts the daemon and returns its process id. The caller must stop the daemon.
func (p *place) start() int {
	p.b.Helper()
	out, err := p.command("start").CombinedOutput()
	if err != nil {
		p.b.Fatalf("start: %v\n%s", err, out)
	}
	pid := regexp.MustCompile(`pid (\d+)`).FindSubmatch(out)
	if pid == nil {
		p.b.Fatalf("start prints no pid: %.200s", out)
	}
	n, err := strconv.Atoi(string(pid[1]))
	if err != nil {
		p.b.Fatal(err)
	}
	return n
}

func (p *place) stop() {
	p.b.Helper()
	if out, err := p.command("stop").CombinedOutput(); err != nil {
		p.b.Errorf("stop: %v\n%s", err, out)
	}
}

// medianOf reports the median of the times, because other load on the machine would distort
// a mean.
func medianOf(b *testing.B, times []time.Duration) {
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2]), "p50-ns")
}

// BenchmarkSend reports how long a process runs, from the fork until its exit status is
// available. It measures a program that does nothing, and `send`, which reads the
// configuration and exits when the message is durable.
func BenchmarkSend(b *testing.B) {
	var p *place
	for _, variant := range []struct {
		name    string
		command func() *exec.Cmd
		setUp   func(*testing.B)
	}{
		{"floor", func() *exec.Cmd { return exec.Command(p.program) }, func(b *testing.B) { p = &place{program: small(b, "empty")} }},
		{"ours", func() *exec.Cmd { return p.command("send", "agent0", "hello there") }, func(b *testing.B) {
			p = newPlace(b, 1)
			if err := dropbox.Create(filepath.Join(p.dir, ".dead-drop")); err != nil {
				b.Fatal(err)
			}
			if out, err := p.command("send", "agent0", "makes the token").CombinedOutput(); err != nil {
				b.Fatalf("%v\n%s", err, out)
			}
		}},
	} {
		b.Run(variant.name, func(b *testing.B) {
			variant.setUp(b)
			var times []time.Duration
			b.ResetTimer()
			for b.Loop() {
				cmd := variant.command()
				began := time.Now()
				if err := cmd.Run(); err != nil {
					b.Fatal(err)
				}
				times = append(times, time.Since(began))
			}
			medianOf(b, times)
		})
	}
}

// BenchmarkSendToStart reports the time from an acknowledged delivery to the first
// instruction of the client. It measures a minimal daemon and ours; each is idle before
// the delivery.
func BenchmarkSendToStart(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		dir, client, least := b.ArtifactDir(), small(b, "client"), small(b, "least")
		store := openBench(b, dir, "agent0")
		stamps := newStamps(b)
		cmd := exec.Command(least, filepath.Join(store.Dir(), "agent0"), client)
		cmd.Env = append(os.Environ(), stamps.env())
		out, err := cmd.StdoutPipe()
		if err != nil {
			b.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			b.Fatal(err)
		}
		defer cmd.Wait()
		defer cmd.Process.Kill()
		if _, err := out.Read(make([]byte, 16)); err != nil {
			b.Fatal("the daemon did not say that it is ready: ", err)
		}
		sendToStart(b, store, stamps)
	})
	b.Run("ours", func(b *testing.B) {
		stamps := newStamps(b)
		p := newPlace(b, 1, stamps.env())
		store := openBench(b, p.dir, "agent0")
		p.start()
		defer p.stop()
		sendToStart(b, store, stamps)
	})
}

// BenchmarkSendToReplay reports the time from an acknowledged delivery to the line in
// which the client repeats the prompt. In the cold case, the daemon starts a client for
// the message. In the warm case, the client of the previous turn is still running
// (linger). The benchmark's client starts immediately, whereas a real client needs half a
// second.
func BenchmarkSendToReplay(b *testing.B) {
	for name, linger := range map[string]string{"cold": "0s", "warm": "10m"} {
		b.Run("ours/"+name, func(b *testing.B) {
			stamps := newStamps(b)
			p := newPlace(b, 1, stamps.env(), "BENCH_STAMP=replay")
			config := filepath.Join(p.dir, "claude-swarm.yaml")
			text, err := os.ReadFile(config)
			if err != nil {
				b.Fatal(err)
			}
			text = bytes.Replace(text, []byte("defaults:\n"), []byte("defaults:\n  linger: "+linger+"\n"), 1)
			if err := os.WriteFile(config, text, 0o600); err != nil {
				b.Fatal(err)
			}
			store := openBench(b, p.dir, "agent0")
			p.start()
			defer p.stop()
			sendToStart(b, store, stamps)
		})
	}
}

func openBench(b *testing.B, dir, agent string) *dropbox.Store {
	b.Helper()
	box := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		b.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	if err := store.MakeMailbox(agent); err != nil {
		b.Fatal(err)
	}
	return store
}

// stamps is the named pipe to which a client writes the time at which it started or
// replayed a prompt.
type stamps struct {
	path string
	fifo *os.File
}

func newStamps(b *testing.B) *stamps {
	b.Helper()
	path := filepath.Join(b.TempDir(), "stamps")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		b.Fatal(err)
	}
	fifo, err := os.OpenFile(path, os.O_RDWR, 0) // opening the pipe only for reading would block until a writer opens it
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { fifo.Close() })
	return &stamps{path, fifo}
}

func (s *stamps) env() string { return "BENCH_STAMPS=" + s.path }

// next waits until a client writes a time, and returns that time in ns of CLOCK_MONOTONIC.
func (s *stamps) next(b *testing.B) int64 {
	b.Helper()
	buf := make([]byte, 64)
	if err := s.fifo.SetReadDeadline(time.Now().Add(10 * time.Second)); err != nil {
		b.Fatal(err)
	}
	n, err := s.fifo.Read(buf)
	if err != nil {
		b.Fatal("the client was not started: ", err)
	}
	at, err := strconv.ParseInt(strings.TrimSpace(string(buf[:n])), 10, 64)
	if err != nil {
		b.Fatal(err)
	}
	return at
}

func sendToStart(b *testing.B, store *dropbox.Store, stamps *stamps) {
	var times []time.Duration
	for b.Loop() {
		_, err := store.Deliver("agent0", &dropbox.Message{Body: []byte("Do nothing.\n")})
		var t unix.Timespec
		if err := errors.Join(err, unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)); err != nil {
			b.Fatal(err)
		}
		times = append(times, time.Duration(stamps.next(b)-t.Nano()))
		for busy(filepath.Join(store.Dir(), "agent0")) {
			time.Sleep(time.Millisecond)
		}
		time.Sleep(3 * time.Millisecond) // otherwise the daemon's work after the turn could delay the next start
	}
	medianOf(b, times)
	b.ReportMetric(0, "ns/op") // hides ns/op, which would include the pauses
}

// busy reports whether a mailbox has a message in new/ or cur/, or cannot be read.
func busy(mailbox string) bool {
	for _, folder := range []string{"new", "cur"} {
		if left, err := os.ReadDir(filepath.Join(mailbox, folder)); len(left) > 0 || err != nil {
			return true
		}
	}
	return false
}

// BenchmarkStart reports how long `start` takes until 5,000 agents are ready. new-ns includes
// the creation of their mailboxes; again-ns is the time if the mailboxes already exist.
func BenchmarkStart(b *testing.B) {
	b.Run("ours", func(b *testing.B) {
		var times [2]time.Duration
		for i := range b.N {
			p := newPlaceOf(b, filepath.Join(b.ArtifactDir(), strconv.Itoa(i)), 5000, small(b, "client"))
			for j := range times {
				syscall.Sync()
				began := time.Now()
				p.start()
				times[j] += time.Since(began)
				p.stop()
			}
		}
		b.ReportMetric(float64(times[0].Nanoseconds())/float64(b.N), "new-ns")
		b.ReportMetric(float64(times[1].Nanoseconds())/float64(b.N), "again-ns")
		b.ReportMetric(0, "ns/op")
	})
}

// quiet is how long an idle daemon is measured. It is shorter than the 30 s between two
// scans of the mailbox folders.
const quiet = 20 * time.Second

// BenchmarkIdle measures two idle daemons: one with a single agent and one with 1,000
// agents. MiB is the memory of the first daemon. KiB/agent is the memory for each
// additional agent. switches/s-… is the number of times per second that the threads of a
// daemon block and are woken.
func BenchmarkIdle(b *testing.B) {
	client := small(b, "client")
	b.Run("ours", func(b *testing.B) {
		dir := b.ArtifactDir()
		sizes := []int{1, 1000}
		for range b.N {
			var pids []int
			for _, n := range sizes {
				p := newPlaceOf(b, filepath.Join(dir, strconv.Itoa(n)), n, client)
				pids = append(pids, p.start())
				defer p.stop()
			}
			time.Sleep(2 * time.Second) // wait for the startup work to finish
			var memory, before, after []float64
			for _, pid := range pids {
				before = append(before, switches(b, pid))
			}
			time.Sleep(quiet)
			for _, pid := range pids {
				after = append(after, switches(b, pid))
				memory = append(memory, field(b, fmt.Sprintf("/proc/%d/status", pid), "VmRSS:"))
			}
			b.ReportMetric(memory[0]/1024, "MiB")
			b.ReportMetric((memory[1]-memory[0])/float64(sizes[1]-sizes[0]), "KiB/agent")
			for i, n := range sizes {
				b.ReportMetric((after[i]-before[i])/quiet.Seconds(), fmt.Sprintf("switches/s-%d", n))
			}
		}
		b.ReportMetric(0, "ns/op")
	})
}

// BenchmarkIdleACP reports the memory of a daemon with 50 agents whose clients speak the
// Agent Client Protocol and have not run a turn yet.
func BenchmarkIdleACP(b *testing.B) {
	client := small(b, "client")
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			p := newPlaceOfKind(b, filepath.Join(b.ArtifactDir(), "acp"), 50, "acp", client)
			pid := p.start()
			time.Sleep(2 * time.Second) // wait for the startup work to finish
			b.ReportMetric(field(b, fmt.Sprintf("/proc/%d/status", pid), "VmRSS:")/1024, "MiB")
			p.stop()
		}
		b.ReportMetric(0, "ns/op")
	})
}

// switches returns the total number of voluntary context switches of all threads of a
// process.
func switches(b *testing.B, pid int) float64 {
	b.Helper()
	threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/status", pid))
	if err != nil || len(threads) == 0 {
		b.Fatalf("threads of %d: %v, %v", pid, threads, err)
	}
	all := 0.0
	for _, path := range threads {
		all += field(b, path, "voluntary_ctxt_switches:")
	}
	return all
}

// field reads a number from a file in /proc. If the file does not exist, because the thread
// has just exited, field returns 0.
func field(b *testing.B, path, name string) float64 {
	b.Helper()
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	} else if err != nil {
		b.Fatal(err)
	}
	for line := range strings.Lines(string(data)) {
		if value, ok := strings.CutPrefix(line, name); ok {
			n, err := strconv.ParseFloat(strings.Fields(value)[0], 64)
			if err != nil {
				b.Fatal(err)
			}
			return n
		}
	}
	b.Fatalf("%s has no %s", path, name)
	return 0
}
