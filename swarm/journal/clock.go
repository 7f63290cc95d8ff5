package journal

import "time"

// A clock can be set back while a record says until when something waits. No agent may wait
// longer because of that. Each record has its rule in this file:
//
//	pause            begins again now, so it lasts as long as it was ordered
//	limit            begins again now: how long the account was parked is unknown
//	overtime         is over, because it must not last longer than the person intended
//	wait after a     is over if its end is further away than any such wait lasts; the record
//	failure          does not say when the wait began
//	turns counted    count as begun now
//
// A clock that is set forward ends a wait early, which does no harm: the next turn shows
// whether the reason is still there.

// ClockStep is the largest step by which a routine correction may set a clock back.
const ClockStep = time.Minute

// setBack returns by how much a clock that shows now was set back since it showed since. A
// step of up to [ClockStep] counts as 0.
func setBack(since, now time.Time) time.Duration {
	if back := since.Sub(now); back > ClockStep {
		return back
	}
	return 0
}

// notAfter returns at, or now if at is later, as it is after the clock was set back.
func notAfter(at, now time.Time) time.Time {
	if at.After(now) {
		return now
	}
	return at
}

// corrected returns the hold as it applies at the time now, and whether it differs. longest
// is the longest wait after a failure.
func (st Hold) corrected(now time.Time, longest time.Duration) (Hold, bool) {
	changed := false
	if p := st.Paused; p != nil {
		if back := setBack(p.Since, now); back > 0 {
			again := *p
			again.Since = now.UTC()
			if !p.Until.IsZero() {
				again.Until = p.Until.Add(-back).UTC()
			}
			st.Paused, changed = &again, true
		}
	}
	if st.Until.Sub(now) > longest {
		st.Until, st.Why, changed = time.Time{}, "", true
	}
	return st, changed
}

// corrected returns the limit as it applies at the time now, and whether it differs.
func (l Limit) corrected(now time.Time) (Limit, bool) {
	back := setBack(l.Since, now)
	l.Since, l.Until = l.Since.Add(-back), l.Until.Add(-back)
	return l, back > 0
}

// Holds reports whether the agent may still work outside its hours.
func (o *Overtime) Holds(now time.Time) bool {
	return o != nil && now.Before(o.Until) && setBack(o.Since, now) == 0
}

// Now returns the hold of an agent as it applies at the time now. If the clock was set back,
// Now corrects the record first; the error says that this was not written. longest is the
// longest wait after a failure, with a margin. The caller must not change the values that
// the fields of the hold point to.
func (s *Holds) Now(agent string, now time.Time, longest time.Duration) (Hold, error) {
	if st, changed := s.Of(agent).corrected(now, longest); !changed {
		return st, nil
	}
	err := s.Change(agent, func(st *Hold) { *st, _ = st.corrected(now, longest) })
	return s.Of(agent), err
}
