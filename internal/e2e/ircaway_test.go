package e2e_test

import (
	"bufio"
	"fmt"
	"maps"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// IRC is unreachable at the start, and the connection is lost again later. The agents
// continue to work, and the status says that IRC is unreachable. The bridge posts the
// waiting messages when IRC is reachable again.
func TestWorkGoesOnWithoutIRC(t *testing.T) {
	t.Parallel()
	proxy := irctest.NewProxy(t, irctest.Ngircd(t, irctest.Unlimited))
	proxy.Refuse()
	p := newProject(t, `{"replies":[]}`, fmt.Sprintf("  coder: {command: [%q]}\n", standin)+onIRC(proxy.Addr))
	p.start()
	works := func(text string) {
		t.Helper()
		if got := p.swarm("send", "coder", "@say "+text, "--wait"); !strings.Contains(got, text) {
			t.Errorf("the answer is %q, want %q", got, text)
		}
	}
	works("without IRC")
	p.until("the status says that IRC is away", func() bool {
		st := p.status()
		return st.IRC != nil && st.IRC.Running && !st.IRC.Connected && st.IRC.Why != "" && st.IRC.Waiting > 0
	})
	if text := p.swarm("status"); !strings.Contains(text, "IRC: not connected to "+proxy.Addr) {
		t.Errorf("the status is\n%s", text)
	}

	ears := listen(t, proxy.Addr, proxy.Heal, "#standup-x")
	ears.hears("[coder] done: without IRC")
	p.until("the status says that it is back", func() bool { return p.status().IRC.Connected })
	works("with IRC")
	ears.hears("[coder] done: with IRC")

	proxy.Refuse()
	proxy.Cut()
	p.until("the status says that it is lost", func() bool { return !p.status().IRC.Connected })
	works("while IRC was lost")
	ears = listen(t, proxy.Addr, proxy.Heal, "#standup-x")
	ears.hears("[coder] done: while IRC was lost")
	if proxy.Connections() < 4 {
		t.Errorf("%d connections; nothing was cut", proxy.Connections())
	}
}

// The daemon is killed 20 times while it posts messages and people talk, each time with a
// message in transit between the daemon and the IRC server. The bridge posts every
// message that it accepted. On a server with history, it posts each message once. Without
// history, it repeats at most four unconfirmed messages per kill, and it marks the
// repetitions. The bridge also receives what people write. On a server with history, it
// receives each line once. Without history, it can miss only the last lines of each
// connection.
func TestKillsLoseNothingOnIRC(t *testing.T) {
	t.Parallel()
	t.Run("ngircd", func(t *testing.T) {
		t.Parallel()
		killedOnIRC(t, irctest.Ngircd(t, irctest.Unlimited), false)
	})
	t.Run("with history", func(t *testing.T) {
		t.Parallel()
		killedOnIRC(t, irctest.NewServer(t, irctest.Features{}).Addr, true)
	})
}

func killedOnIRC(t *testing.T, addr string, history bool) {
	const kills = 20
	proxy := irctest.NewProxy(t, addr)
	p := newProject(t, `{"replies":[]}`, fmt.Sprintf("  coder: {command: [%q]}\n", standin)+onIRC(proxy.Addr))
	ears := listen(t, addr, nil, "#project-x")
	said, drops := 0, 0
	ears.says("#project-x", "said 0.")
	p.start() // start creates the mailboxes
	heard := func() map[int]int {
		lines, err := bridge.Reader{Dir: ircbridge.Folder(filepath.Join(p.dir, ".claude-swarm")), Size: 1 << 20}.Recent("#project-x", time.Time{}, 0)
		if err != nil {
			t.Fatal(err)
		}
		times := map[int]int{}
		for _, l := range lines {
			var n int
			if _, err := fmt.Sscanf(l.Text, "said %d.", &n); err == nil {
				times[n]++
			}
		}
		return times
	}
	begun := func() bool { // lines from before the join are lost
		said++
		ears.says("#project-x", fmt.Sprintf("said %d.", said))
		return len(heard()) > 0
	}
	p.until("the bridge hears", begun)
	first := slices.Min(slices.Collect(maps.Keys(heard())))
	waiting := func() int {
		left, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/irc/[nc]*/*.md"))
		return len(left)
	}
	for i := range kills {
		if i > 0 {
			p.start()
		}
		pid := p.status().Daemon.PID
		struck := proxy.OnText(irctest.Way(i%2), rand.N(10), func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
		p.until("it is killed", func() bool {
			if waiting() < 8 {
				p.swarm("irc", "send", "#project-x", fmt.Sprintf("line %d.", drops))
				drops++
			}
			said++
			ears.says("#project-x", fmt.Sprintf("said %d.", said))
			select {
			case <-struck:
				return true
			default:
				return false
			}
		})
	}
	p.start()
	for n := range drops {
		ears.hears(fmt.Sprintf("] line %d.", n), fmt.Sprintf("] (again) line %d.", n))
	}
	p.until("nothing waits", func() bool { return waiting() == 0 })
	if dead, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/irc/dead/*.md")); len(dead) != 0 {
		t.Errorf("given up: %v", dead)
	}
	// Each line arrives at most once without a mark. There are at most four marked lines
	// per kill in total.
	again := 0
	times := ears.counts(regexp.MustCompile(`\] ((?:\(again\) )?line \d+\.)`))
	for line, n := range times {
		if plain, marked := strings.CutPrefix(line, "(again) "); marked {
			again += n
			if history && n+times[plain] > 1 {
				t.Errorf("%q was said %d times, and the history was there", plain, n+times[plain])
			}
		} else if n > 1 {
			t.Errorf("%q was said %d times without a mark", line, n)
		}
	}
	if again > 4*kills {
		t.Errorf("%d lines were said again, in %d kills", again, kills)
	}

	last := said
	p.until("what is said now is heard", func() bool {
		said++
		ears.says("#project-x", fmt.Sprintf("said %d.", said))
		return slices.Max(slices.Collect(maps.Keys(heard()))) > last
	})
	in := heard()
	missing := 0
	for n := first; n <= last; n++ {
		switch {
		case in[n] > 1:
			t.Errorf("what was said as number %d was heard %d times", n, in[n])
		case in[n] == 0 && history:
			t.Errorf("what was said as number %d was not heard", n)
		case in[n] == 0:
			missing++
		}
	}
	if !history {
		for i, stream := range proxy.Brought() {
			lost := 0
			for _, m := range regexp.MustCompile(`PRIVMSG #project-x :said (\d+)\.\r\n`).FindAllStringSubmatch(stream, -1) {
				n, _ := strconv.Atoi(m[1])
				if in[n] == 0 {
					lost++
				} else if lost > 0 {
					t.Errorf("connection %d brought %d lines that were not heard, before number %d", i, lost, n)
					lost = 0
				}
			}
		}
	}
	t.Logf("%d kills: %d lines out, %d of them said again (marked); %d in, of which %d were not heard", kills, drops, again, last-first+1, missing)
}

// The bridge can be a separate process that starts and ends independently of the daemon.
// The first reload moves the bridge into the daemon, and the second turns IRC off.
func TestTheBridgeApart(t *testing.T) {
	t.Parallel()
	addr := irctest.Ngircd(t, irctest.Unlimited)
	agents := fmt.Sprintf("  coder: {command: [%q]}\n", standin)
	section := onIRC(addr)
	p := newProject(t, `{"replies":[]}`, agents+strings.Replace(section, "rate: 0,", "rate: 0, apart: true,", 1))
	here := p.read("claude-swarm.yaml")
	p.start()
	ears := listen(t, addr, nil, "#standup-x", "#project-x")
	p.swarm("send", "coder", "@say one", "--wait")
	if st := p.status().IRC; st.Running || !st.Apart || st.Next != "claude-swarm irc run" {
		t.Errorf("without a bridge the status says %+v", st)
	}

	bridge := exec.Command(program, "irc", "run")
	bridge.Dir, bridge.Env = p.dir, p.env
	if err := bridge.Start(); err != nil {
		t.Fatal(err)
	}
	stopBridge := sync.OnceFunc(func() { _ = bridge.Process.Signal(syscall.SIGTERM); _ = bridge.Wait() })
	defer stopBridge()
	ears.hears("[coder] done: one")
	if _, stderr, err := p.try("irc", "run"); err == nil || !strings.Contains(stderr, "another process is already running this project's bridge") {
		t.Errorf("a second bridge: %v, %s", err, stderr)
	}
	p.swarm("stop")
	p.swarm("irc", "send", "project-x", "no daemon is running")
	ears.hears("[lead] no daemon is running")
	stopBridge()

	p.start()
	p.write("claude-swarm.yaml", strings.Replace(here, "apart: true,", "", 1))
	p.swarm("reload")
	p.until("the daemon is the bridge", func() bool { st := p.status().IRC; return st != nil && st.Connected && !st.Apart })
	p.swarm("irc", "send", "project-x", "the daemon is the bridge")
	ears.hears("[lead] the daemon is the bridge")

	// The result of the last turn is posted before the daemon exits.
	p.send("coder", "@say the last words")
	p.until("it works, or has", func() bool { a := p.agent("coder"); return a.State == swarm.Working || a.TurnCount > 0 })
	p.swarm("stop")
	ears.hears("[coder] done: the last words")
	p.start()
	p.until("the daemon is the bridge again", func() bool { st := p.status().IRC; return st != nil && st.Connected })

	p.write("claude-swarm.yaml", strings.SplitN(here, "irc:", 2)[0])
	p.swarm("reload")
	if st := p.status().IRC; st != nil {
		t.Errorf("without the section the status says %+v", st)
	}
	ears.hears(" QUIT ")
	p.swarm("send", "coder", "@say two", "--wait")
	if strings.Contains(strings.Join(ears.all(), "\n"), "[coder] done: two") {
		t.Error("a result was posted although IRC is off")
	}
}

// ears is an IRC client that reads what others write.
type ears struct {
	t    *testing.T
	conn net.Conn

	mu    sync.Mutex
	heard []string
}

// listen joins channels. If before is not nil, listen calls it first.
func listen(t *testing.T, addr string, before func(), channels ...string) *ears {
	t.Helper()
	if before != nil {
		before()
	}
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	e := &ears{t: t, conn: conn}
	var reading sync.WaitGroup
	t.Cleanup(func() { conn.Close(); reading.Wait() })
	fmt.Fprintf(conn, "NICK ear%d\r\nUSER ear 0 * :ear\r\n", os.Getpid()%1000+rand.IntN(100_000)*1000)
	welcome := make(chan struct{})
	reading.Go(func() {
		var once sync.Once
		for sc := bufio.NewScanner(conn); sc.Scan(); {
			line := sc.Text()
			if token, ok := strings.CutPrefix(line, "PING"); ok {
				fmt.Fprintf(conn, "PONG%s\r\n", token)
			}
			switch {
			case strings.Contains(line, " 001 "):
				fmt.Fprintf(conn, "JOIN %s\r\n", strings.Join(channels, ","))
			case strings.Contains(line, " 366 "): // the end of the member list
				once.Do(func() { close(welcome) })
			}
			e.mu.Lock()
			e.heard = append(e.heard, line)
			e.mu.Unlock()
		}
	})
	select {
	case <-welcome:
	case <-time.After(time.Minute):
		t.Fatal("not in the channel after a minute")
	}
	return e
}

// says sends a message.
func (e *ears) says(target, text string) {
	e.t.Helper()
	if _, err := fmt.Fprintf(e.conn, "PRIVMSG %s :%s\r\n", target, text); err != nil {
		e.t.Fatal(err)
	}
}

// hears waits for a line that contains one of these strings.
func (e *ears) hears(texts ...string) {
	e.t.Helper()
	for deadline := time.Now().Add(2 * time.Minute); ; time.Sleep(10 * time.Millisecond) {
		e.mu.Lock()
		heard := strings.Join(e.heard, "\n")
		e.mu.Unlock()
		for _, text := range texts {
			if strings.Contains(heard, text) {
				return
			}
		}
		if time.Now().After(deadline) {
			e.t.Fatalf("never heard: %q in\n%s", texts, heard)
		}
	}
}

// all returns all lines received so far.
func (e *ears) all() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return slices.Clone(e.heard)
}

// counts returns how often the first group of a pattern matched each string.
func (e *ears) counts(of *regexp.Regexp) map[string]int {
	e.mu.Lock()
	defer e.mu.Unlock()
	n := map[string]int{}
	for _, line := range e.heard {
		if m := of.FindStringSubmatch(line); m != nil {
			n[m[1]]++
		}
	}
	return n
}
