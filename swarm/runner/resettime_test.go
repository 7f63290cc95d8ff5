package runner_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A time is read only if it is one that a clock can show; a time that is wrong would park
// the agents until then.
func TestResetTime(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Fatal(err)
	}
	now := time.Date(2026, 11, 21, 14, 30, 0, 0, time.UTC) // 15:30 in Berlin
	for text, want := range map[string]time.Time{
		"Claude AI usage limit reached|1795237200":                   time.Unix(1795237200, 0),
		"You've hit your limit · resets 3pm (Europe/Berlin)":         time.Date(2026, 11, 22, 15, 0, 0, 0, berlin),
		"You've hit your session limit · resets 5:45pm (UTC)":        time.Date(2026, 11, 21, 17, 45, 0, 0, time.UTC),
		"5-hour limit reached ∙ resets 12am":                         time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC),
		"Weekly limit reached ∙ resets Jan 3, 10am":                  time.Date(2027, 1, 3, 10, 0, 0, 0, time.UTC),
		"You've hit your weekly limit · resets Nov 24 at 9am (UTC)":  time.Date(2026, 11, 24, 9, 0, 0, 0, time.UTC),
		"usage limit, resets at 18:05":                               time.Date(2026, 11, 21, 18, 5, 0, 0, time.UTC),
		"limit reached, resets in 2h 30m":                            now.Add(150 * time.Minute),
		"limit reached, resets in 3 days":                            now.Add(72 * time.Hour),
		"You've hit your limit · resets 3pm (Nowhere/At All)":        {},
		"limit reached · resets 25:00":                               {},
		"limit reached · resets 25:10":                               {},
		"limit reached · resets 24:00":                               {},
		"limit reached · resets 23:60":                               {},
		"limit reached · resets 23:59":                               time.Date(2026, 11, 21, 23, 59, 0, 0, time.UTC),
		"limit reached · resets 14:30":                               time.Date(2026, 11, 22, 14, 30, 0, 0, time.UTC),
		"limit reached · resets 12pm (UTC)":                          time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC),
		"limit reached · resets Foo 3, 10am":                         {},
		"limit reached · resets Nov 21, 9am (UTC)":                   time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC),
		"limit reached · resets Nov 19, 9am (UTC)":                   time.Date(2027, 11, 19, 9, 0, 0, 0, time.UTC),
		"limit reached · resets 3":                                   {},
		"API Error: Request rejected (429) · Please try again later": {},
	} {
		if got := runner.ResetTime(text, now); !got.Equal(want) {
			t.Errorf("ResetTime(%q) = %v, want %v", text, got, want)
		}
	}
}
