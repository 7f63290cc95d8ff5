package irc_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A tape is the server's side of a pipe. It records each line with its time.
type tape struct {
	nc    net.Conn
	start time.Time
	deaf  bool // the server does not answer PING

	mu    sync.Mutex
	lines []string
	times []time.Duration
}

// record connects a client to a server that has no capabilities and that registers the
// client under nick. It must be called in a synctest bubble.
func record(t *testing.T, cfg irc.Config, nick string, deaf bool) (*irc.Conn, *tape) {
	near, far := net.Pipe()
	tp := &tape{nc: far, deaf: deaf}
	registered := make(chan struct{})
	go func() {
		r := bufio.NewReader(far)
		for {
			line, err := r.ReadString('\n')
			if err != nil {
				return
			}
			tp.line(strings.TrimSpace(line), nick)
			if strings.HasPrefix(line, "USER") {
				close(registered)
			}
		}
	}()
	go func() {
		<-registered
		if nick != cfg.Nick {
			tp.say(":s 433 * " + cfg.Nick + " :in use")
		}
		tp.say(":s 001 " + nick + " :hello")
		tp.say(":s 005 " + nick + " CASEMAPPING=ascii BOT=B :are supported")
		tp.say(":s 422 " + nick + " :no MOTD")
	}()
	cfg.Addr, cfg.Clear = "pipe:1", true
	cfg.Dial = func(context.Context, string, string) (net.Conn, error) { return near, nil }
	c, err := irc.Dial(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	synctest.Wait()
	go func() {
		for range c.Messages() {
		}
	}()
	tp.mu.Lock()
	tp.lines, tp.times, tp.start = nil, nil, time.Now()
	tp.mu.Unlock()
	t.Cleanup(func() {
		_ = far.Close()
		<-c.Done()
	})
	return c, tp
}

func (tp *tape) line(line, nick string) {
	tp.mu.Lock()
	tp.lines = append(tp.lines, line)
	tp.times = append(tp.times, time.Since(tp.start))
	tp.mu.Unlock()
	if token, ok := strings.CutPrefix(line, "PING "); ok && !tp.deaf {
		go tp.say(":s PONG s " + token)
	}
}

func (tp *tape) say(line string) { _, _ = tp.nc.Write([]byte(line + "\r\n")) }

func (tp *tape) heard() ([]string, []time.Duration) {
	tp.mu.Lock()
	defer tp.mu.Unlock()
	return append([]string(nil), tp.lines...), append([]time.Duration(nil), tp.times...)
}

func TestFourAtOnceThenOneASecond(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", false)
		time.Sleep(10 * time.Second) // the registration also used tokens
		tp.start = time.Now()
		d := c.Send("#room", strings.Repeat("a line of some length\n", 30))
		time.Sleep(5 * time.Second)
		asked := time.Now()
		tp.say("PING :now")
		synctest.Wait()
		if lines, _ := tp.heard(); lines[len(lines)-1] != "PONG now" || time.Since(asked) != 0 {
			t.Errorf("PONG has to wait: %v", lines)
		}
		if err := d.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		_, times := tp.heard()
		for i, at := range times {
			if most := 4 + at.Seconds() + 1 + 0.01; float64(i+1) > most { // the 1 is for the PONG
				t.Errorf("line %d at %v", i+1, at)
			}
		}
		if last := times[len(times)-1]; last > 40*time.Second {
			t.Errorf("30 lines and their PINGs took %v", last)
		}
	})
}

func TestNeverMoreThanTheWindowUnanswered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", true)
		d := c.Send("#room", strings.Repeat(strings.Repeat("x", 300)+"\n", 30))
		time.Sleep(50 * time.Second)
		lines, _ := tp.heard()
		bytes := 0
		for _, l := range lines {
			if strings.HasPrefix(l, "PRIVMSG") {
				bytes += len(l) + 2
			}
		}
		if bytes > 2000 || bytes < 1500 {
			t.Errorf("%d bytes are unanswered", bytes)
		}
		<-d.Done()
		if !errors.Is(d.Err(), irc.ErrUnproven) || !errors.Is(c.Err(), irc.ErrTimeout) {
			t.Errorf("delivery: %v, connection: %v", d.Err(), c.Err())
		}
	})
}

func TestAlertsFirstAndTargetsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", false)
		c.Send("#busy", strings.Repeat("output\n", 20))
		synctest.Wait()
		c.Send("#other", "output")
		c.Post(irc.Outgoing{Target: "bob", Text: "answer", Priority: irc.Answer})
		d := c.Post(irc.Outgoing{Target: "#alerts", Text: "alert", Priority: irc.Alert})
		before, _ := tp.heard()
		if err := d.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(5 * time.Second)
		lines, _ := tp.heard()
		var order []string
		for _, l := range lines[len(before):] {
			if target, ok := strings.CutPrefix(l, "PRIVMSG "); ok && !strings.HasPrefix(target, "#busy") {
				order = append(order, strings.Fields(target)[0])
			}
		}
		if strings.Join(order, " ") != "bob #alerts #other" {
			t.Errorf("order: %v of %v", order, lines)
		}
	})
}

// A private message does not wait for messages to channels. Long private messages and the
// channels take turns.
func TestPrivateBeforeChannels(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", false)
		for _, channel := range []string{"#one", "#two", "#three"} {
			c.Post(irc.Outgoing{Target: channel, Text: strings.Repeat("output\n", 40)})
		}
		c.Post(irc.Outgoing{Target: "#alerts", Text: strings.Repeat("alert\n", 200), Priority: irc.Alert})
		time.Sleep(20 * time.Second) // the burst is over
		asked := time.Now()
		first := c.Send("bob", "one") // with the lowest priority
		second := c.Post(irc.Outgoing{Target: "bob", Text: "two", Priority: irc.Answer})
		if err := errors.Join(first.Wait(t.Context()), second.Wait(t.Context())); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(asked); took > 7*time.Second { // two lines, at most four more before the PING that proves them, and the PING
			t.Errorf("a private message took %v", took)
		}
		before, _ := tp.heard()
		c.Send("bob", strings.Repeat("page\n", 30))
		c.Send("eve", strings.Repeat("page\n", 30))
		time.Sleep(40 * time.Second)
		lines, _ := tp.heard()
		texts := map[string]int{}
		for _, l := range lines[len(before):] {
			if target, ok := strings.CutPrefix(l, "PRIVMSG "); ok {
				texts[strings.Fields(target)[0]]++
			}
		}
		if people := texts["bob"] + texts["eve"]; texts["#alerts"] < 14 || people < 14 || texts["bob"]-texts["eve"] > 1 {
			t.Errorf("sent in 40 s: %v", texts)
		}
	})
}

// A person reads a page of ten lines while lines for a channel wait. The first lines of the
// page come at once, then the two take turns; an alert waits for one line.
func TestAPageBesideAChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", false)
		c.Send("#one", strings.Repeat("c\n", 40))
		time.Sleep(20*time.Second + 500*time.Millisecond) // the burst is over, and no line is sent at this moment
		before, _ := tp.heard()
		page := c.Post(irc.Outgoing{Target: "bob", Text: strings.Repeat("p\n", 10), Priority: irc.Answer})
		begun := time.Now()
		time.Sleep(12 * time.Second)
		c.Post(irc.Outgoing{Target: "#two", Text: "a", Priority: irc.Alert})
		if err := page.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		took := time.Since(begun)
		lines, _ := tp.heard()
		order := ""
		for _, l := range lines[len(before):] {
			if strings.HasPrefix(l, "PRIVMSG ") {
				order += l[len(l)-1:]
			}
		}
		t.Logf("%s in %v", order, took)
		if !strings.HasPrefix(order, "pppcpcp") || strings.Contains(order, "ppppp") || strings.Contains(order, "ccc") || !strings.Contains(order, "pap") {
			t.Errorf("sent: %s", order)
		}
	})
}

