package ircbridge_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// A floor is the smallest possible relay. It consists of files that are written as
// durably as ours, a watcher on their folder, and a connection. The benchmarks run the
// floor and the bridge with the same kind of server, and with the same small client as
// the listener. The benchmarks that measure single messages send at most 50 a second.

// pace is the time between two messages.
const pace = 20 * time.Millisecond

// A raw is a connection from which raw lines are read.
type raw struct {
	net.Conn
	lines *bufio.Scanner
}

// connect connects, registers and joins a channel.
func connect(b *testing.B, addr, nick, channel string) *raw {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { conn.Close() })
	r := &raw{conn, bufio.NewScanner(conn)}
	fmt.Fprintf(r, "NICK %s\r\nUSER %s 0 * :%s\r\nJOIN %s\r\n", nick, nick, nick, channel)
	if _, ok := r.until(" 366 "); !ok {
		b.Fatalf("%s is not in %s: %v", nick, channel, r.lines.Err())
	}
	return r
}

// until reads lines until it reads one that contains part.
func (r *raw) until(part string) (line string, ok bool) {
	for r.lines.Scan() {
		line = r.lines.Text()
		if token, ping := strings.CutPrefix(line, "PING"); ping {
			fmt.Fprintf(r, "PONG%s\r\n", token)
		}
		if strings.Contains(line, part) {
			return line, true
		}
	}
	return "", false
}

// folder makes a folder that `go test -artifacts` does not delete, because after many
// deletions ext4 takes a long time to find a free inode number for each new file.
func folder(b *testing.B) string {
	b.Helper()
	dir := filepath.Join(b.ArtifactDir(), dropbox.NewID())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		b.Fatal(err)
	}
	return dir
}

// mailboxes makes the mailboxes of a bridge and of an agent.
func mailboxes(b *testing.B) *dropbox.Store {
	b.Helper()
	dir := filepath.Join(folder(b), "mail")
	if err := dropbox.Create(dir); err != nil {
		b.Fatal(err)
	}
	store, err := dropbox.Open(dir, dropbox.Options{MaxWaiting: 100_000})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	for _, name := range []string{"irc", "coder"} {
		if err := store.MakeMailbox(name); err != nil {
			b.Fatal(err)
		}
	}
	return store
}

// run runs the bridge until the benchmark ends, and returns once the bridge is in the
// channel.
func run(b *testing.B, store *dropbox.Store, addr string) {
	b.Helper()
	home := folder(b)
	running, err := ircbridge.New(ircbridge.Options{
		Options: bridge.Options{
			Store: store, Home: home, Channels: bridge.Channels{Project: "#bench"}, Allow: []bridge.Permit{{Nick: "bench", May: bridge.Rights()}},
			Agents: func() []string { return []string{"coder"} }, WakesPerMinute: -1,
		},
		Server: ircbridge.Server{Addr: addr, Nick: "swarm", Unlimited: true},
	})
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- running.Run(ctx) }()
	b.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			b.Errorf("Run = %v", err)
		}
	})
	eventually(b, "the bridge is in the channel", func() bool {
		st, err := bridge.ReadState(ircbridge.Folder(home))
		return err == nil && st.Connected && len(st.Channels) == 1 && st.Channels[0].Joined
	})
}

// arrivals watches a folder, and sends the name of each file that appears in it.
func arrivals(b *testing.B, dir string) <-chan string {
	b.Helper()
	w, err := fsnotify.NewBufferedWatcher(100_000)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { w.Close() })
	if err := w.Add(dir); err != nil {
		b.Fatal(err)
	}
	names := make(chan string, 100_000)
	go func() { // this goroutine ends when the watcher is closed
		for e := range w.Events {
			if name := filepath.Base(e.Name); e.Has(fsnotify.Create) && name[0] != '.' {
				names <- name
			}
		}
	}()
	return names
}

