package irc

import (
	"testing"
	"time"
)

// A method that panics while it holds the connection's lock releases the lock. Otherwise
// the connection could not be ended.
func TestAPanicReleasesTheLock(t *testing.T) {
	for name, call := range map[string]func(*Conn){
		"queue":  func(c *Conn) { _, _ = c.queue(Msg("WHOIS", "ann")) },
		"giveUp": func(c *Conn) { c.giveUp(&entry{}, ErrClosed) },
		"answer": func(c *Conn) { _, _ = c.answer(nil) },
		"leave":  func(c *Conn) { c.leave("") },
		"settle": func(c *Conn) { c.settle(ErrClosed) },
		"next":   func(c *Conn) { _, _, _, _ = c.next(time.Now()) },
		"begin":  func(c *Conn) { c.begin(nil) },
		"handle": func(c *Conn) { _, _ = c.handle(Msg("PING", "x"), nil, nil) },
		"post":   func(c *Conn) { c.Post(Outgoing{Target: "ann", Text: "hello"}) },
		"drop":   func(c *Conn) { c.drop("line was too long") },
	} {
		t.Run(name, func(t *testing.T) {
			c := &Conn{} // most of its parts are missing
			c.p.st.phase = Registered
			defer func() {
				if recover() == nil {
					t.Error("the call did not panic")
				}
				if !c.mu.TryLock() {
					t.Error("the lock is still held")
				}
			}()
			call(c)
		})
	}
}
