package irc

import (
	"testing"
	"time"
)

// A request for history is written at once, even if the lines of the registration have used up
// the tokens. It uses none, so the next message need not wait for it.
func TestARequestForHistoryNeedsNoToken(t *testing.T) {
	now := time.Now()
	o := newOutbox(Flood{}, now)
	o.bucket.pay(9)
	o.bucket.atLeast(1)
	o.push(&entry{data: []byte("PRIVMSG #room :one\r\n"), lines: 1, target: "#room", label: "a", priority: Answer})
	for _, label := range []string{"b", "c", "d"} {
		o.push(&entry{data: []byte("CHATHISTORY\r\n"), target: "", label: label, priority: Answer})
	}
	o.push(&entry{data: []byte("PRIVMSG #other :two\r\n"), lines: 1, target: "#other", label: "e", priority: Output})
	data, wait := o.next(now)
	if want := "PRIVMSG #room :one\r\nCHATHISTORY\r\nCHATHISTORY\r\nCHATHISTORY\r\n"; string(data) != want || wait != time.Second {
		t.Errorf("written %q, then a wait of %v; want %q and 1s", data, wait, want)
	}
}
