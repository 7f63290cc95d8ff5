package irc

import (
	"math"
	"time"
)

// Flood limits how fast lines are written. The zero value is safe on ergo, ngircd,
// inspircd and ircd-hybrid with their default settings: 4 lines at once, then one line
// per second, and at most 2,000 bytes without an answer from the server. (inspircd 3
// closes a connection with 10 KiB of unread bytes; ircd-hybrid 8.2 closes a connection
// with 2,560 bytes.)
//
// PONG and the registration lines do not wait, but they count toward the limit; after the
// registration, there are tokens for the first lines again, because the servers count from
// there or only slow down. CHATHISTORY does not count, because its answers are the costly part.
type Flood struct {
	Burst  int     // how many lines may be written at once; 0 means 4
	Rate   float64 // how many lines per second after that; 0 means 1
	Window int     // how many bytes may be written without an answer from the server; 0 means 2,000
	Off    bool    // removes every limit except the one on unanswered lines; only for your own server
}

func (f Flood) withDefaults() Flood {
	if f.Burst <= 0 {
		f.Burst = 4
	}
	if f.Rate <= 0 {
		f.Rate = 1
	}
	if f.Window <= 0 {
		f.Window = 2000
	}
	return f
}

// A bucket holds tokens, one for each line. The number can be negative, because some
// lines do not wait. A bucket does not read a clock.
type bucket struct {
	burst, rate float64
	tokens      float64
	at          time.Time
}

func newBucket(f Flood, now time.Time) bucket {
	return bucket{burst: float64(f.Burst), rate: f.Rate, tokens: float64(f.Burst), at: now}
}

// wait returns how long to wait before a line may be written; 0 means that it may be
// written now.
func (b *bucket) wait(now time.Time) time.Duration {
	if dt := now.Sub(b.at).Seconds(); dt > 0 {
		b.tokens = min(b.burst, b.tokens+dt*b.rate)
		b.at = now
	}
	if b.tokens >= 1-1e-9 {
		return 0
	}
	return time.Duration(math.Ceil((1 - b.tokens) / b.rate * float64(time.Second)))
}

// afterRegistration is how many lines may be written at once after the registration: MODE,
// JOIN and the first message.
const afterRegistration = 3

// atLeast adds tokens until there are n, but no more than the burst.
func (b *bucket) atLeast(n float64) { b.tokens = max(b.tokens, min(n, b.burst)) }

// pay removes one token for each line. The number can become negative, but never falls
// below minus four bursts. A batch costs several tokens.
func (b *bucket) pay(lines int) { b.tokens = max(b.tokens-float64(lines), -4*b.burst) }
