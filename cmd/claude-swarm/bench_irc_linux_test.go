package main

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// BenchmarkOnIRC reports the memory use of a bridge that runs in a separate process and
// has joined fifty channels. Each channel except the four default ones receives more
// lines than the bridge keeps.
func BenchmarkOnIRC(b *testing.B) {
	const channels, lines = 50, 600
	for range b.N {
		addr := irctest.Ngircd(b, irctest.Unlimited)
		p := newPlace(b, 1)
		var join []string
		for n := range channels - 4 { // every project also has four default channels
			join = append(join, fmt.Sprintf("c%d", n))
		}
		path := filepath.Join(p.dir, "claude-swarm.yaml")
		config, err := os.ReadFile(path)
		if err != nil {
			b.Fatal(err)
		}
		config = fmt.Appendf(config, "irc: {server: %q, slug: x, rate: 0, apart: true, join: [%s]}\n", addr, strings.Join(join, ", "))
		if err := os.WriteFile(path, config, 0o600); err != nil {
			b.Fatal(err)
		}
		running := p.command("irc", "run")
		if err := running.Start(); err != nil {
			b.Fatal(err)
		}
		home := filepath.Join(p.dir, ".claude-swarm")
		awaits(b, "it is in all channels", func() bool {
			st, err := bridge.ReadState(ircbridge.Folder(home))
			in := 0
			for _, c := range st.Channels {
				if c.Joined {
					in++
				}
			}
			return err == nil && in == channels
		})
		talk(b, addr, join, lines)
		awaits(b, "it has heard all", func() bool {
			st, err := bridge.ReadState(ircbridge.Folder(home))
			return err == nil && st.Received >= len(join)*lines
		})
		b.ReportMetric(field(b, fmt.Sprintf("/proc/%d/status", running.Process.Pid), "VmRSS:")/1024, "MiB")
		if err := running.Process.Signal(os.Interrupt); err != nil {
			b.Fatal(err)
		}
		_ = running.Wait() // Wait returns an error, because the signal terminated the bridge
	}
	b.ReportMetric(0, "ns/op")
}

// talk posts the given number of lines in each channel.
func talk(b *testing.B, addr string, channels []string, lines int) {
	b.Helper()
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprint(conn, "NICK ann\r\nUSER ann 0 * :ann\r\n")
	for _, c := range channels {
		fmt.Fprintf(conn, "JOIN #%s\r\n", c)
	}
	for n := range lines {
		for _, c := range channels {
			if _, err := fmt.Fprintf(conn, "PRIVMSG #%s :line %d of many, as long as people write when they talk.\r\n", c, n); err != nil {
				b.Fatal(err)
			}
		}
	}
	fmt.Fprint(conn, "PING :end\r\n")
	for sc := bufio.NewScanner(conn); sc.Scan(); {
		if strings.Contains(sc.Text(), "PONG") {
			return
		}
	}
	b.Fatal("the server has hung up")
}

// awaits waits until ok returns true. After a minute, it fails the benchmark.
func awaits(b *testing.B, what string, ok func() bool) {
	b.Helper()
	for deadline := time.Now().Add(time.Minute); !ok(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			b.Fatalf("never happened: %s", what)
		}
	}
}
