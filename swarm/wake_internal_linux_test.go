package swarm

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// BenchmarkWake measures the time from a rename(2) in another process until the goroutine
// waiting for it wakes up. The floor sub-benchmark reads raw inotify events, and the other
// one runs the code of an idle agent. The benchmark is inside the package, because code
// outside the package can observe an agent only after it has checked its mail, not when it
// wakes up.
//
// The measurement starts right before the rename and uses the machine's clock, which both
// processes share. p50-ns and p99-ns cover the renames of one run. Between the renames
// there are pauses during which both processes go to sleep.
func BenchmarkWake(b *testing.B) {
	if os.Getenv(renamerVar) != "" {
		renamer()
	}
	b.Run("floor", func(b *testing.B) {
		dir := b.ArtifactDir()
		for _, folder := range []string{"tmp", "new"} {
			if err := os.Mkdir(filepath.Join(dir, folder), 0o700); err != nil {
				b.Fatal(err)
			}
		}
		fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
		if err != nil {
			b.Fatal(err)
		}
		f := os.NewFile(uintptr(fd), "inotify")
		defer f.Close()
		if _, err := unix.InotifyAddWatch(fd, filepath.Join(dir, "new"), unix.IN_MOVED_TO); err != nil {
			b.Fatal(err)
		}
		woken := make(chan int64)
		go func() { // ends when f is closed
			buf := make([]byte, 4096)
			for {
				if _, err := f.Read(buf); err != nil {
					return
				}
				woken <- monotonic()
			}
		}()
		wakes(b, dir, woken)
	})
	b.Run("ours", func(b *testing.B) {
		project := b.ArtifactDir()
		box := filepath.Join(project, ".dead-drop")
		if err := dropbox.Create(box); err != nil {
			b.Fatal(err)
		}
		store, err := dropbox.Open(box, dropbox.Options{})
		if err != nil {
			b.Fatal(err)
		}
		defer store.Close()
		s, err := New(Options{Project: project, Store: store, Plan: Plan{Agents: []Spec{{Name: "coder"}}},
			Backends: map[string]runner.Backend{"scripted": &runnertest.Scripted{}}})
		if err != nil {
			b.Fatal(err)
		}
		watcher, err := store.Watch(s.changed)
		if err != nil {
			b.Fatal(err)
		}
		ctx, cancel := context.WithCancel(b.Context())
		woken := make(chan int64)
		go func() { // runs the code of an idle agent, and ends when ctx is done
			for a := s.agents["coder"]; ; {
				a.wakeup.wait(ctx, forever)
				if ctx.Err() != nil {
					close(woken)
					return
				}
				woken <- monotonic()
			}
		}()
		wakes(b, filepath.Join(box, "coder"), woken)
		cancel()
		<-woken
		if err := watcher.Close(); err != nil {
			b.Fatal(err)
		}
	})
}

// If the variable renamerVar is set, the test binary acts as the process that renames.
// The value is the folder in which the process moves files from tmp/ to new/.
const renamerVar = "SWARM_BENCH_RENAMER"

// wakes makes another process rename files, and collects the times.
func wakes(b *testing.B, dir string, woken <-chan int64) {
	orders, give, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	take, answers, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^$", "-test.bench=^BenchmarkWake$", "-test.benchtime=1x")
	cmd.Env = append(os.Environ(), renamerVar+"="+dir)
	cmd.ExtraFiles = []*os.File{orders, answers}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	orders.Close()
	answers.Close()

	var at []int64
	n := 0
	for b.Loop() {
		name := fmt.Sprintf("1-20261121T045102.%06dZ-k7f3q9m2xd.md", n)
		if err := os.WriteFile(filepath.Join(dir, "tmp", name), []byte("---\nv: 1\n---\nhello\n"), 0o600); err != nil {
			b.Fatal(err)
		}
		time.Sleep(300 * time.Microsecond) // gives both processes time to go to sleep, so that the benchmark measures a wakeup from sleep
		if _, err := fmt.Fprintln(give, name); err != nil {
			b.Fatal(err)
		}
		at = append(at, <-woken)
		n++
	}
	give.Close()
	began := make([]int64, n)
	if err := binary.Read(bufio.NewReader(take), binary.NativeEndian, began); err != nil {
		b.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		b.Fatal(err)
	}
	for i := range at {
		at[i] -= began[i]
	}
	slices.Sort(at)
	b.ReportMetric(float64(at[n/2]), "p50-ns")
	b.ReportMetric(float64(at[n*99/100]), "p99-ns")
	b.ReportMetric(0, "ns/op") // not reported, because ns/op would include the pauses
}

// renamer renames the files whose names arrive on descriptor 3. After the last name, it
// writes all times to descriptor 4.
func renamer() {
	dir := os.Getenv(renamerVar)
	orders, answers := os.NewFile(3, "orders"), os.NewFile(4, "answers")
	var began []int64
	for sc := bufio.NewScanner(orders); sc.Scan(); {
		from, to := filepath.Join(dir, "tmp", sc.Text()), filepath.Join(dir, "new", sc.Text())
		at := monotonic()
		if err := os.Rename(from, to); err != nil {
			fmt.Fprintln(os.Stderr, strconv.Quote(err.Error()))
			os.Exit(1)
		}
		began = append(began, at)
	}
	if err := binary.Write(answers, binary.NativeEndian, began); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// monotonic returns the time since the machine started, in ns.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		panic(err)
	}
	return t.Nano()
}
