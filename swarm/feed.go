package swarm

import (
	"sync"
	"time"
)

// feedQueue is the maximum number of events queued for a slow reader. Beyond that, the
// feed drops the oldest events and tells the reader how many it dropped.
const feedQueue = 1024

// A FeedKind is the kind of a FeedEvent.
type FeedKind string

const (
	FeedState   FeedKind = "state"   // an agent's state changed
	FeedLine    FeedKind = "line"    // a finished line of an agent's log
	FeedPartial FeedKind = "partial" // a piece of unfinished text
	FeedRaw     FeedKind = "raw"     // a line of the client's stream, unchanged
	FeedTurn    FeedKind = "turn"    // a turn ended
	FeedAlert   FeedKind = "alert"   // the lead got an alert
	FeedLost    FeedKind = "lost"    // Count events were dropped for this reader
)

// A FeedEvent is an event of the swarm.
type FeedEvent struct {
	Kind  FeedKind  `json:"kind"`
	At    time.Time `json:"at"`
	Agent string    `json:"agent,omitempty"`
	ID    string    `json:"id,omitempty"`    // message
	State State     `json:"state,omitempty"` // of FeedState
	Text  string    `json:"text,omitempty"`
	Count int       `json:"count,omitempty"` // of FeedLost
	Cost  float64   `json:"cost_usd,omitempty"`
	// CostUnknown indicates that Cost contains only the known part of the cost.
	CostUnknown bool `json:"cost_unknown,omitempty"`
}

// A Filter selects the events of a subscription. The zero value selects all except
// FeedPartial and FeedRaw.
type Filter struct {
	Agent string // only this agent's events
	// Text also selects FeedPartial, for turns that began while a listener wanted such
	// events. The text written so far comes first.
	Text bool
	Raw  bool // also selects FeedRaw
}

// A Subscription receives events until it is closed. Take may be called from one
// goroutine at a time, and Close from any.
type Subscription struct {
	filter Filter
	feed   *feed
	mu     sync.Mutex
	queue  []FeedEvent
	lost   int
	ready  chan struct{} // has capacity 1; a value means that the queue contains events
	closed chan struct{}
	once   sync.Once
}

// Ready returns a channel that receives a value when Take has events to return.
func (s *Subscription) Ready() <-chan struct{} { return s.ready }

// Closed returns a channel that is closed when no more events will follow.
func (s *Subscription) Closed() <-chan struct{} { return s.closed }

// Take returns the events since the last call, oldest first. If events were dropped, the
// first event reports how many.
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

// maxOpenText is the maximum size, in bytes, of the unfinished text that is kept for a
// listener that joins while the agent is writing. If the text is longer, such a listener
// gets only the finished line.
const maxOpenText = 256 << 10

// feed passes events to the listeners. It never waits for a listener.
type feed struct {
	mu   sync.Mutex
	subs map[*Subscription]struct{}
	open map[string]*openText // the text whose log line has not been written yet, by agent
}

// An openText is the text that an agent is writing.
type openText struct {
	first FeedEvent // its first piece
	text  []byte    // the whole text so far, or nil if it is too long
}

func (f *feed) subscribe(filter Filter) *Subscription {
	s := &Subscription{filter: filter, feed: f, ready: make(chan struct{}, 1), closed: make(chan struct{})}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.subs == nil {
		f.subs = make(map[*Subscription]struct{})
	}
	f.subs[s] = struct{}{}
	for agent, o := range f.open {
		if o.text != nil && filter.takes(FeedPartial, agent) {
			ev := o.first
			ev.Text = string(o.text)
			s.put(ev)
		}
	}
	return s
}

func (f *feed) remove(s *Subscription) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.subs, s)
}

// wanted reports whether any listener would get an event of the given kind about the given
// agent. Callers check this first, so that streams without listeners cost nothing.
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

// Wants reports whether any listener would get an agent's pieces of text, and whether any
// listener would get its raw lines.
func (f *feed) Wants(agent string) (partial, raw bool) {
	return f.wanted(FeedPartial, agent), f.wanted(FeedRaw, agent)
}

// Partial publishes a piece of unfinished text.
func (f *feed) Partial(agent, message, text string) {
	f.publish(FeedEvent{Kind: FeedPartial, At: time.Now().UTC(), Agent: agent, ID: message, Text: text})
}

// Raw publishes a line of the client's stream.
func (f *feed) Raw(agent, message, line string) {
	f.publish(FeedEvent{Kind: FeedRaw, At: time.Now().UTC(), Agent: agent, ID: message, Text: line})
}

func (f *feed) publish(ev FeedEvent) {
	f.mu.Lock()
	f.follow(ev)
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

// follow keeps track of each agent's unfinished text. The caller holds f.mu.
func (f *feed) follow(ev FeedEvent) {
	switch ev.Kind {
	case FeedLine, FeedTurn:
		delete(f.open, ev.Agent)
	case FeedPartial:
		o := f.open[ev.Agent]
		if o == nil {
			if f.open == nil {
				f.open = make(map[string]*openText)
			}
			o = &openText{first: ev, text: []byte{}}
			f.open[ev.Agent] = o
		}
		if o.text == nil || len(o.text)+len(ev.Text) > maxOpenText {
			o.text = nil
			return
		}
		o.text = append(o.text, ev.Text...)
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

// closeAll ends every subscription when the daemon stops.
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

// line returns a function that publishes the entries of an agent's log.
func (f *feed) line(agent string) func(at time.Time, id, entry string) {
	return func(at time.Time, id, entry string) {
		f.publish(FeedEvent{Kind: FeedLine, At: at, Agent: agent, ID: id, Text: entry})
	}
}
