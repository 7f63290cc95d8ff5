package irc

import (
	"context"
	"fmt"
	"strings"
)

// Send posts one or more strings to a target, each as a separate line, with the priority
// Output. See [Conn.Post].
func (c *Conn) Send(target string, text ...string) *Delivery {
	return c.Post(Outgoing{Target: target, Text: strings.Join(text, "\n")})
}

// Post queues a message and returns immediately. It masks the text ([Masker]), makes it
// plain ([PlainText]) and splits it. If the text needs several lines and the server
// supports multiline batches, the text becomes one or more such batches, unless it is an
// [Emote] or is sent by RELAYMSG. Otherwise it becomes single lines. A blank single line
// is sent as a space. Trailing newlines are removed.
//
// Every target has a separate queue. The queues take turns within the flood limit, and
// messages for people are sent before messages for channels. If the queues are full, the
// delivery fails with [ErrQueueFull]. It fails with [ErrTarget] if the target is neither
// a channel nor a nick.
func (c *Conn) Post(o Outgoing) *Delivery {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.post(o)
}

// Limit returns how many bytes of text fit in one line of o after the server has added
// the source in front of it.
func (c *Conn) Limit(o Outgoing) int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.p.limit(o)
}

// Do writes a command and waits until the server has handled it. With labeled-response,
// Do returns exactly the server's answer to the command. Without it, Do writes a PING
// after the command, and returns every numeric and FAIL that arrives before the PONG;
// some of them may have a different cause. The error is a [*Rejected] if the answer
// contains a failure, the error from [Conn.Err] if the connection ends, or ctx's error.
// It is [ErrNotSent], [ErrQueueFull], [ErrTooLong] or [ErrMessage] if m was not queued.
//
// [Conn.Messages] also delivers the answer, unless it is a history. The goroutine that
// reads Messages therefore must not call Do, because this would cause a deadlock.
func (c *Conn) Do(ctx context.Context, m Message) ([]Message, error) {
	e, err := c.queue(m)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", m.Command, err)
	}
	select {
	case <-e.call.done:
	case <-ctx.Done():
		c.giveUp(e, ctx.Err())
	}
	answer, err := c.answer(e.call)
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

// queue queues a command, with a call that waits for its answer.
func (c *Conn) queue(m Message) (*entry, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, err := c.command(m)
	if err != nil {
		return nil, err
	}
	e.call = &call{done: make(chan struct{})}
	c.p.out.push(e)
	c.p.wake()
	return e, nil
}

// giveUp ends the call of a queued command with an error.
func (c *Conn) giveUp(e *entry, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.p.out.forget(e)
	e.call.finish(err)
}

// answer returns the result of a call that has ended. The reader may still append to the
// call's answer if its context has ended the call.
func (c *Conn) answer(k *call) ([]Message, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return k.answer[:len(k.answer):len(k.answer)], k.err
}

// command makes the entry for a bare command. The caller must hold mu.
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
	if e.command == "CHATHISTORY" {
		e.lines = 0
	}
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

// concerns reports whether a failure without a label belongs to command m.
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

// tell queues a command whose answer no call is waiting for.
func (c *Conn) tell(m Message) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.p.st.phase == Registered {
		c.p.bare(m)
	}
}
