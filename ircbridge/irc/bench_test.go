package irc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// BenchmarkProvenLines measures the time from Post to the proof of arrival, for batches
// of a hundred lines.
func BenchmarkProvenLines(b *testing.B) {
	for name, start := range map[string]func(testing.TB, irctest.Limit) string{"ngircd": irctest.Ngircd, "inspircd": irctest.Inspircd} {
		b.Run(name, func(b *testing.B) {
			c, err := irc.Dial(b.Context(), irc.Config{Addr: start(b, irctest.Unlimited), Nick: "ann", Clear: true, Flood: fast})
			if err != nil {
				b.Fatal(err)
			}
			defer c.Close(b.Context(), "")
			go func() {
				for range c.Messages() { // this goroutine ends with the connection
				}
			}()
			if _, err := c.Do(b.Context(), irc.Msg("JOIN", "#room")); err != nil {
				b.Fatal(err)
			}
			text := strings.Repeat("a line\n", 100)
			begin := time.Now()
			for b.Loop() {
				if err := c.Send("#room", text).Wait(b.Context()); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(100*b.N)/time.Since(begin).Seconds(), "lines/s")
		})
	}
}

func BenchmarkParse(b *testing.B) {
	line := "@account=ann;msgid=abcdef;time=2026-11-21T10:00:00.000Z :ann!~a@host.example PRIVMSG #room :" + strings.Repeat("word ", 60)
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := irc.Parse(line); err != nil {
			b.Fatal(err)
		}
	}
}
