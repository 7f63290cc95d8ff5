package hold_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func TestOff(t *testing.T) {
	closed := weekdays(t)
	const monday = 20 * time.Hour // from noon on Sunday until 08:00
	wait := want{kind: hold.KindOff, state: "off", until: monday, why: "outside its hours", next: "begins again at " + at(monday) + "; claude-swarm resume coder lets it work now"}
	there := closed
	there.Zone = time.FixedZone("Test/There", 5*60*60)
	abroad := wait
	abroad.until = monday - 5*time.Hour
	abroad.next = "begins again at " + at(monday-5*time.Hour) + " (Mon 08:00 in Test/There); claude-swarm resume coder lets it work now"
	overtime := func(since, until time.Duration) journal.Hold {
		return journal.Hold{Overtime: &journal.Overtime{Since: noon.Add(since), Until: noon.Add(until)}}
	}
	passes := func(yes bool) func() bool { return func() bool { return yes } }
	local := time.Local
	time.Local = time.UTC
	t.Cleanup(func() { time.Local = local })
	for name, c := range map[string]struct {
		hours  hours.Hours
		record journal.Hold
		passes func() bool
		want   want
	}{
		"no hours":                    {},
		"closed":                      {hours: closed, want: wait},
		"in another zone":             {hours: there, want: abroad},
		"overtime":                    {hours: closed, record: overtime(-time.Hour, time.Hour)},
		"overtime is over":            {hours: closed, record: overtime(-2*time.Hour, -time.Hour), want: wait},
		"overtime, clock was set":     {hours: closed, record: overtime(time.Hour, 2*time.Hour), want: wait},
		"overtime, clock was trimmed": {hours: closed, record: overtime(30*time.Second, 2*time.Hour)},
		"urgent mail of a person":     {hours: closed, passes: passes(true)},
		"other mail":                  {hours: closed, passes: passes(false), want: wait},
	} {
		t.Run(name, func(t *testing.T) {
			q := about(c.record)
			q.Hours, q.Passes = c.hours, c.passes
			check(t, hold.Off{}, q, c.want)
		})
	}
}

// Mail is looked through only if the agent is off.
func TestMailIsReadOnlyOutsideTheHours(t *testing.T) {
	q := about(journal.Hold{})
	q.Passes = func() bool {
		t.Error("asked within the hours")
		return true
	}
	check(t, hold.Off{}, q, want{})
}
