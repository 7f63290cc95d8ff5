package policy

import (
	"slices"
	"time"
)

// A bucket is a token bucket whose clock is driven by the times of the messages. A full
// bucket has one token for each message that is allowed per minute. An empty bucket
// refills in one minute. Each message uses one token.
//
// The gate handles messages in the order in which they are claimed, which can differ from
// the order in which they were sent: a slow agent may claim a message that is an hour old
// while a fast agent claims a new one. A bucket therefore remembers the time of each recent
// message and inserts a late message in order.
type bucket struct {
	Tokens float64 `json:"tokens"` // number of tokens at time Last
	Last   int64   `json:"last"`   // when the newest message not in Recent was sent, in Unix milliseconds
	Recent []int64 `json:"recent"` // when the messages after Last were sent, oldest first; empty for a new bucket, which is full
}

// hasRoom reports whether the bucket has a token for a message sent at the given time, in
// addition to a token for each later message that has already passed.
func (b *bucket) hasRoom(perMinute int, at time.Time) bool {
	tokens, last := b.start(perMinute)
	sent := at.UnixMilli()
	after := false // whether the new message has received its token
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
			tokens = 0 // the limit was higher when the message passed
		}
	}
	return after || spend(sent)
}

// spend removes the token for a message that passed.
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

// start returns the number of tokens that the bucket had before the messages in Recent,
// and the time at which it had that number.
func (b *bucket) start(perMinute int) (tokens float64, last int64) {
	if len(b.Recent) == 0 {
		return float64(perMinute), 0
	}
	return min(b.Tokens, float64(perMinute)), b.Last
}
