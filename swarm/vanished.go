package swarm

import (
	"log/slog"
	"maps"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// vanishedAgain is the time between the two checks after which a message that was deleted
// is reported. Between them, a message that another program is moving arrives.
const vanishedAgain = time.Second

// A census finds messages that another program, such as git clean, deleted while they were
// waiting. Only the sweep goroutine uses a census.
type census struct {
	store   *dropbox.Store
	notices *notice.Teller
	plan    func() Plan
	members func() []*member
	log     *slog.Logger
	// waiting contains the ids of the messages that the last check found in a mailbox.
	// The queues of the agents contain more recent ones.
	waiting map[string]map[string]bool
	// missing contains the messages that the last check could not find, with the times
	// when they were first missing.
	missing map[string]map[string]time.Time
	// told contains the messages that the lead was told about and that a queue still contains:
	// an agent that is held lists its mailbox again only when the hold is over.
	told map[string]map[string]bool
}

func newCensus(store *dropbox.Store, notices *notice.Teller, plan func() Plan, members func() []*member, log *slog.Logger) *census {
	return &census{
		store: store, notices: notices, plan: plan, members: members, log: log,
		waiting: map[string]map[string]bool{}, missing: map[string]map[string]time.Time{}, told: map[string]map[string]bool{},
	}
}

// check compares the mailboxes with the last check, and tells the lead about messages that
// are gone. It reports whether another check is necessary soon.
func (c *census) check(now time.Time) (soon bool) {
	vanished := map[string][]string{}
	for name, known := range c.known() {
		missing, err := c.look(name, known, now)
		if err != nil {
			c.waiting[name] = known // the next check compares again
			continue
		}
		told := c.told[name]
		maps.DeleteFunc(told, func(id string, _ bool) bool { return !known[id] || c.waiting[name][id] })
		for id, since := range missing {
			switch {
			case told[id]:
				delete(missing, id)
			case now.Sub(since) >= vanishedAgain:
				if told == nil {
					told = map[string]bool{}
					c.told[name] = told
				}
				vanished[name], told[id] = append(vanished[name], id), true
				delete(missing, id)
			}
		}
		c.missing[name] = missing
		soon = soon || len(missing) > 0
	}
	c.tell(vanished, now)
	return soon
}

// known returns the ids of the messages that should be waiting in each mailbox.
func (c *census) known() map[string]map[string]bool {
	all := map[string]map[string]bool{}
	for _, name := range append(dropbox.Bridges(), dropbox.Lead) {
		all[name] = maps.Clone(c.waiting[name])
	}
	for _, m := range c.members() {
		known, claimed := m.inbox.Queue.TakeKnown()
		for id := range c.waiting[m.name] {
			if !claimed[id] {
				known[id] = true
			}
		}
		all[m.name] = known
	}
	for name, missing := range c.missing {
		for id := range missing {
			if all[name] != nil {
				all[name][id] = true
			}
		}
	}
	return all
}

// look returns the known messages that are nowhere in a mailbox, with the times when they
// were first missing.
func (c *census) look(name string, known map[string]bool, now time.Time) (map[string]time.Time, error) {
	box, err := c.store.Mailbox(name)
	if err != nil {
		return nil, err
	}
	waiting, err := box.Peek()
	if err != nil {
		return nil, err
	}
	here := map[string]bool{}
	for _, e := range waiting {
		here[e.ID] = true
	}
	was := c.missing[name]
	c.waiting[name] = here
	missing := map[string]time.Time{}
	for id := range known {
		if !here[id] {
			missing[id] = now
			if since, ok := was[id]; ok {
				missing[id] = since
			}
		}
	}
	if len(missing) == 0 {
		return missing, nil
	}
	for f, err := range box.All() {
		if err != nil {
			return nil, err
		}
		delete(missing, f.Entry.ID)
	}
	return missing, nil
}

// tell tells the lead which messages are gone.
func (c *census) tell(vanished map[string][]string, now time.Time) {
	if len(vanished) == 0 {
		return
	}
	total := 0
	for _, ids := range vanished {
		total += len(ids)
	}
	c.log.Warn("waiting messages were deleted by another program", "messages", total)
	c.notices.Tell(notice.Vanished{At: now, Messages: vanished, Lead: c.plan().Names.Called(dropbox.Lead)})
}