// durable writes a file with the same syncs as the delivery of a message.
func durable(dir, name, text string) error {
	tmp := filepath.Join(dir, ".tmp-"+name)
	f, err := os.Create(tmp)
	if err != nil {
		return err
	}
	_, err = f.WriteString(text)
	err = errors.Join(err, f.Sync(), f.Close(), os.Rename(tmp, filepath.Join(dir, name)))
	d, openErr := os.Open(dir)
	if openErr != nil {
		return errors.Join(err, openErr)
	}
	return errors.Join(err, d.Sync(), d.Close())
}

// paced sends b.N messages, one at a time, and reports the median and the 99th percentile
// of the times that they take.
func paced(b *testing.B, send func(n int) error, arrived func(n int) bool) {
	b.Helper()
	var took []time.Duration
	next := time.Now()
	for n := range b.N {
		time.Sleep(time.Until(next))
		next = time.Now().Add(pace)
		begin := time.Now()
		if err := send(n); err != nil {
			b.Fatal(err)
		}
		if !arrived(n) {
			b.Fatalf("message %d never arrived", n)
		}
		took = append(took, time.Since(begin))
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2]), "p50-ns")
	b.ReportMetric(float64(took[len(took)*99/100]), "p99-ns")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOut measures the time from when a message's file is written until the line
// arrives at a client.
func BenchmarkOut(b *testing.B) {
	text := func(n int) string { return fmt.Sprintf("message %d of many, as long as people write.", n) }
	b.Run("floor", func(b *testing.B) {
		addr := irctest.Ngircd(b, irctest.Unlimited)
		ear, mouth := connect(b, addr, "ear", "#bench"), connect(b, addr, "mouth", "#bench")
		dir := folder(b)
		names := arrivals(b, dir)
		go func() { // this goroutine ends with the process
			for name := range names {
				data, err := os.ReadFile(filepath.Join(dir, name))
				if err == nil {
					fmt.Fprintf(mouth, "PRIVMSG #bench :%s\r\n", data)
				}
			}
		}()
		paced(b, func(n int) error { return durable(dir, fmt.Sprint(n), text(n)) }, func(n int) bool { _, ok := ear.until(text(n)); return ok })
	})
	b.Run("ours", func(b *testing.B) {
		addr := irctest.Ngircd(b, irctest.Unlimited)
		store := mailboxes(b)
		ear := connect(b, addr, "ear", "#bench")
		run(b, store, addr)
		extra := bridge.Origin{Channel: "#bench"}.Extra(ircbridge.Name)
		paced(b, func(n int) error {
			_, err := store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte(text(n)), Extra: extra})
			return err
		}, func(n int) bool { _, ok := ear.until(text(n)); return ok })
	})
}

// BenchmarkIn measures the time from when a person sends a line until its file appears in
// the mailbox.
func BenchmarkIn(b *testing.B) {
	line := func(n int) string {
		return fmt.Sprintf("PRIVMSG #bench :coder: message %d of many, as long as people write.\r\n", n)
	}
	b.Run("floor", func(b *testing.B) {
		addr := irctest.Ngircd(b, irctest.Unlimited)
		mouth, ear := connect(b, addr, "bench", "#bench"), connect(b, addr, "ear", "#bench")
		dir := folder(b)
		names := arrivals(b, dir)
		go func() { // this goroutine ends with the connection
			for n := 0; ; n++ {
				said, ok := ear.until(" PRIVMSG ")
				if !ok || durable(dir, fmt.Sprint(n), said) != nil {
					return
				}
			}
		}()
		paced(b, func(n int) error { _, err := mouth.Write([]byte(line(n))); return err }, func(int) bool { return <-names != "" })
	})
	b.Run("ours", func(b *testing.B) {
		addr := irctest.Ngircd(b, irctest.Unlimited)
		store := mailboxes(b)
		mouth := connect(b, addr, "bench", "#bench")
		run(b, store, addr)
		names := arrivals(b, filepath.Join(store.Dir(), "coder/new"))
		paced(b, func(n int) error { _, err := mouth.Write([]byte(line(n))); return err }, func(int) bool { return <-names != "" })
	})
}

