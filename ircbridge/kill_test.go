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
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// TestMain runs the tests or, if IRCBRIDGE_BE is set, a bridge that a test will kill. The
// variable contains the paths of the bridge's store and home, and the address of the
// server.
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
		Options: bridge.Options{Store: store, Home: args[1], Channels: bridge.Channels{Project: "#project-x"}, Allow: []bridge.Permit{{Nick: "ann", May: bridge.Rights()}}, WakesPerMinute: -1, BufferSize: allLines},
		Server:  ircbridge.Server{Addr: args[2], Nick: "swarm", Unlimited: true, RetryMin: 10 * time.Millisecond, RetryMax: 100 * time.Millisecond},
	})
	if err != nil {
		return err
	}
	return b.Run(context.Background())
}

// atOnce is the maximum number of messages that are waiting for IRC while bridges are
// killed.
const atOnce = 12

// TestKilled kills the bridge's process at 20 random moments while messages are being
// sent and lines are being received. At each of these moments, a message is in flight
// between the bridge and the server.
//
// No outgoing message is lost. If the server has a history, no message is sent twice.
// Otherwise, at most four unproven messages per kill are sent again and marked. See
// [traffic.checkIn] for incoming lines.
func TestKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Run("with history", func(t *testing.T) {
		t.Parallel()
		killed(t, withHistory(t))
	})
	onEachServer(t, func(t *testing.T, addr string) { killed(t, withoutHistory(t, addr)) })
}

func killed(t *testing.T, s *traffic) {
	t.Helper()
	s.o.Channels = bridge.Channels{Project: "#project-x"}
	s.start()
	s.ready()
	s.line()
	eventually(t, "the first line is heard", func() bool { // the bridge may miss earlier lines
		heard, _ := s.heard()
		return heard[0] > 0
	})
	s.stop()
	inWork := 0
	for i := range 20 {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "IRCBRIDGE_BE="+strings.Join([]string{s.store.Dir(), s.home, s.proxy.Addr}, "\n"))
		cmd.Stderr = os.Stderr
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		moment := rand.N(3 * time.Millisecond)
		struck := s.proxy.OnText(bothWays[i%2], rand.N(60), func() {
			if i%4 > 1 { // in the other cases, the bridge is killed immediately, before the message has passed
				time.AfterFunc(moment, func() { _ = cmd.Process.Kill() })
				return
			}
			_ = cmd.Process.Kill()
		})
		ended := make(chan error, 1)
		go func() { ended <- cmd.Wait() }() // this goroutine ends when the bridge is killed
		eventually(t, "it is killed", func() bool {
			if s.drops-s.finished() < atOnce {
				s.drop()
			}
			s.line()
			select {
			case err := <-ended:
				select {
				case <-struck:
					return true
				default:
					t.Fatalf("the bridge ended by itself: %v", err)
				}
			default:
			}
			return false
		}, s.mailbox)
		if claimed, err := s.box.Claimed(); err != nil {
			t.Fatal(err)
		} else if len(claimed) > 0 {
			inWork++
		}
	}
	t.Logf("at %d of 20 kills, messages were claimed", inWork)
	s.start()
	s.checkOut()
	s.checkIn(s.drops / 2)
}
