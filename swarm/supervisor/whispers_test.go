package supervisor_test

import (
	"os"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// usual are the settings of the configuration's defaults.
var usual = supervisor.Settings{Window: 20, Interval: 5, Threshold: 3, SameCall: 3, SameError: 3, StepsWithoutChange: 30}

// heard is what a supervisor gave out.
type heard struct {
	whispers    []supervisor.Whisper
	escalations []supervisor.Escalation
}

// watch plays a recording to a supervisor with the rules alone.
func watch(s supervisor.Settings, rec recording) (h heard) {
	sup := supervisor.New(supervisor.Options{
		Settings:     s,
		OnWhisper:    func(w supervisor.Whisper) { h.whispers = append(h.whispers, w) },
		OnEscalation: func(e supervisor.Escalation) { h.escalations = append(h.escalations, e) },
	})
	w := sup.Watch("coder")
	for i, turn := range rec.turns {
		w.Begin(supervisor.Turn{ID: turn.message + "-" + string(rune('a'+i)), Message: turn.message, Task: rec.name, Tools: rec.kind.Tools, Writes: !rec.readonly})
		for j := range turn.events {
			w.Event(&turn.events[j])
		}
		w.End()
	}
	return h
}

// calm returns the turns that get on, in groups.
func calm(t *testing.T) map[string][]recording {
	groups := map[string][]recording{
		"written, seen":   scripts(t, "testdata/calm/seen.txt"),
		"written, unseen": scripts(t, "testdata/calm/unseen.txt"),
	}
	for _, rec := range recorded(t) {
		group := "recorded, seen"
		if unseen(rec.name) {
			group = "recorded, unseen"
		}
		groups[group] = append(groups[group], rec)
	}
	for seed := range uint64(120) {
		group := "made, seen"
		if seed%2 == 1 {
			group = "made, unseen"
		}
		groups[group] = append(groups[group], day(seed))
	}
	return groups
}

func TestFalseWhispers(t *testing.T) {
	for group, all := range calm(t) {
		if strings.Contains(group, "unseen") && os.Getenv("UNSEEN") == "" {
			continue
		}
		turns, bad := 0, 0
		for _, rec := range all {
			h := watch(usual, rec)
			turns += len(rec.turns)
			for _, w := range h.whispers {
				t.Logf("%s: %s: %s", group, rec.name, w.Text())
			}
			for _, e := range h.escalations {
				t.Logf("%s: %s: %s", group, rec.name, e.Text())
			}
			if len(h.whispers) > 0 {
				bad++
			}
		}
		t.Logf("%s: %d recordings, %d turns, %d with whispers", group, len(all), turns, bad)
	}
	loops := scripts(t, "testdata/loops/seen.txt")
	if os.Getenv("UNSEEN") != "" {
		loops = append(loops, scripts(t, "testdata/loops/unseen.txt")...)
	}
	for _, rec := range loops {
		h := watch(usual, rec)
		t.Logf("loop: %s: %d whispers, %d escalations", rec.name, len(h.whispers), len(h.escalations))
	}
}