// many is the number of messages that are waiting when a rate is measured.
const many = 1000

// rate reports the number of messages per second between the first message and the last.
func rate(b *testing.B, next func() bool) {
	b.Helper()
	var first time.Time
	for n := range many {
		if !next() {
			b.Fatalf("message %d never arrived", n)
		}
		if n == 0 {
			first = time.Now()
		}
	}
	b.ReportMetric((many-1)/time.Since(first).Seconds(), "lines/s")
	b.ReportMetric(0, "ns/op")
}

// BenchmarkOutRate measures the number of messages per second when many are waiting. Here
// the floor is a relay that moves each file away after it has written the line. The
// bridge also confirms each message and files it with a receipt.
func BenchmarkOutRate(b *testing.B) {
	b.Run("floor", func(b *testing.B) {
		for range b.N {
			addr := irctest.Ngircd(b, irctest.Unlimited)
			ear, mouth := connect(b, addr, "ear", "#bench"), connect(b, addr, "mouth", "#bench")
			dir, done := folder(b), folder(b)
			for n := range many {
				if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%05d", n)), fmt.Appendf(nil, "message %d.", n), 0o600); err != nil {
					b.Fatal(err)
				}
			}
			relayed := make(chan error, 1)
			go func() { relayed <- relay(dir, done, mouth) }() // the code below waits for this goroutine
			rate(b, func() bool { _, ok := ear.until("message "); return ok })
			if err := <-relayed; err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			addr := irctest.Ngircd(b, irctest.Unlimited)
			store := mailboxes(b)
			extra := bridge.Origin{Channel: "#bench"}.Extra(ircbridge.Name)
			for n := range many {
				if _, err := store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Note, Body: fmt.Appendf(nil, "message %d.", n), Extra: extra}); err != nil {
					b.Fatal(err)
				}
			}
			ear := connect(b, addr, "ear", "#bench")
			run(b, store, addr)
			rate(b, func() bool { _, ok := ear.until("message "); return ok })
		}
	})
}

// relay sends the files in a folder as lines, and durably moves each file away.
func relay(dir, done string, mouth *raw) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintf(mouth, "PRIVMSG #bench :%s\r\n", data); err != nil {
			return err
		}
		if err := os.Rename(filepath.Join(dir, e.Name()), filepath.Join(done, e.Name())); err != nil {
			return err
		}
		d, err := os.Open(done)
		if err != nil {
			return err
		}
		if err := errors.Join(d.Sync(), d.Close()); err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkInRate measures how many lines per second become durable files.
func BenchmarkInRate(b *testing.B) {
	say := func(mouth *raw) {
		for n := range many {
			if _, err := fmt.Fprintf(mouth, "PRIVMSG #bench :coder: message %d.\r\n", n); err != nil {
				return // the benchmark reports the error
			}
		}
	}
	b.Run("floor", func(b *testing.B) {
		for range b.N {
			addr := irctest.Ngircd(b, irctest.Unlimited)
			mouth, ear := connect(b, addr, "bench", "#bench"), connect(b, addr, "ear", "#bench")
			dir := folder(b)
			go say(mouth) // this goroutine ends when all lines are written, or when the connection ends
			n := 0
			rate(b, func() bool {
				said, ok := ear.until(" PRIVMSG ")
				n++
				return ok && durable(dir, fmt.Sprint(n), said) == nil
			})
		}
	})
	b.Run("ours", func(b *testing.B) {
		for range b.N {
			addr := irctest.Ngircd(b, irctest.Unlimited)
			store := mailboxes(b)
			mouth := connect(b, addr, "bench", "#bench")
			run(b, store, addr)
			names := arrivals(b, filepath.Join(store.Dir(), "coder/new"))
			go say(mouth) // this goroutine ends when all lines are written, or when the connection ends
			rate(b, func() bool { return <-names != "" })
		}
	})
}
