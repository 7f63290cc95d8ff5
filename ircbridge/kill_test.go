package ircbridge_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc/irctest"
)

// TestMain is also a bridge by itself, to be killed: IRCBRIDGE_BE has the folders of its
// store and its home, and the address of the server.
func TestMain(m *testing.M) {
	if be := os.Getenv("IRCBRIDGE_BE"); be != "" {
		if err := beBridge(strings.Split(be, "\n")); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

func beBridge(args []string) error {
	store, err := dropbox.Open(args[0], dropbox.Options{})
	if err != nil {
		return err
	}
	b, err := ircbridge.New(ircbridge.Options{
		Store: store, Home: args[1], Server: ircbridge.Server{Addr: args[2], Nick: "swarm", Unlimited: true, RetryMin: 10 * time.Millisecond, RetryMax: 100 * time.Millisecond},
		Channels: ircbridge.Channels{Project: "#project-x"},
	})
	if err != nil {
		return err
	}
	return b.Run(context.Background())
}

// TestKilled ends the bridge's process at 20 random moments, while messages come.
func TestKilled(t *testing.T) {
	for name, start := range map[string]func(t *testing.T) (addr string, said func() []string, history bool){
		"with history": func(t *testing.T) (string, func() []string, bool) {
			srv := irctest.NewServer(t, irctest.Features{})
			return srv.Addr, func() []string {
				var all []string
				for _, m := range srv.Said("#project-x") {
					all = append(all, m.Text)
				}
				return all
			}, true
		},
		"ngircd": func(t *testing.T) (string, func() []string, bool) {
			addr := irctest.Ngircd(t, irctest.Unlimited)
			ann := newPerson(t, addr, "ann", "#project-x")
			return addr, func() []string {
				var all []string
				for _, l := range ann.lines() {
					_, text, _ := strings.Cut(l, ": ")
					all = append(all, text)
				}
				return all
			}, false
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			addr, said, history := start(t)
			s := newScene(t, addr)
			n := 0
			for range 20 {
				cmd := exec.Command(os.Args[0])
				cmd.Env = append(os.Environ(), "IRCBRIDGE_BE="+strings.Join([]string{s.store.Dir(), s.home, addr}, "\n"))
				cmd.Stderr = os.Stderr
				if err := cmd.Start(); err != nil {
					t.Fatal(err)
				}
				before := len(said())
				for range 15 {
					s.say("coder", ircbridge.Note{}, fmt.Sprintf("drop %d", n))
					n++
				}
				// A new process has to come up and to register before there is something to
				// hit, so the moment is counted from its first word.
				eventually(t, "a word", func() bool { return len(said()) > before })
				moment := time.After(rand.N(20 * time.Millisecond)) // any moment will do
				<-moment
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
				cmd.Wait() // it was killed
			}
			s.o.Channels = ircbridge.Channels{Project: "#project-x"}
			s.start()
			s.state("all is said", func(st ircbridge.State) bool { return st.Connected && st.Waiting == 0 && st.Unproven == 0 })
			lost, again := 0, 0
			var all []string
			eventually(t, "the last line", func() bool {
				all = said()
				return count(all, fmt.Sprintf("[coder] drop %d", n-1))+count(all, fmt.Sprintf("[coder] (again) drop %d", n-1)) > 0
			})
			for i := range n {
				first, more := count(all, fmt.Sprintf("[coder] drop %d", i)), count(all, fmt.Sprintf("[coder] (again) drop %d", i))
				again += more
				switch {
				case first+more == 0:
					lost++
					t.Errorf("drop %d is lost", i)
				case first > 1:
					t.Errorf("drop %d was said %d times without a mark", i, first)
				case first+more > 1 && history:
					t.Errorf("drop %d was said %d times, and the history was there", i, first+more)
				}
			}
			t.Logf("%d messages, 20 kills: lost %d, said again %d (marked)", n, lost, again)
			if again > 4*20 {
				t.Errorf("%d were said again, want at most 4 for each kill", again)
			}
		})
	}
}
