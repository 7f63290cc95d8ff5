package irc

import (
	"errors"
	"math/rand/v2"
	"strings"
	"time"
)

// A Backoff describes how long to wait before the next connection. The pause starts at
// Min and doubles each time, up to Max. It is multiplied by a random factor from 0.5 to
// 1.5, so that a hundred clients do not reconnect at the same instant. After a connection
// that was registered for Stand or longer, the pause starts at Min again.
//
// The zero value is ready to use and means a Min of 1 s, and a Max and a Stand of 60 s. A
// Backoff belongs to one goroutine.
type Backoff struct {
	Min, Max time.Duration
	Stand    time.Duration
	Chance   func() float64 // returns a random number in [0,1); nil means math/rand/v2

	tries int
}

// Next returns how long to wait after a connection that ended with err. stood is how long
// the connection was registered, or 0 if it never was. If the server currently does not
// want the client (see [Unwelcome]), wait is at least Max. stop is true if no retry can
// help and retrying may do harm; see [Final].
func (b *Backoff) Next(err error, stood time.Duration) (wait time.Duration, stop bool) {
	least, most, stand := orDefault(b.Min, time.Second), orDefault(b.Max, time.Minute), orDefault(b.Stand, time.Minute)
	if stood >= stand {
		b.tries = 0
	}
	wait = most
	if b.tries < 30 {
		wait = min(least<<b.tries, most)
	}
	b.tries++
	chance := b.Chance
	if chance == nil {
		chance = rand.Float64
	}
	wait = time.Duration(float64(wait) * (0.5 + chance()))
	if Unwelcome(err) {
		wait = max(wait, most)
	}
	return wait, Final(err)
}

// Final reports whether no retry can help after an error, because the server refused the
// account (SASL) or the configuration cannot work.
func Final(err error) bool {
	return errors.Is(err, ErrSASL) || errors.Is(err, ErrConfig)
}

// Unwelcome reports whether the client should stay away from the server for a while. The
// cause can be a ban (465), a wrong password (464), a refusal whose text mentions
// throttling or a ban, or a server that currently accepts no logins (ErrNoSASL).
func Unwelcome(err error) bool {
	if errors.Is(err, ErrNoSASL) {
		return true
	}
	if r, ok := errors.AsType[*Refused](err); ok {
		if r.Code == "464" || r.Code == "465" {
			return true
		}
		text := strings.ToLower(r.Text)
		for _, word := range []string{"throttl", "too fast", "too many", "reconnect", "banned", "k-line", "g-line", "z-line", "d-line",
			"kline", "gline", "zline", "dline", "not welcome", "try again later", "flood", "recvq"} {
			if strings.Contains(text, word) {
				return true
			}
		}
	}
	return false
}

func orDefault(d, otherwise time.Duration) time.Duration {
	if d == 0 {
		return otherwise
	}
	return d
}
