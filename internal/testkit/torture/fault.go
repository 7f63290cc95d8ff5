//go:build linux

package main

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A fault is a failure of the environment, with the guarantees that must hold during the
// failure.
type fault struct {
	name  string // name of the line in the table, at most 25 characters
	what  string // one line that describes the injection and the guarantees
	full  int    // number of injections in `make torture`
	short int    // number of injections in the short form
	rare  bool   // the tests leave it out; only `make torture` and the nightly tests inject it
	alone bool   // needs separate namespaces, because it mounts file systems or sets limits
	// inject injects the fault the given number of times into new arenas, counts the
	// outcomes, and leaves no processes running. An error means that a guarantee other
	// than the counts was violated, or that the fault could not be injected.
	inject func(ctx context.Context, r *rig, times int) (counts, error)
}

// faults contains the lines of the table, in order.
var faults = []fault{
	kills,
	lingering,
	asleep,
	drowsy,
	stalled,
	unruly,
	fullDisk,
	fewFiles,
	noRights,
	readOnly,
	folders,
	burst,
	fewWatches,
	manyAgents,
	bigMailbox,
	idle,
	soak,
}

// counts contains the message counts for one or more arenas, by outcome.
type counts struct {
	Injected int      `json:"injected"`
	Messages int      `json:"messages"` // accepted
	Lost     int      `json:"lost"`
	Doubled  int      `json:"doubled"`
	Disorder int      `json:"out_of_order"`
	Overlaps int      `json:"overlapping"`
	Left     int      `json:"left_behind"`
	Again    int      `json:"begun_again"` // after an interruption, which is not an error
	Notes    []string `json:"notes,omitempty"`
	Evidence []string `json:"evidence,omitempty"` // details about the counts that are not zero
}

// maxEvidence is the maximum number of lines of evidence for one fault.
const maxEvidence = 20

// add adds the counts of another arena.
func (c *counts) add(o counts) {
	c.Injected += o.Injected
	c.Messages += o.Messages
	c.Lost += o.Lost
	c.Doubled += o.Doubled
	c.Disorder += o.Disorder
	c.Overlaps += o.Overlaps
	c.Left += o.Left
	c.Again += o.Again
	c.Notes = append(c.Notes, o.Notes...)
	for _, e := range o.Evidence {
		c.show("%s", e)
	}
}

// show stores a line of evidence.
func (c *counts) show(format string, args ...any) {
	if len(c.Evidence) < maxEvidence {
		c.Evidence = append(c.Evidence, fmt.Sprintf(format, args...))
	}
}

// remark stores a line that is printed below the table and does not report an error.
func (c *counts) remark(format string, args ...any) {
	c.Notes = append(c.Notes, fmt.Sprintf(format, args...))
}

// clean reports whether all error counts are 0.
func (c *counts) clean() bool {
	return c.Lost == 0 && c.Doubled == 0 && c.Disorder == 0 && c.Overlaps == 0 && c.Left == 0
}

// A row is a line of the table.
type row struct {
	Fault string `json:"fault"`
	counts
	Failed  string  `json:"failed,omitempty"` // a violated guarantee other than the counts
	Skipped string  `json:"not_run,omitempty"`
	Seconds float64 `json:"seconds"`
}

func (r row) wrong() bool { return !r.clean() || r.Failed != "" }

// row injects the fault and returns its line of the table. A panic in inject's
// goroutine is also reported as a line, so earlier lines are not lost.
func (f fault) row(ctx context.Context, r *rig, times int) (line row) {
	line.Fault = f.name
	if f.alone && !inside() {
		line.Skipped = "not run: a user namespace is missing"
		if need.Strict() {
			line.Failed = line.Skipped
		}
		return line
	}
	began := time.Now()
	defer func() {
		if p := recover(); p != nil {
			line.Failed = fmt.Sprintf("panic: %v\n%s", p, debug.Stack())
		}
		line.Seconds = time.Since(began).Seconds()
	}()
	got, err := f.inject(ctx, r, times)
	line.counts = got
	if err != nil {
		line.Failed = err.Error()
	} else if got.Injected < times {
		line.Failed = fmt.Sprintf("injected %d times of %d", got.Injected, times)
	}
	return line
}
