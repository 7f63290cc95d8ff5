package follow

import "time"

// A poller decides when to check a file for which there are no notifications. It checks
// often after the file has grown, and rarely while the file does not change.
type poller struct {
	timer *time.Timer
	pause time.Duration
	most  time.Duration
}

const shortestPause = 500 * time.Microsecond

func newPoller(most time.Duration) poller {
	t := time.NewTimer(0)
	t.Stop()
	return poller{timer: t, pause: shortestPause, most: most}
}

// next returns a channel that receives a value at the time of the next check. That time
// is never later than due, unless due is zero.
func (p *poller) next(due time.Time) <-chan time.Time {
	d := p.pause
	p.pause = min(2*p.pause, p.most)
	if !due.IsZero() {
		d = min(d, max(time.Until(due), 0))
	}
	p.timer.Reset(d)
	return p.timer.C
}

// reset makes the checks frequent again.
func (p *poller) reset() { p.pause = min(shortestPause, p.most) }

// Stop frees the timer.
func (p *poller) Stop() { p.timer.Stop() }
