package runner

import "time"

// Timing contains the timeouts and intervals of a backend. Zero means the default given
// in the field's comment. Tests use shorter times.
type Timing struct {
	Interrupt    time.Duration // from SIGINT to SIGTERM; 10 s
	Terminate    time.Duration // from SIGTERM to SIGKILL; 5 s
	Close        time.Duration // from closing standard input after the result to killing the group; 10 s
	PromptNotRun time.Duration // from an acknowledgement without further events until the prompt is abandoned; 10 s
	Steer        time.Duration // from the result to the acknowledgement of a message that arrived too late for that result; 2 s
	Connect      time.Duration // maximum time for each step between the start of a client and the connection of its tools; 2 min
	Leftovers    time.Duration // from SIGTERM to SIGKILL for processes that outlived their client; 1 s
	Poll         time.Duration // maximum time between two checks of a file if there is no wake-up; 100 ms
	Sample       time.Duration // time over which CPU usage is measured; 2 s
}

// Or returns t with each zero field replaced by its value in other.
func (t Timing) Or(other Timing) Timing {
	pick := func(d *time.Duration, or time.Duration) {
		if *d == 0 {
			*d = or
		}
	}
	pick(&t.Interrupt, other.Interrupt)
	pick(&t.Terminate, other.Terminate)
	pick(&t.Close, other.Close)
	pick(&t.PromptNotRun, other.PromptNotRun)
	pick(&t.Steer, other.Steer)
	pick(&t.Connect, other.Connect)
	pick(&t.Leftovers, other.Leftovers)
	pick(&t.Poll, other.Poll)
	pick(&t.Sample, other.Sample)
	return t
}

// DefaultTiming returns the default for each field.
func DefaultTiming() Timing {
	return Timing{
		Interrupt:    10 * time.Second,
		Terminate:    5 * time.Second,
		Close:        10 * time.Second,
		PromptNotRun: 10 * time.Second,
		Steer:        2 * time.Second,
		Connect:      2 * time.Minute,
		Leftovers:    time.Second,
		Poll:         100 * time.Millisecond,
		Sample:       2 * time.Second,
	}
}
