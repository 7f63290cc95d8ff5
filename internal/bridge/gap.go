package bridge

import (
	"fmt"
	"strings"
	"time"
)

// gap handles a time of which the bridge does not know what was said in a channel. The people
// there may believe that it heard them, so it tells them once for each connection. It says nothing
// where no person has spoken before. from is corrected if the bridge was not yet there at that
// time; spoken is false if no person has spoken there.
func (r *notices) gap(channel string, from, to time.Time) (since time.Time, spoken bool) {
	lines, err := Buffered(r.rec.dir, channel)
	if err != nil {
		r.rec.trouble("buffer was not read", err)
		return from, true
	}
	for _, l := range lines {
		spoken = spoken || l.Drop == "" && !l.Own && !l.Notice && !r.link.Ours(l.Nick)
	}
	if !spoken {
		return from, false
	}
	if first := lines[0].At; from.Before(first) {
		from = first
	}
	gen, _ := r.link.Connection()
	key := r.link.Fold(channel)
	if r.gaps[key] == gen {
		return from, true
	}
	if r.gaps == nil || len(r.gaps) >= 256 {
		r.gaps = map[string]int{}
	}
	r.gaps[key] = gen
	r.rep.say(channel, fmt.Sprintf("I do not know what was said here %s UTC. Say again what an agent should know.", span(from.UTC(), to.UTC())))
	return from, true
}

// span returns the words for a span of time, to the second only if it is a short one.
func span(from, to time.Time) string {
	clock := "15:04"
	if from.Format(clock) == to.Format(clock) {
		clock = "15:04:05"
	}
	day := ""
	if from.Format(time.DateOnly) != to.Format(time.DateOnly) {
		day = "Jan 2 "
	}
	return strings.Join([]string{"from", from.Format(day + clock), "to", to.Format(day + clock)}, " ")
}
