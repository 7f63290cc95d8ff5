package claude

import (
	"slices"
	"time"
)

// steering has the lines that were written to the client after its prompt.
type steering struct {
	lines []steered
	until time.Time // a line that has not been read by then never will be; zero: the turn has no result yet
}

// A steered is one line. The client repeats a line that it has read.
type steered struct {
	uuid   string
	taken  bool
	behind int // the number of results before the client repeated it
}

// steer sends the client the messages that have come for it.
func (r *follower) steer() {
	if !r.canTakeIn() {
		return
	}
	for s := range r.run.Messages() {
		r.steering.lines = append(r.steering.lines, steered{uuid: s.UUID})
		r.run.Send(steerLine(s))
	}
}

// canTakeIn reports whether the client works on its prompt and repeats what it reads.
func (r *follower) canTakeIn() bool {
	return r.run.CanSend() && !r.seen.replay.IsZero() && r.own() == nil && !r.run.Ending() && !r.run.Stopped()
}

// repeated records a line that the client has repeated.
func (s *steering) repeated(uuid string, results int) {
	i := slices.IndexFunc(s.lines, func(l steered) bool { return l.uuid == uuid && !l.taken })
	if i >= 0 {
		s.lines[i].taken, s.lines[i].behind = true, results
	}
}

// open reports whether a written line still waits for its answer after that number of
// results. A line that the client has not repeated by until was not read.
func (s *steering) open(results int, now time.Time, patience time.Duration) bool {
	if len(s.lines) == 0 {
		return false
	}
	if s.until.IsZero() {
		s.until = now.Add(patience)
	}
	return slices.ContainsFunc(s.lines, func(l steered) bool {
		return !l.taken && now.Before(s.until) || l.taken && l.behind >= results
	})
}

// steeredDone lists the lines that the client read before a good result.
func (r *follower) steeredDone() []string {
	var done []string
	results := r.run.Account.Results()
	for _, l := range r.steering.lines {
		if l.taken && l.behind < len(results) && (!results[l.behind].IsError || answered(&results[l.behind])) {
			done = append(done, l.uuid)
		}
	}
	return done
}

// missing reports whether the client did not repeat some line.
func (s *steering) missing() bool {
	return slices.ContainsFunc(s.lines, func(l steered) bool { return !l.taken })
}

// resume records the lines that an earlier daemon had written to a followed client.
func (s *steering) resume(uuids []string) {
	for _, uuid := range uuids {
		s.lines = append(s.lines, steered{uuid: uuid})
	}
}
