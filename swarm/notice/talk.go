package notice

import (
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// talkedFor is how long a person counts as present after a line to an agent.
const talkedFor = 10 * time.Minute

// isTrouble reports whether an event of the quiet hours says that an agent does not go on as it
// should, so that a person who is talking to the agent needs to know it.
func isTrouble(ev journal.Event) bool {
	switch ev.Kind {
	case journal.Noticed, journal.Alert, journal.Dead, journal.Failed:
		return !ev.Quiet.IsZero() && ev.Agent != "" && ev.To != ev.Agent && tellsPerson(ev) && isError(ev)
	}
	return false
}

// talkWith returns the lines that people wrote to an agent through the announcer's bridge shortly
// before a time, newest first.
func (t *Teller) talkWith(agent string, at time.Time) (lines []*dropbox.Message) {
	box, err := t.Store.Mailbox(agent)
	if err != nil {
		return nil // the agent is gone
	}
	since := at.Add(-talkedFor)
	add := func(e dropbox.Entry, m *dropbox.Message, err error) {
		if err == nil && m.From == t.Announcer.Bridge() && e.Created.After(since) && !e.Created.After(at.Add(time.Minute)) {
			lines = append(lines, m)
		}
	}
	for _, list := range []func() ([]dropbox.Entry, error){box.Peek, box.Claimed} {
		entries, err := list()
		if err != nil {
			t.Log.Warn("it is unknown who talks to an agent", keyAgent, agent, keyErr, err)
		}
		for _, e := range entries {
			if e.Created.After(since) {
				m, err := box.Read(e)
				add(e, m, err)
			}
		}
	}
	for _, day := range slices.Compact([]string{since.UTC().Format(time.DateOnly), time.Now().UTC().Format(time.DateOnly)}) {
		when, err := time.Parse(time.DateOnly, day)
		if err != nil {
			continue // cannot happen
		}
		filed, err := box.Filed(when)
		if err != nil {
			t.Log.Warn("it is unknown who talks to an agent", keyAgent, agent, keyErr, err)
		}
		for _, f := range filed {
			if f.Entry.Created.After(since) {
				m, err := t.Store.Load(f)
				add(f.Entry, m, err)
			}
		}
	}
	slices.SortFunc(lines, func(a, b *dropbox.Message) int { return b.Created.Compare(a.Created) })
	return lines
}
