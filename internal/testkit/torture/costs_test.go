//go:build linux

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// TestTallyFindsWhatIsBookedWrong books the turns of one session, first correctly, as the
// daemon does, and then incorrectly. One client runs the first turn; another client, which
// lingers, runs the others.
func TestTallyFindsWhatIsBookedWrong(t *testing.T) {
	for name, c := range map[string]struct {
		book  func(b *bookedTurn) float64
		wrong int
	}{
		"as the daemon does":       {func(b *bookedTurn) float64 { return b.account.CostUSD }, 0},
		"the total of the session": {func(b *bookedTurn) float64 { return b.total }, 2},
		"nothing":                  {func(b *bookedTurn) float64 { return 0 }, 3},
		"twice":                    {func(b *bookedTurn) float64 { return 2 * b.account.CostUSD }, 3},
	} {
		t.Run(name, func(t *testing.T) {
			a := &arena{dir: t.TempDir()}
			if err := a.own().Make(); err != nil {
				t.Fatal(err)
			}
			var ledger bytes.Buffer
			turns := map[string]turn{}
			for _, b := range threeTurns(t, a) {
				turns[b.UUID] = b.turn
				fmt.Fprintf(&ledger, `{"v":1,"turn":%q,"agent":"agent0","outcome":"done","cost_usd":%v}`+"\n", b.Turn, c.book(b))
			}
			if err := os.WriteFile(a.own().Ledger(), ledger.Bytes(), 0o600); err != nil {
				t.Fatal(err)
			}
			var got counts
			if err := a.tallyCosts(&got, turns); err != nil {
				t.Fatal(err)
			}
			if got.Doubled != c.wrong {
				t.Errorf("%d turns are booked wrong, want %d: %v", got.Doubled, c.wrong, got.Evidence)
			}
		})
	}
}

// A bookedTurn is a turn with the costs that its client reported.
type bookedTurn struct {
	turn
	account runner.Outcome
	total   float64 // total of the session
}

// threeTurns makes the stand-in run turn a in one client and then turns b and c in
// another.
func threeTurns(t *testing.T, a *arena) []*bookedTurn {
	t.Helper()
	const session = "a1a1a1a1-0000-4000-8000-000000000001"
	t.Setenv("CLAUDE_CONFIG_DIR", t.TempDir())
	all := []*bookedTurn{{turn: turn{Turn: "a", UUID: "a"}}, {turn: turn{Turn: "b", UUID: "b"}}, {turn: turn{Turn: "c", UUID: "c", Client: "b"}}}
	client := func(stream string, turns []*bookedTurn, args ...string) {
		// If several prompts were waiting, they would become one turn, so each prompt is run
		// separately. The outputs are joined into one stream, as with a client that lingers.
		var out bytes.Buffer
		for _, b := range turns {
			line, err := json.Marshal(map[string]any{"type": "user", "uuid": b.UUID, "message": map[string]any{"role": "user", "content": "@cost 0.25\n@say " + b.UUID}})
			if err != nil {
				t.Fatal(err)
			}
			b.From.Offset = int64(out.Len())
			words := append([]string{"-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"}, args...)
			var stderr strings.Builder
			if status := standin.Main(words, os.Environ(), bytes.NewReader(line), &out, &stderr); status != 0 {
				t.Fatalf("exit %d: %s", status, stderr.String())
			}
			account := runner.NewAccount(claude.Kind(), runner.Place{})
			for dec := streamjson.NewDecoder(bytes.NewReader(out.Bytes()[b.From.Offset:]), 0); ; {
				ev, err := dec.Next()
				if err != nil {
					break
				}
				account.Observe(ev)
			}
			account.Fill(&b.account)
			b.total = account.Place(0).CostUSD
			args = []string{"--resume", session}
		}
		if err := os.WriteFile(a.own().Stream(stream), out.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	client("a", all[:1], "--session-id", session)
	client("b", all[1:], "--resume", session)
	return all
}
