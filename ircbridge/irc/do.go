package irc

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Send says texts to a target, one after another, as agents' output. See [Conn.Post].
func (c *Conn) Send(target string, text ...string) *Delivery {
	return c.Post(Outgoing{Target: target, Text: strings.Join(text, "\n")})
}

// Post queues a text and returns at once. The text is masked ([Masker]), made
// plain ([PlainText]) and split: into a multiline batch where the server has
// them and more than one line is needed, else into single lines, of which a
// blank one goes out as a space. Line ends at its end are left out.
//
// Every target has a separate queue, and they are served in turn, below the
// flood limit; what is for people goes before what is for channels. The queues are bounded; when they are full, the delivery fails
// with [ErrQueueFull]. A target that is neither a channel nor a nick fails with [ErrTarget].
func (c *Conn) Post(o Outgoing) *Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.post(o)
}

// Limit is how many bytes of text arrive whole in one line of o: what is left
// of a line when the server has put our source before it.
func (c *Conn) Limit(o Outgoing) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.limit(o)
}

// Do writes a command and waits until the server is through with it. With
// labeled-response the answer is exactly what the server said to it; without,
// it is every numeric and FAIL until the PONG to a PING after it, among which
// may be some of another cause. The error is a [*Rejected] where the answer
// holds a failure, [ErrClosed] and others as of [Conn.Err] when the connection
// ends, or that of ctx.
//
// The answer is seen in [Conn.Messages] too (but for histories), so whoever
// reads that must not wait here: the reader would wait for them.
func (c *Conn) Do(ctx context.Context, m Message) ([]Message, error) {
	k := &call{done: make(chan struct{})}
	c.mu.Lock()
	e, err := c.command(m)
	if err == nil {
		e.call = k
		c.p.out.push(e)
		c.p.wake()
	}
	c.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Command, err)
	}
	select {
	case <-k.done:
	case <-ctx.Done():
		c.mu.Lock()
		c.p.out.forget(e)
		k.finish(ctx.Err())
		c.mu.Unlock()
	}
	c.mu.Lock()
	// The reader may still add to the answer of a call that was given up.
	answer, err := k.answer[:len(k.answer):len(k.answer)], k.err
	c.mu.Unlock()
	if err == nil && e.label == "" {
		for _, a := range answer {
			if r := rejected(a); r != nil && concerns(r, a, m, c.State().CaseMapping()) {
				err = r
				break
			}
		}
	}
	if err != nil {
		return answer, fmt.Errorf("%s: %w", m.Command, err)
	}
	return answer, nil
}

// command makes the entry of a bare command; with mu held.
func (c *Conn) command(m Message) (*entry, error) {
	switch {
	case c.err != nil:
		return nil, c.err
	case c.p.st.phase != Registered || c.p.st.leaving:
		return nil, ErrNotSent
	case !c.p.out.room("", false, Answer, 1):
		return nil, ErrQueueFull
	}
	e := &entry{lines: 1, command: strings.ToUpper(m.Command), priority: Answer}
	if c.p.st.has("labeled-response") {
		e.label = c.p.out.newLabel()
		tags := map[string]string{"label": e.label}
		for key, value := range m.Tags {
			tags[key] = value
		}
		m.Tags = tags
	}
	var err error
	if e.data, err = m.Append(nil); err != nil {
		return nil, err
	}
	return e, c.p.fits(e.data)
}

// concerns says whether a failure without a label is one of our command.
func concerns(r *Rejected, answer, m Message, fold CaseMapping) bool {
	if answer.Command == "FAIL" {
		return answer.Param(0) == m.Command || answer.Param(0) == "*"
	}
	if r.Target == "" || strings.EqualFold(r.Target, m.Command) {
		return true
	}
	for _, p := range m.Params {
		if fold.Same(p, r.Target) {
			return true
		}
	}
	return false
}

// tell queues a command without an answer.
func (c *Conn) tell(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.p.st.phase == Registered {
		c.p.bare(m)
	}
}

// State returns what is known at this moment.
func (c *Conn) State() State {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := &c.p.st
	state := State{
		Phase: s.phase, TLS: c.isTLS, Bouncer: s.bouncer(), Nick: s.nick, Source: s.source, Account: s.account,
		Caps: maps.Clone(s.caps), ISupport: s.isup.clone(), Lag: s.lag, Since: s.since, Heard: s.heard, Dropped: s.dropped,
		Waiting: c.p.out.size(), Unproven: len(c.p.out.flying),
	}
	for _, r := range s.rooms {
		state.Channels = append(state.Channels, r.name)
	}
	slices.Sort(state.Channels)
	return state
}

// Members returns the nicks in a channel that we are in, sorted, and its topic.
// ok is false for any other.
func (c *Conn) Members(channel string) (nicks []string, topic string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	r, ok := c.p.st.rooms[c.p.st.fold.Fold(channel)]
	if !ok {
		return nil, "", false
	}
	return slices.Sorted(maps.Values(r.members)), r.topic, true
}
