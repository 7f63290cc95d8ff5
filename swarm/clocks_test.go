package swarm_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// An earlier daemon recorded times that are now an hour ahead because the clock was set
// back, or a day behind because the clock was set forward. In neither case do these times
// stop an agent from working.
func TestAClockThatWasSet(t *testing.T) {
	const word = "2006-01-02T15:04:05.999999999Z07:00"
	for name, shift := range map[string]time.Duration{"back an hour": time.Hour, "forward a day": -24 * time.Hour} {
		for what, standing := range map[string]func(at time.Time) map[string]any{
			"pause": func(at time.Time) map[string]any {
				return map[string]any{"paused": map[string]any{"by": "lead", "since": at.Format(word), "until": at.Add(300 * time.Millisecond).Format(word)}}
			},
			"back-off": func(at time.Time) map[string]any {
				return map[string]any{"backoff_until": at.Add(300 * time.Millisecond).Format(word), "backoff_why": "failed"}
			},
		} {
			t.Run(what+", set "+name, func(t *testing.T) {
				inBubble(t, func(t *testing.T) {
					f := newField(t, "coder")
					home := journal.HomeOf(f.dir)
					if err := home.Make(); err != nil {
						t.Fatal(err)
					}
					state := map[string]any{"v": 1, "agents": map[string]any{"coder": standing(time.Now().UTC().Add(shift))}}
					data, err := json.Marshal(state)
					if err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(filepath.Join(home.Dir(), "state.json"), data, 0o600); err != nil {
						t.Fatal(err)
					}
					f.start()
					f.answer(f.send("coder", "work"))
				})
			})
		}
	}
}

// When the clock is set forward past the expiry of a message, the agent gives up the
// message and its sender gets a bounce. The agent then works on the next message.
func TestAMessageThatExpiredByTheClock(t *testing.T) {
	f := newField(t, "coder")
	late := f.send("coder", "too late", func(m *dropbox.Message) { m.Expires = time.Now().Add(-23 * time.Hour) })
	f.start()
	if b := f.answer(late); b.From != dropbox.Swarm {
		t.Errorf("answered by %s, want a bounce", b.From)
	}
	f.answer(f.send("coder", "in time"))
}
