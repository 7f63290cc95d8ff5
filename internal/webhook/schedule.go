package webhook

import "time"

// DefaultWaits returns the times between the tries of a message: three in a minute, and
// then at growing distances. After the last one the message is given up.
func DefaultWaits() []time.Duration {
	return []time.Duration{20 * time.Second, 40 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour}
}

// next says what comes after a message has failed that many times: when it is tried again,
// or, with false, that it is given up. rest is what the receiver asked for.
func next(waits []time.Duration, failed int, rest time.Duration) (time.Duration, bool) {
	if failed > len(waits) {
		return 0, false
	}
	return max(waits[max(failed, 1)-1], rest), true
}
