package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// BenchmarkTurn reports what one turn costs the daemon of a swarm with one agent, without IRC
// and webhooks. The client is testdata/bench/client, and each turn starts one.
//
// The variant processor reports the processor time of the daemon's process for each turn.
// The variant calls runs the daemon below strace, and counts its system calls for each turn:
// syncs of files and folders, renames, and opened files. It is skipped without strace. The
// variable BENCH_TRACE names a file for the trace, which names the files.
func BenchmarkTurn(b *testing.B) {
	b.Run("processor", func(b *testing.B) {
		p, store := newTurns(b)
		pid := p.start()
		defer p.stop()
		settledTurn(b, store) // the first turn also does the work of a first start
		before := processorTime(b, pid)
		turns := 0
		for b.Loop() {
			settledTurn(b, store)
			turns++
		}
		b.ReportMetric((processorTime(b, pid)-before)/float64(turns), "cpu-ns")
		b.ReportMetric(0, "ns/op")
	})
	b.Run("calls", func(b *testing.B) {
		strace := need.Program(b, "strace")
		p, store := newTurns(b)
		trace := filepath.Join(b.TempDir(), "trace")
		pid, end := p.startBelow(strace, "-f", "-y", "-qq", "-e", "signal=none",
			"-e", "trace=fsync,fdatasync,open,openat,openat2,rename,renameat,renameat2", "-o", trace)
		defer end()
		settledTurn(b, store)
		from := size(b, trace)
		turns := 0
		for b.Loop() {
			settledTurn(b, store)
			turns++
		}
		threads, err := filepath.Glob(fmt.Sprintf("/proc/%d/task/*", pid))
		if err != nil || len(threads) == 0 {
			b.Fatalf("threads of %d: %v, %v", pid, threads, err)
		}
		data, err := os.ReadFile(trace)
		if err != nil {
			b.Fatal(err)
		}
		counts := callsOf(data[from:], threads)
		if keep := os.Getenv("BENCH_TRACE"); keep != "" {
			if err := os.WriteFile(keep, data[from:], 0o600); err != nil {
				b.Fatal(err)
			}
		}
		for unit, names := range map[string][]string{
			"syncs": {"fsync", "fdatasync"}, "opens": {"open", "openat", "openat2"}, "renames": {"rename", "renameat", "renameat2"},
		} {
			n := 0
			for _, name := range names {
				n += counts[name]
			}
			b.ReportMetric(float64(n)/float64(turns), unit)
		}
		b.ReportMetric(0, "ns/op")
	})
}

// newTurns creates a project whose agent is agent0, with the stand-in client.
func newTurns(b *testing.B) (*place, *dropbox.Store) {
	b.Helper()
	stamps := newStamps(b) // the client writes to the pipe, which nobody has to read
	p := newPlace(b, 1, stamps.env())
	return p, openBench(b, p.dir, "agent0")
}

// settledTurn delivers a message, and waits until its turn has ended and the daemon is idle.
func settledTurn(b *testing.B, store *dropbox.Store) {
	b.Helper()
	if _, err := store.Deliver("agent0", &dropbox.Message{Body: []byte("Do nothing.\n")}); err != nil {
		b.Fatal(err)
	}
	for busy(filepath.Join(store.Dir(), "agent0")) {
		time.Sleep(time.Millisecond)
	}
	time.Sleep(50 * time.Millisecond) // the listeners hear of the end after the message is filed
}

// startBelow starts the daemon below a program that traces it, and returns the daemon's
// process id. end stops the daemon and waits for the program.
func (p *place) startBelow(program string, args ...string) (pid int, end func()) {
	p.b.Helper()
	start := p.command("start")
	cmd := exec.Command(program, append(args, start.Args...)...)
	cmd.Dir, cmd.Env = start.Dir, start.Env
	var problems bytes.Buffer
	cmd.Stderr = &problems
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		p.b.Fatal(err)
	}
	said := bufio.NewScanner(out)
	for pid == 0 && said.Scan() {
		if found := regexp.MustCompile(`pid (\d+)`).FindStringSubmatch(said.Text()); found != nil {
			pid, _ = strconv.Atoi(found[1])
		}
	}
	if pid == 0 {
		p.b.Fatalf("start prints no pid: %v\n%s", errors.Join(said.Err(), cmd.Wait()), &problems)
	}
	return pid, func() {
		p.stop()
		_, err := io.Copy(io.Discard, out)
		if err := errors.Join(err, cmd.Wait()); err != nil {
			p.b.Errorf("%v\n%s", err, &problems)
		}
	}
}

// processorTime returns the processor time that a process has used, in ns. The kernel adds it
// up exactly, and shows it in hundredths of a second.
func processorTime(b *testing.B, pid int) float64 {
	b.Helper()
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	const user, system = 11, 12 // counted from the field after the name, which ends with a bracket
	fields := strings.Fields(string(data[bytes.LastIndexByte(data, ')')+1:]))
	ticks := 0.0
	for _, at := range []int{user, system} {
		n, err := strconv.ParseFloat(fields[at], 64)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return ticks * 1e7
}

// callsOf counts the calls in the output of strace that the given threads made, by name.
// threads are paths that end with a thread's id. Files of the system do not count: at the end
// of a turn, the daemon looks at every process of the machine.
func callsOf(trace []byte, threads []string) map[string]int {
	ours := map[string]bool{}
	for _, path := range threads {
		ours[filepath.Base(path)] = true
	}
	counts := map[string]int{}
	for line := range strings.Lines(string(trace)) {
		thread, call, _ := strings.Cut(strings.TrimSpace(line), " ")
		name, _, began := strings.Cut(strings.TrimSpace(call), "(")
		if ours[thread] && began && !strings.Contains(call, `"/proc`) && !strings.Contains(call, `"/sys`) {
			counts[name]++
		}
	}
	return counts
}

func size(b *testing.B, path string) int64 {
	b.Helper()
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}
