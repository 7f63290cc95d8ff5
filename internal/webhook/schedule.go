package webhook

import "time"

// DefaultWaits returns the waits between the attempts to post a message. Three attempts
// are made within a minute, and then the waits increase. After the last attempt, the
// message is given up.
func DefaultWaits() []time.Duration {
	return []time.Duration{20 * time.Second, 40 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
}

// next returns how long to wait before the next attempt to post a message that has failed
// the given number of times, or false if the message is given up. rest is the wait that
// the receiver requested.
func next(waits []time.Duration, failed int, rest time.Duration) (time.Duration, bool) {
	if failed > len(waits) {
		return 0, false
	}
	return max(waits[max(failed, 1)-1], rest), true
}
