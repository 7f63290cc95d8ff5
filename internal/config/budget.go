package config

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// leastTime is the minimum value of a time cap.
const leastTime = time.Minute

// cap refuses a time cap that is too short for any turn. ok is false if the cap has
// another problem.
func (r *reader) cap(c *budget.Cap, path string, ok bool) {
	if ok && c.Time > 0 && c.Time < leastTime {
		r.fail(path+".time", "time: 10m", "%v is too short; the minimum is 1m", c.Time)
	}
}
