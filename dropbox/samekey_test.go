package dropbox_test

import (
	"bufio"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func init() { programs["senders"] = senders }

// senders delivers a message with each key that it reads and prints the message's id.
func senders(dir string, args []string) error {
	o := dropbox.Options{}
	if args[0] != "" {
		o.Step = refuse(syscall.EINVAL, dropbox.Op(args[0]))
	}
	s, err := dropbox.Open(dir, o)
	if err != nil {
		return err
	}
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		d, err := s.Deliver("coder", keyed(in.Text()))
		if err != nil {
			return err
		}
		fmt.Println(d.ID)
	}
	return in.Err()
}

// A crowd is a group of twenty processes that send at the same moment.
type crowd struct {
	t       *testing.T
	command func() *exec.Cmd
	members [20]member
}

type member struct {
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Scanner
}

func (c *crowd) start(i int) {
	c.t.Helper()
	m := member{cmd: c.command()}
	m.cmd.Stderr = os.Stderr
	in, err := m.cmd.StdinPipe()
	if err != nil {
		c.t.Fatal(err)
	}
	out, err := m.cmd.StdoutPipe()
	if err == nil {
		err = m.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	m.in, m.out = in, bufio.NewScanner(out)
	c.members[i] = m
}

// stop stops all processes and waits for them to exit.
func (c *crowd) stop() {
	for i := range c.members {
		c.members[i].in.Close()
		if err := c.members[i].cmd.Wait(); err != nil {
			c.t.Error(err)
		}
	}
}

// send makes all processes send with the same key. It kills the first toKill of them at a
// random moment and replaces them. It returns the ids that the processes printed.
func (c *crowd) send(key string, toKill int, rng *rand.Rand) (told []string) {
	c.t.Helper()
	for i := range c.members {
		if _, err := io.WriteString(c.members[i].in, key+"\n"); err != nil {
			c.t.Fatal(err)
		}
	}
	for i := range toKill {
		for range rng.IntN(20_000) { // from less than the time for one delivery to more than the time for all deliveries
			rng.Uint64()
		}
		if err := c.members[i].cmd.Process.Kill(); err != nil {
			c.t.Fatal(err)
		}
	}
	ids := make([]string, len(c.members))
	var wg sync.WaitGroup
	for i := range c.members {
		wg.Go(func() {
			if c.members[i].out.Scan() {
				ids[i] = c.members[i].out.Text()
			}
			if i < toKill {
				c.members[i].cmd.Wait() // the process was killed or is about to be killed
			}
		})
	}
	wg.Wait()
	for i, id := range ids {
		switch {
		case id != "":
			told = append(told, id)
		case i >= toKill:
			c.t.Fatalf("%s: a process that was not killed printed nothing", key)
		}
		if i < toKill {
			c.start(i)
		}
	}
	return told
}

// Twenty processes send with the same key at the same moment, in many rounds. In two out
// of three rounds, some or all of the processes are killed while they send, and a later
// sender uses the same key. Afterwards there is exactly one message per key, and every
// sender that was not killed has learned its id.
func TestOneKeyTwentyProcesses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, cannot := range map[string]dropbox.Op{"all that a disk can do": "", "no hard links": dropbox.OpLink, "no rename that refuses": dropbox.OpMove} {
		t.Run(name, func(t *testing.T) {
			s := keyStore(t)
			c := &crowd{t: t, command: func() *exec.Cmd { return helper("senders", s.Dir(), string(cannot)) }}
			for i := range c.members {
				c.start(i)
			}
			defer c.stop()
			rounds := 100
			if cannot != "" {
				rounds = 21
			}
			if long {
				rounds *= 20
			}
			b := mailbox(t, s, "coder")
			rng := rand.New(rand.NewPCG(1, uint64(len(cannot))))
			ids := make(map[string]string) // the id of the message with each key
			killed := 0
			for round := range rounds {
				key := fmt.Sprint("round ", round)
				toKill := []int{0, 5, 20}[round%3]
				killed += toKill
				told := c.send(key, toKill, rng)
				if len(told) < len(c.members) { // a later sender
					told = append(told, deliver(t, s, "coder", keyed(key)).ID)
				}
				for _, id := range told {
					if id != told[0] {
						t.Fatalf("%s: told %s and %s", key, told[0], id)
					}
				}
				ids[key] = told[0]
				// After every second round, a daemon processes the mailbox.
				if round%2 == 0 {
					if err := work(b); err != nil {
						t.Fatal(err)
					}
				}
			}
			count := make(map[string]int)
			for f, err := range s.All() {
				if err != nil {
					t.Fatal(err)
				}
				count[f.Entry.ID]++
			}
			for key, id := range ids {
				if count[id] != 1 {
					t.Errorf("%s: its message exists %d times", key, count[id])
				}
				delete(count, id)
			}
			if len(count) > 0 {
				t.Errorf("messages that nobody was told of: %v", count)
			}
			tally(t, strings.TrimSpace("kill -9 of one of 20 senders with one key, "+name), killed)
		})
	}
}

// keyStore returns a store in memory if the system provides an in-memory folder. The
// test checks how the processes interfere with each other, and a disk would only slow
// them down.
func keyStore(t *testing.T) *dropbox.Store {
	t.Helper()
	dir := fastFolder(t) + "/.dead-drop"
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	return reopen(t, dir, dropbox.Options{}, "coder")
}
