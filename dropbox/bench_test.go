package dropbox_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// The floor sub-benchmarks perform the same disk operations without the package. Compare
// `floor/…` with `ours/…` from the same run, not from different runs.

const kilobyte = 1024

// settle waits until the disk is idle, so that the writes of one variant do not slow down
// the next.
func settle(b *testing.B) {
	b.Helper()
	syscall.Sync()
	b.ResetTimer()
}

func must(b *testing.B, err error) {
	if err != nil {
		b.Fatal(err)
	}
}

// byHand delivers without the package: write, sync, rename, sync the folder.
func byHand(dir, name string, data []byte) error {
	return byHandTogether(dir, []string{name}, data)
}

// byHandTogether delivers several files with the same bytes, and syncs the folder once.
func byHandTogether(dir string, names []string, data []byte) error {
	for _, name := range names {
		f, err := os.OpenFile(filepath.Join(dir, "tmp", name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
		if err != nil {
			return err
		}
		if _, err := f.Write(data); err != nil {
			return err
		}
		if err := errors.Join(f.Sync(), f.Close()); err != nil {
			return err
		}
	}
	for _, name := range names {
		if err := os.Rename(filepath.Join(dir, "tmp", name), filepath.Join(dir, "new", name)); err != nil {
			return err
		}
	}
	return syncFolder(filepath.Join(dir, "new"))
}

func syncFolder(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// benchStore creates a store that `go test -artifacts` keeps, because deleting it
// immediately would slow down the next variant.
func benchStore(b *testing.B, o dropbox.Options, mailboxes ...string) *dropbox.Store {
	b.Helper()
	dir := filepath.Join(b.ArtifactDir(), dropbox.NewID(), ".dead-drop")
	must(b, dropbox.Create(dir))
	return reopen(b, dir, o, mailboxes...)
}

// handBoxes creates the folders for byHand.
func handBoxes(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.ArtifactDir(), dropbox.NewID())
	for _, folder := range []string{"tmp", "new", "cur"} {
		must(b, os.MkdirAll(filepath.Join(dir, folder), 0o700))
	}
	return dir
}

// BenchmarkDeliver measures a durable delivery of 1 KB, for 1 and for 8 writers.
func BenchmarkDeliver(b *testing.B) {
	body := bytes.Repeat([]byte("0123456789abcde\n"), kilobyte/16)
	for _, writers := range []int{1, 8} {
		b.Run(fmt.Sprintf("floor/%d", writers), func(b *testing.B) {
			dir := handBoxes(b)
			data, err := (&dropbox.Message{From: "lead", Body: body}).Encode()
			must(b, err)
			var n atomic.Int64
			inParallel(b, writers, func() error {
				return byHand(dir, fmt.Sprintf("1-20261121T045102.%06dZ-k7f3q9m2xd.md", n.Add(1)), data)
			})
		})
		b.Run(fmt.Sprintf("ours/%d", writers), func(b *testing.B) {
			s := benchStore(b, dropbox.Options{}, "coder")
			m := &dropbox.Message{From: "lead", Subject: "a benchmark", Body: body}
			inParallel(b, writers, func() error {
				_, err := s.Deliver("coder", m)
				return err
			})
		})
	}
}

// BenchmarkDeliverBatch measures durable deliveries of 1 KB in batches of 32; the result
// is the time per message.
func BenchmarkDeliverBatch(b *testing.B) {
	const batch = 32
	body := bytes.Repeat([]byte("0123456789abcde\n"), kilobyte/16)
	b.Run("floor", func(b *testing.B) {
		dir := handBoxes(b)
		data, err := (&dropbox.Message{From: "lead", Body: body}).Encode()
		must(b, err)
		settle(b)
		names := make([]string, batch)
		for n := 0; b.Loop(); n++ {
			for i := range names {
				names[i] = fmt.Sprintf("1-20261121T045102.%09dZ-k7f3q9m2xd.md", n*batch+i)
			}
			must(b, byHandTogether(dir, names, data))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/batch, "ns/message")
	})
	b.Run("ours", func(b *testing.B) {
		s := benchStore(b, dropbox.Options{}, "coder")
		batch := make([]dropbox.Draft, batch)
		for i := range batch {
			batch[i] = dropbox.Draft{To: "coder", Message: &dropbox.Message{From: "lead", Subject: "a benchmark", Body: body}}
		}
		settle(b)
		for b.Loop() {
			for _, o := range s.DeliverBatch(batch) {
				must(b, o.Err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(batch)), "ns/message")
	})
}

func inParallel(b *testing.B, writers int, f func() error) {
	b.ReportAllocs()
	settle(b)
	if writers == 1 {
		for b.Loop() {
			must(b, f())
		}
		return
	}
	b.SetParallelism(max(1, writers/runtime.GOMAXPROCS(0)))
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if err := f(); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// BenchmarkTake measures a claim: reading the message and durably moving it from new/ to
// cur/.
func BenchmarkTake(b *testing.B) {
	const round = 2000
	body := bytes.Repeat([]byte("0123456789abcde\n"), kilobyte/16)
	b.Run("floor", func(b *testing.B) {
		dir := handBoxes(b)
		data, err := (&dropbox.Message{From: "lead", Body: body}).Encode()
		must(b, err)
		var names []string
		for i := range round {
			names = append(names, fmt.Sprintf("1-20261121T045102.%06dZ-k7f3q9m2xd.md", i))
			must(b, os.WriteFile(filepath.Join(dir, "new", names[i]), data, 0o600))
		}
		b.ReportAllocs()
		settle(b)
		i := 0
		for b.Loop() {
			if i == round { // all messages are claimed, so put them back while the timer is stopped
				b.StopTimer()
				for _, name := range names {
					must(b, os.Rename(filepath.Join(dir, "cur", name), filepath.Join(dir, "new", name)))
				}
				i = 0
				syscall.Sync()
				b.StartTimer()
			}
			to := filepath.Join(dir, "cur", names[i])
			must(b, os.Rename(filepath.Join(dir, "new", names[i]), to))
			must(b, syncFolder(filepath.Join(dir, "cur")))
			_, err := os.ReadFile(to)
			must(b, err)
			i++
		}
	})
	b.Run("ours", func(b *testing.B) {
		s := benchStore(b, dropbox.Options{}, "coder")
		box := mailbox(b, s, "coder")
		for range round {
			deliver(b, s, "coder", &dropbox.Message{Body: body})
		}
		waiting := list(b, box)
		taken := make([]dropbox.Entry, 0, round)
		b.ReportAllocs()
		settle(b)
		for b.Loop() {
			if len(taken) == round {
				b.StopTimer()
				for i, e := range taken {
					must(b, os.Rename(filepath.Join(s.Dir(), "coder/cur", e.Name), filepath.Join(s.Dir(), "coder/new", waiting[i].Name)))
				}
				taken = taken[:0]
				syscall.Sync()
				b.StartTimer()
			}
			c, err := box.Claim(waiting[len(taken)])
			must(b, err)
			taken = append(taken, c.Entry)
		}
	})
}

// fill writes n small messages into a mailbox as files, without the steps of a delivery.
func fill(b testing.TB, s *dropbox.Store, agent string, n int) {
	b.Helper()
	for i := range n {
		id := dropbox.NewID()
		name := fmt.Sprintf("1-20261121T%02d%02d%02d.000000Z-%s.md", i/3600%24, i/60%60, i%60, id)
		data := fmt.Sprintf("---\nv: 1\nid: %s\nfrom: lead\n---\nmessage %d\n", id, i)
		if err := os.WriteFile(filepath.Join(s.Dir(), agent, "new", name), []byte(data), 0o600); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkList lists 10,000 waiting messages; its floor variant only reads their names.
func BenchmarkList(b *testing.B) {
	const backlog = 10_000
	s := benchStore(b, dropbox.Options{MaxWaiting: 2 * backlog}, "coder")
	fill(b, s, "coder", backlog)
	box := mailbox(b, s, "coder")
	b.Run("floor", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			d, err := os.Open(filepath.Join(s.Dir(), "coder/new"))
			must(b, err)
			names, err := d.Readdirnames(-1)
			must(b, err)
			if len(names) != backlog {
				b.Fatalf("%d names", len(names))
			}
			must(b, d.Close())
		}
	})
	b.Run("ours", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if n := len(list(b, box)); n != backlog {
				b.Fatalf("%d entries", n)
			}
		}
	})
}

// BenchmarkBacklog processes a backlog the way a daemon does: it lists the messages once
// and then claims, commits and finishes each of them. The time per message must not grow
// with the backlog.
func BenchmarkBacklog(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprintf("ours/%d", n), func(b *testing.B) {
			for b.Loop() {
				b.StopTimer()
				s := benchStore(b, dropbox.Options{MaxWaiting: 2 * n}, "coder")
				fill(b, s, "coder", n)
				box := mailbox(b, s, "coder")
				syscall.Sync()
				b.StartTimer()
				for _, e := range list(b, box) {
					c := claim(b, box, e)
					must(b, box.Commit(c.Entry, []byte("v: 1\n")))
					must(b, box.Finish(c.Entry))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Microseconds())/float64(b.N*n), "µs/message")
		})
	}
}

// BenchmarkParse reads the front matter of an ordinary message.
func BenchmarkParse(b *testing.B) {
	m := &dropbox.Message{
		ID: "k7f3q9m2xd", From: "lead", To: []string{"coder"}, Type: dropbox.Task, Subject: "Fix the build: it is red",
		Thread: "k7f3q9m2xd", Trace: "k7f3q9m2xd", Body: bytes.Repeat([]byte("x"), kilobyte),
	}
	data, err := m.Encode()
	must(b, err)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := dropbox.Parse(data); err != nil {
			b.Fatal(err)
		}
	}
}
