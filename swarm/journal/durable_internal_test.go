package journal

import (
	"fmt"
	"os"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// After a power cut at any step, each of the daemon's durable files has either its old
// or its new content. If it has the old content, its writer returned an error.
func TestThePowerCutsInEveryFileOfTheDaemon(t *testing.T) {
	at := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		file  func(h Home) string
		write func(h Home, n int) error
	}{
		"what is paused and stopped": {Home.stateFile, func(h Home, n int) error {
			s, err := OpenHolds(h)
			if err != nil {
				return err
			}
			return s.Change("coder", func(st *Hold) { st.Until = at.Add(time.Duration(n) * time.Hour) })
		}},
		"sessions": {Home.sessionsFile, func(h Home, n int) error {
			s, err := OpenSessions(h)
			if err != nil {
				return err
			}
			return s.Set("coder", Session{ID: fmt.Sprint(n)})
		}},
		"the record of a turn": {func(h Home) string { return h.TurnFile("m-1", ".json") }, func(h Home, n int) error {
			return (&Record{Turn: "m-1", Agent: "coder", Hops: n}).Write(h)
		}},
		"who is attached": {func(h Home) string { return h.BindingFile("ada") }, func(h Home, n int) error {
			if err := os.MkdirAll(h.bindings(), 0o700); err != nil {
				return err
			}
			return (&Binding{Agent: "ada", Session: fmt.Sprint(n)}).Write(h)
		}},
	} {
		t.Run(name, func(t *testing.T) {
			home := HomeOf(t.TempDir())
			if err := home.Make(); err != nil {
				t.Fatal(err)
			}
			durabletest.Check(t, c.file(home), func(f durable.Files, n int) error { return c.write(home.With(f), n) })
		})
	}
}

// Secrets are durable before anybody can use them. After a power cut the old secrets
// remain, and the next call creates the missing ones.
func TestThePowerCutsInTheTokens(t *testing.T) {
	home := HomeOf(t.TempDir())
	first, err := home.Tokens("coder")
	if err != nil {
		t.Fatal(err)
	}
	for n := range 5 {
		cut := &durabletest.Cut{Before: n}
		if _, err := home.With(durable.Files{Step: cut.Step}).Tokens("coder", fmt.Sprint("agent", n)); err == nil {
			t.Errorf("cut before change %d: no error", n)
		}
		read, err := tokens.Read(home.dir)
		if err != nil {
			t.Fatal(err)
		}
		if read["coder"] != first["coder"] {
			t.Errorf("cut before change %d: coder has another secret", n)
		}
	}
	again, err := home.Tokens("coder", "agent0")
	if err != nil || again["coder"] != first["coder"] || again["agent0"] == "" {
		t.Errorf("Tokens = %v (%v)", again, err)
	}
}
