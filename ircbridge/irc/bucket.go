package irc

import (
	"math"
	"time"
)

// Flood bounds what is written. The zero value is safe on ergo, ngircd, inspircd and
// ircd-hybrid with their default settings: 4 lines at once, then one a second, and at most
// 2,000 bytes without an answer of the server. (inspircd 3 kills at 10 KiB unread, hybrid
// 8.2 at 2,560 bytes.)
//
// PONG and the lines of the registration do not wait, but count.
type Flood struct {
	Burst  int     // lines at once; 0 is 4
	Rate   float64 // lines a second after that; 0 is 1
	Window int     // bytes written and not known to be read; 0 is 2,000
	Off    bool    // no bound except on unanswered lines: only on your own server
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

// A bucket holds tokens, one for a line. It may be in debt, because of lines that did not
// wait. It reads no clock.
type bucket struct {
	burst, rate float64
	tokens      float64
	at          time.Time
}

func newBucket(f Flood, now time.Time) bucket {
	return bucket{burst: float64(f.Burst), rate: f.Rate, tokens: float64(f.Burst), at: now}
}

// wait is how long until a line may go; 0 is now.
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

// pay takes tokens for lines; the balance may fall below 0. A batch costs several.
func (b *bucket) pay(lines int) { b.tokens = max(b.tokens-float64(lines), -4*b.burst) }
