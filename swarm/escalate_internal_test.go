package swarm

import (
	"errors"
	"slices"
	"testing"
	"time"
)

// The steps are taken in order, even if the checks are rare. A failed step is repeated
// until the next step is due.
func TestStepsOfUnclaimedWork(t *testing.T) {
	const patience = 2 * time.Minute
	cut := errors.New("disk full")
	for name, c := range map[string]struct {
		subscribers, fallback bool
		every                 time.Duration // time between two checks
		fails                 map[step]int  // how many times each step fails
		want                  []step
		at                    []int // numbers of the checks, from 1
	}{
		"all":                   {true, true, time.Minute, nil, []step{urged, fellBack, told}, []int{2, 4, 6}},
		"checked rarely":        {true, true, time.Hour, nil, []step{urged, fellBack, told}, []int{1, 2, 3}},
		"checked often":         {true, true, 30 * time.Second, nil, []step{urged, fellBack, told}, []int{4, 8, 12}},
		"nobody subscribes":     {false, true, time.Minute, nil, []step{fellBack, told}, []int{2, 4}},
		"no fallback":           {true, false, time.Minute, nil, []step{urged, told}, []int{2, 4}},
		"neither":               {false, false, time.Minute, nil, []step{told}, []int{2}},
		"an offer fails":        {true, false, 30 * time.Second, map[step]int{urged: 2}, []step{urged, urged, urged, told}, []int{4, 5, 6, 8}},
		"an offer always fails": {true, true, time.Minute, map[step]int{urged: 99}, []step{urged, urged, fellBack, told}, []int{2, 3, 4, 6}},
		"a fallback fails once": {true, true, time.Minute, map[step]int{fellBack: 1}, []step{urged, fellBack, fellBack, told}, []int{2, 4, 5, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
			u := unclaimed{}
			u.open("id", now)
			var got []step
			var at []int
			for look := 1; look <= 20; look++ {
				now = now.Add(c.every)
				w := u.open("id", now)
				s, ok := w.due(c.subscribers, c.fallback, patience, now)
				if !ok {
					continue
				}
				var err error
				if c.fails[s] > 0 {
					c.fails[s]--
					err = cut
				}
				w.took(s, now, err)
				got, at = append(got, s), append(at, look)
			}
			if !slices.Equal(got, c.want) || !slices.Equal(at, c.at) {
				t.Errorf("steps %v at the checks %v, want %v at %v", got, at, c.want, c.at)
			}
		})
	}
}

// The wait for a step does not advance while an agent has the work, or while everything
// is halted.
func TestWhatIsHeldWaitsAgain(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	u := unclaimed{}
	u.open("id", now)
	now = now.Add(time.Hour)
	u.hold("id", now)
	w := u.open("id", now.Add(time.Minute))
	if s, ok := w.due(true, true, 2*time.Minute, now.Add(time.Minute)); ok {
		t.Errorf("step %v a minute after it was given back", s)
	}
	if s, ok := w.due(true, true, 2*time.Minute, now.Add(2*time.Minute)); !ok || s != urged {
		t.Errorf("step %v, %v two minutes after it was given back, want the urgent offer", s, ok)
	}
	u.keep(nil)
	if len(u) != 0 {
		t.Errorf("%d are kept that are closed", len(u))
	}
}
