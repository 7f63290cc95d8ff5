package swarm_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// fill writes n small messages into a mailbox as files, without the steps of a delivery.
func fill(b *testing.B, newFolder string, n int) {
	b.Helper()
	for i := range n {
		id := dropbox.NewID()
		name := fmt.Sprintf("1-20261121T%02d%02d%02d.000000Z-%s.md", i/3600%24, i/60%60, i%60, id)
		data := fmt.Sprintf("---\nv: 1\nid: %s\nfrom: lead\n---\nmessage %d\n", id, i)
		if err := os.WriteFile(filepath.Join(newFolder, name), []byte(data), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// some is the number of messages that one measurement handles.
const some = 200

// BenchmarkBacklog starts a daemon on a mailbox with many messages. first-ns is the time
// from the daemon's start to the beginning of the first turn. ns/op is the average time for
// each of the first 200 messages, including its client's run, in which the client says one
// word. ns/op grows with the backlog if handling a message requires a scan of all the
// others. The floor sub-benchmark only lists the folder once.
func BenchmarkBacklog(b *testing.B) {
	b.Run("floor/10000", func(b *testing.B) {
		dir := b.ArtifactDir()
		fill(b, dir, 10_000)
		syscall.Sync()
		for b.Loop() {
			d, err := os.Open(dir)
			if err != nil {
				b.Fatal(err)
			}
			if names, err := d.Readdirnames(-1); err != nil || len(names) != 10_000 {
				b.Fatal(len(names), err)
			}
			d.Close()
		}
	})
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("ours/%d", n), func(b *testing.B) {
			var first, each time.Duration
			for b.Loop() {
				dir := filepath.Join(b.ArtifactDir(), dropbox.NewID())
				one, all := workOff(b, dir, n)
				first += one
				each += all / some
			}
			b.ReportMetric(float64(first.Nanoseconds())/float64(b.N), "first-ns")
			b.ReportMetric(float64(each.Nanoseconds())/float64(b.N), "ns/op")
		})
	}
}

// workOff creates a project with n messages for one agent, and starts a daemon that handles
// some of them.
func workOff(b *testing.B, dir string, n int) (first, all time.Duration) {
	box := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		b.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{MaxWaiting: 2 * n})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	if err := store.MakeMailbox("coder"); err != nil {
		b.Fatal(err)
	}
	fill(b, filepath.Join(box, "coder/new"), n)

	var turns atomic.Int64
	var began time.Time
	enough := make(chan struct{})
	backend := &runnertest.Scripted{Script: func(runner.Turn) []runnertest.Step {
		switch turns.Add(1) {
		case 1:
			first = time.Since(began)
		case some:
			close(enough)
		}
		return []runnertest.Step{runnertest.Say("done")}
	}}
	stop, cancel := context.WithCancel(b.Context())
	defer cancel()
	syscall.Sync()
	began = time.Now()
	coder := swarm.Spec{Name: "coder"}
	coder.Client.Dir = dir
	s, err := swarm.New(swarm.Options{
		Project: dir, Store: store, Backends: map[string]runner.Backend{"claude": backend},
		Plan: swarm.Plan{Agents: []swarm.Spec{coder}},
	})
	if err != nil {
		b.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(stop, context.WithoutCancel(stop)); err != nil {
			b.Error(err)
		}
	})
	<-enough
	cancel() // no turn begins after the running one
	wg.Wait()
	return first, time.Since(began)
}
