package hours

import (
	"slices"
	"time"
)

// Hours are weekly open hours in a time zone. The zero value is always open. Hours are
// immutable and safe for concurrent use.
type Hours struct {
	Week Week
	Zone *time.Location // nil means the machine's zone
}

// Open reports whether t is within the hours.
func (h Hours) Open(t time.Time) bool {
	open, _ := h.at(t)
	return open
}

// Change returns the first moment after t at which the hours open or close, in UTC, or the
// zero time if they never do.
func (h Hours) Change(t time.Time) time.Time {
	_, change := h.at(t)
	return change
}

// at reports whether t is within the hours, and returns the next change after t.
func (h Hours) at(t time.Time) (open bool, change time.Time) {
	if h.Week.always() {
		return true, time.Time{}
	}
	// Each week has a change, but this week's change may fall in an hour or on a day that
	// the zone skips.
	for days := 9; days <= 30; days += 7 {
		if open, change = h.within(t, days); !change.IsZero() {
			return open, change
		}
	}
	return open, time.Time{}
}

// within is like at, but looks for a change only within the given number of days.
func (h Hours) within(t time.Time, days int) (open bool, change time.Time) {
	all, last := h.intervals(t, days)
	for _, in := range all {
		switch {
		case !in.to.After(t):
		case in.from.After(t):
			return false, in.from
		case in.to.Before(last):
			return true, in.to
		default:
			return true, time.Time{} // the interval may continue after the last day
		}
	}
	return false, time.Time{}
}

// An interval is a continuous span of time. It includes from but excludes to; both are in
// UTC.
type interval struct{ from, to time.Time }

// intervals returns the spans around t and in the given number of days from t. They are
// sorted, and adjacent ones are merged. last is the end of the last day considered.
func (h Hours) intervals(t time.Time, days int) (all []interval, last time.Time) {
	zone := zoneOf(h.Zone)
	y, m, d := t.In(zone).Date()
	for i := -2; i < days; i++ { // a span may begin on the day before, and a zone may skip a day
		day := time.Date(y, m, d+i, 0, 0, 0, 0, time.UTC)
		for _, s := range h.Week.spans {
			if s.day != day.Weekday() {
				continue
			}
			from, _ := moments(day.Add(s.from), zone)
			_, to := moments(day.Add(s.to), zone)
			if from.Before(to) {
				all = append(all, interval{from, to})
			}
		}
	}
	slices.SortFunc(all, func(a, b interval) int { return a.from.Compare(b.from) })
	joined := all[:0]
	for _, in := range all {
		if n := len(joined); n > 0 && !in.from.After(joined[n-1].to) {
			if in.to.After(joined[n-1].to) {
				joined[n-1].to = in.to
			}
			continue
		}
		joined = append(joined, in)
	}
	last, _ = moments(time.Date(y, m, d+days, 0, 0, 0, 0, time.UTC), zone)
	return joined, last
}

// Day returns the beginning and the end, in UTC, of the day that contains t in a zone;
// nil means the machine's zone. A day on which the clock jumps may have 23 or 25 hours,
// for example.
func Day(t time.Time, zone *time.Location) (from, to time.Time) {
	zone = zoneOf(zone)
	y, m, d := t.In(zone).Date()
	midnight := func(i int) time.Time {
		first, _ := moments(time.Date(y, m, d+i, 0, 0, 0, 0, time.UTC), zone)
		return first
	}
	from, to = midnight(0), midnight(1)
	if !t.Before(to) { // midnight occurs twice on this day, and t is between the two occurrences
		from, to = to, midnight(2)
	}
	return from, to
}

func zoneOf(zone *time.Location) *time.Location {
	if zone == nil {
		return time.Local
	}
	return zone
}

// around is longer than the largest offset of any zone from UTC.
const around = 26 * time.Hour

// moments returns the first and the last moment, in UTC, at which a zone's clock shows a
// time. If the clock skips the time, both are the moment of the jump. shown is the local
// time, represented as if it were UTC.
func moments(shown time.Time, zone *time.Location) (first, last time.Time) {
	var jump time.Time
	end := shown.Add(around)
	for t := shown.Add(-around); ; {
		at := t.In(zone)
		_, offset := at.Zone()
		from, to := at.ZoneBounds()
		ahead := time.Duration(offset) * time.Second
		if one := shown.Add(-ahead); !one.Before(from) && (to.IsZero() || one.Before(to)) {
			if first.IsZero() {
				first = one
			}
			last = one
		}
		if to.IsZero() || to.After(end) {
			break
		}
		_, next := to.Zone()
		if before, after := to.Add(ahead), to.Add(time.Duration(next)*time.Second); !before.After(shown) && after.After(shown) {
			jump = to.UTC()
		}
		t = to
	}
	if first.IsZero() {
		return jump, jump
	}
	return first.UTC(), last.UTC()
}
