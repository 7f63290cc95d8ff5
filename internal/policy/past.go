package policy

import (
	"maps"
	"slices"
	"time"
)

// These are the maximum numbers of entries that a past remembers. It drops the least
// recently used senders and threads, and the oldest known messages, first.
const (
	maxSenders = 1024
	maxThreads = 512
	maxKnown   = 2048
)

// A Past contains the recent messages that decisions need. The zero value is empty. It is
// not safe for concurrent use; a [Gate] is.
type Past struct {
	senders map[string]*sender
	threads map[string]*thread
	known   map[string]bool // ids of messages that passed, so that a retried message is not counted again
	order   []string        // the ids in known, oldest first
}

type sender struct {
	bucket
	Used int64 `json:"used"` // when it was last used, in Unix milliseconds
}

type thread struct {
	bucket
	Said []said `json:"said,omitempty"` // oldest first
	Used int64  `json:"used"`
}

// senderKeys returns the keys of a sender's two buckets: one for all of its messages, and
// one for its messages to this recipient. The second bucket detects a flood to a slow
// agent, even if other messages pass the first bucket in the meantime. An agent's own
// messages and the messages that others send in its name have separate buckets.
func senderKeys(q Question) [2]string {
	who := q.speaker()
	if !q.Proven {
		who += " ?"
	}
	return [2]string{who, who + " → " + q.To}
}

func (p *Past) senderHasRoom(rules Policy, q Question) bool {
	if rules.PerSender == 0 || p.owed(q) {
		return true
	}
	for _, key := range senderKeys(q) {
		if s := p.senders[key]; s != nil && !s.hasRoom(rules.PerSender, q.at()) {
			return false
		}
	}
	return true
}

func (p *Past) threadHasRoom(rules Policy, q Question) bool {
	t := p.threads[threadOf(q.Message)]
	return rules.PerThread == 0 || t == nil || p.owed(q) || t.hasRoom(rules.PerThread, q.at())
}

func (p *Past) knows(id string) bool { return p.known[id] }

// admit remembers a message that passed.
func (p *Past) admit(rules Policy, q Question) {
	m := q.Message
	if q.daemon() || p.known[m.ID] {
		return
	}
	if q.person() {
		// A person's message restarts the conversation, so a later message that repeats
		// an earlier one is not an echo.
		if t := p.threads[threadOf(m)]; t != nil {
			for i := range t.Said {
				t.Said[i].Print = ""
			}
		}
		return
	}
	if q.dropped() {
		return
	}
	p.remember(m.ID)
	t := p.thread(threadOf(m), q.Now)
	if !p.owed(q) {
		if rules.PerSender > 0 {
			for _, key := range senderKeys(q) {
				p.sender(key, q.Now).spend(rules.PerSender, q.at())
			}
		}
		if rules.PerThread > 0 {
			t.spend(rules.PerThread, q.at())
		}
	}
	one := said{ID: m.ID, Type: m.Type, Pair: pair(q), At: q.at().UnixMilli()}
	if !p.owed(q) {
		one.Print = Fingerprint(m.Body)
	}
	if t.Said = append(t.Said, one); len(t.Said) > maxSaid {
		t.Said = slices.Delete(t.Said, 0, len(t.Said)-maxSaid)
	}
}

// forget removes a conversation from the past.
func (p *Past) forget(name string) { delete(p.threads, name) }

func (p *Past) remember(id string) {
	if p.known == nil {
		p.known = map[string]bool{}
	}
	p.known[id] = true
	if p.order = append(p.order, id); len(p.order) > maxKnown {
		delete(p.known, p.order[0])
		p.order = slices.Delete(p.order, 0, 1)
	}
}

func (p *Past) sender(key string, now time.Time) *sender {
	s := p.senders[key]
	if s == nil {
		if p.senders == nil {
			p.senders = map[string]*sender{}
		}
		dropOldest(p.senders, maxSenders, func(s *sender) int64 { return s.Used })
		s = &sender{}
		p.senders[key] = s
	}
	s.Used = now.UnixMilli()
	return s
}

func (p *Past) thread(name string, now time.Time) *thread {
	t := p.threads[name]
	if t == nil {
		if p.threads == nil {
			p.threads = map[string]*thread{}
		}
		dropOldest(p.threads, maxThreads, func(t *thread) int64 { return t.Used })
		t = &thread{}
		p.threads[name] = t
	}
	t.Used = now.UnixMilli()
	return t
}

// dropOldest makes room for one more entry. If the map is full, it drops an eighth of the
// entries at once, so that this is rarely necessary.
func dropOldest[T any](m map[string]T, most int, used func(T) int64) {
	if len(m) < most {
		return
	}
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return int(used(m[a]) - used(m[b]))
	})
	for _, name := range names[:most/8] {
		delete(m, name)
	}
}