func TestFullQueueSaysSo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, _ := record(t, irc.Config{Nick: "ann"}, "ann", true)
		first := c.Send("#room", strings.Repeat("x\n", 1000))
		if err := c.Send("#room", strings.Repeat("x\n", 100)).Err(); !errors.Is(err, irc.ErrQueueFull) {
			t.Errorf("over the limit: %v", err)
		}
		alert := c.Post(irc.Outgoing{Target: "#room", Text: "x", Priority: irc.Alert})
		if err := errors.Join(first.Err(), alert.Err()); err != nil {
			t.Errorf("within the limits: %v", err)
		}
	})
}

func TestSilentServerIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", true)
		begin := time.Now()
		<-c.Done()
		lines, times := tp.heard()
		if took := time.Since(begin); took != 90*time.Second || !errors.Is(c.Err(), irc.ErrTimeout) {
			t.Errorf("left after %v: %v", took, c.Err())
		}
		if fmt.Sprint(lines, times) != "[PING alive] [1m0s]" {
			t.Errorf("heard %v at %v", lines, times)
		}
	})
}

func TestQuietServerIsNotLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", false)
		time.Sleep(time.Hour)
		if lines, _ := tp.heard(); c.Err() != nil || len(lines) < 59 {
			t.Errorf("%v after %d lines", c.Err(), len(lines))
		}
	})
}

func TestWantedNickIsAskedForAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann_", false)
		nicks := func() (at []time.Duration) {
			lines, times := tp.heard()
			for i, l := range lines {
				if l == "NICK ann" {
					at = append(at, times[i])
				}
			}
			return at
		}
		time.Sleep(2 * time.Minute)
		if got := fmt.Sprint(nicks()); got != "[15s 45s 1m45s]" {
			t.Errorf("asked at %s", got)
		}
		tp.say(":ann!a@b QUIT :bye")
		synctest.Wait()
		if n := len(nicks()); n != 4 {
			t.Errorf("asked %d times after the QUIT", n)
		}
		tp.say(":ann_!a@b NICK ann")
		time.Sleep(time.Hour)
		if n := len(nicks()); n != 4 || c.State().Nick != "ann" {
			t.Errorf("asked %d times, nick %s", n, c.State().Nick)
		}
	})
}

func TestBackoff(t *testing.T) {
	b := irc.Backoff{Chance: func() float64 { return 0.5 }}
	cut := errors.New("cut")
	var waits []string
	for _, stood := range []time.Duration{0, time.Second, 59 * time.Second, 0, 0, 0, 0, time.Minute, 0} {
		wait, stop := b.Next(cut, stood)
		if stop {
			t.Error("stopped")
		}
		waits = append(waits, wait.String())
	}
	if got := strings.Join(waits, " "); got != "1s 2s 4s 8s 16s 32s 1m0s 1s 2s" {
		t.Errorf("waits %s", got)
	}
	for _, text := range []string{"Throttled: reconnecting too fast", "You are banned", "K-lined", "Too many connections"} {
		b := irc.Backoff{Chance: func() float64 { return 0 }}
		if wait, stop := b.Next(&irc.Refused{Code: "ERROR", Text: text}, 0); wait < time.Minute || stop {
			t.Errorf("%q: %v, %v, want a minute", text, wait, stop)
		}
	}
	if _, stop := b.Next(fmt.Errorf("register: %w", irc.ErrSASL), 0); !stop {
		t.Error("tries again after a refused login")
	}
	for range 1000 {
		var b irc.Backoff
		if wait, _ := b.Next(cut, 0); wait < time.Second/2 || wait > 3*time.Second/2 {
			t.Fatalf("first wait %v", wait)
		}
	}
}

// The lines of the registration delay neither the JOIN nor the first message.
func TestTheFirstLinesFollowTheRegistrationAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, tp := record(t, irc.Config{Nick: "ann"}, "ann", false)
		if err := c.Send("#room", "one\ntwo\nthree\nfour").Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		lines, times := tp.heard()
		for i, line := range lines[:3] {
			if !strings.HasPrefix(line, "PRIVMSG") || times[i] != 0 {
				t.Errorf("line %d after %v: %s", i+1, times[i], line)
			}
		}
		if times[3] < time.Second {
			t.Errorf("the next line after %v: %s", times[3], lines[3])
		}
	})
}
