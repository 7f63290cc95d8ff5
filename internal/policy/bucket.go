package policy

import (
	"slices"
	"time"
)

// A bucket is a token bucket in the time of the messages: it holds as many tokens as
// messages are allowed a minute, gets them back over that minute, and each message
// takes one.
//
// Messages are looked at when they are claimed, which is in another order than they
// were sent in: a slow agent may claim what was sent an hour ago, while a quick one
// claims what is new. So a bucket remembers the last messages one by one, and one
// that is late is put in its place among them.
type bucket struct {
	Tokens float64 `json:"tokens"` // at Last
	Last   int64   `json:"last"`   // when the newest message was sent that is not in Recent; Unix milliseconds
	Recent []int64 `json:"recent"` // when those after it were, oldest first; empty for a new one, which is full
}

// hasRoom says whether a message that was sent then leaves no one without a token.
func (b *bucket) hasRoom(perMinute int, at time.Time) bool {
	tokens, last := b.start(perMinute)
	sent := at.UnixMilli()
	after := false // the new message has its token
	spend := func(t int64) bool {
		t = max(t, last)
		tokens = min(float64(perMinute), tokens+float64(t-last)*float64(perMinute)/60_000)
		last = t
		tokens--
		return tokens > -1e-9
	}
	for _, t := range b.Recent {
		if !after && sent < t {
			if after = true; !spend(sent) {
				return false
			}
		}
		switch ok := spend(t); {
		case !ok && after:
			return false
		case !ok:
			tokens = 0 // the limit was higher when it passed
		}
	}
	return after || spend(sent)
}

// spend takes the token of a message that passed.
func (b *bucket) spend(perMinute int, at time.Time) {
	tokens, last := b.start(perMinute)
	b.Tokens, b.Last = tokens, last
	i, _ := slices.BinarySearch(b.Recent, at.UnixMilli())
	b.Recent = slices.Insert(b.Recent, i, at.UnixMilli())
	for len(b.Recent) > perMinute {
		t := max(b.Recent[0], b.Last)
		b.Tokens = max(0, min(float64(perMinute), b.Tokens+float64(t-b.Last)*float64(perMinute)/60_000)-1)
		b.Last = t
		b.Recent = slices.Delete(b.Recent, 0, 1)
	}
}

// start is what the bucket held before the messages that it remembers.
func (b *bucket) start(perMinute int) (tokens float64, last int64) {
	if len(b.Recent) == 0 {
		return float64(perMinute), 0
	}
	return min(b.Tokens, float64(perMinute)), b.Last
}
