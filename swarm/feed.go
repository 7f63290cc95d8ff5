package swarm

import (
	"sync"
	"time"
)

// feedQueue is how many events a slow reader may lag behind; then the oldest go
// and the reader is told how many (design section 9).
const feedQueue = 1024

// A FeedKind says what a FeedEvent tells of.
type FeedKind string

const (
	FeedState   FeedKind = "state"   // an agent changed its state
	FeedLine    FeedKind = "line"    // a finished line of an agent's log
	FeedPartial FeedKind = "partial" // a piece of text that is still being written
	FeedRaw     FeedKind = "raw"     // a line of the client's stream, as it is
	FeedTurn    FeedKind = "turn"    // a turn ended
	FeedAlert   FeedKind = "alert"   // the lead was told of something
	FeedLost    FeedKind = "lost"    // Count events were dropped for this reader
)

// A FeedEvent is something that happened in the swarm.
type FeedEvent struct {
	Kind  FeedKind  `json:"kind"`
	At    time.Time `json:"at"`
	Agent string    `json:"agent,omitempty"`
	ID    string    `json:"id,omitempty"`    // message
	State State     `json:"state,omitempty"` // of FeedState
	Text  string    `json:"text,omitempty"`
	Count int       `json:"count,omitempty"` // of FeedLost
	Cost  float64   `json:"cost_usd,omitempty"`
}

// A Filter chooses the events of a subscription. The zero value takes all but
// FeedPartial and FeedRaw.
type Filter struct {
	Agent string // only this agent's
	Text  bool   // FeedPartial too: turns that start while somebody asks for it stream their text
	Raw   bool   // FeedRaw too
}

// A Subscription receives events until it is closed. Next may be called from
// one goroutine at a time; Close from any.
type Subscription struct {
	filter Filter
	feed   *feed
	mu     sync.Mutex
	queue  []FeedEvent
	lost   int
	ready  chan struct{} // capacity 1: "look at the queue"
	closed chan struct{}
	once   sync.Once
}

// Ready rings when Take has something to give.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Closed is closed when no further event comes.
func (s *Subscription) Closed() <-chan struct{} { return s.closed }

// Take returns what has happened since the last call, oldest first. Where
// events had to be dropped the first one says how many.
func (s *Subscription) Take() []FeedEvent {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.queue
	s.queue = nil
	if s.lost > 0 {
		out = append([]FeedEvent{{Kind: FeedLost, Count: s.lost}}, out...)
		s.lost = 0
	}
	return out
}

// Close ends the subscription.
func (s *Subscription) Close() {
	s.once.Do(func() {
		s.feed.remove(s)
		close(s.closed)
	})
}

func (s *Subscription) put(ev FeedEvent) {
	s.mu.Lock()
	if len(s.queue) >= feedQueue {
		s.queue = s.queue[1:]
		s.lost++
	}
	s.queue = append(s.queue, ev)
	s.mu.Unlock()
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// feed passes events to whoever listens. Nobody waits for a listener.
type feed struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
}

func (f *feed) subscribe(filter Filter) *Subscription {
	s := &Subscription{filter: filter, feed: f, ready: make(chan struct{}, 1), closed: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subs == nil {
		f.subs = make(map[*Subscription]struct{})
	}
	f.subs[s] = struct{}{}
	return s
}

func (f *feed) remove(s *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, s)
}

// wanted tells whether anybody would get an event of kind for agent, so that
// nobody pays for streams that nobody reads.
func (f *feed) wanted(kind FeedKind, agent string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for s := range f.subs {
		if s.filter.takes(kind, agent) {
			return true
		}
	}
	return false
}

func (f *feed) publish(ev FeedEvent) {
	f.mu.Lock()
	var to []*Subscription
	for s := range f.subs {
		if s.filter.takes(ev.Kind, ev.Agent) {
			to = append(to, s)
		}
	}
	f.mu.Unlock()
	for _, s := range to {
		s.put(ev)
	}
}

func (f Filter) takes(kind FeedKind, agent string) bool {
	switch {
	case f.Agent != "" && f.Agent != agent:
		return false
	case kind == FeedPartial:
		return f.Text
	case kind == FeedRaw:
		return f.Raw
	}
	return true
}

// closeAll ends every subscription: the daemon goes.
func (f *feed) closeAll() {
	f.mu.Lock()
	subs := make([]*Subscription, 0, len(f.subs))
	for s := range f.subs {
		subs = append(subs, s)
	}
	f.mu.Unlock()
	for _, s := range subs {
		s.Close()
	}
}
