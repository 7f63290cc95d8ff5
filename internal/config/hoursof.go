package config

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/hours"
)

// HoursOf returns the work hours of an agent. If the agent does not set a key, the
// top-level value applies. Without a time zone database, the zone is the machine's.
func (f *File) HoursOf(a Agent) hours.Hours {
	h := f.Hours
	if a.Hours.Zone != "" {
		h.Zone = a.Hours.Zone
	}
	if a.Hours.Work != "" {
		h.Work = a.Hours.Work
	}
	var out hours.Hours
	out.Zone, _ = hours.Zone(h.Zone)
	if h.Work != "" {
		out.Week, _ = hours.Parse(h.Work) // already checked
	}
	return out
}

// Zone returns the time zone that is set at the top level. Days begin at midnight in this
// zone.
func (f *File) Zone() *time.Location {
	zone, _ := hours.Zone(f.Hours.Zone)
	return zone
}

// QuietHours returns the hours in which people want no notices, or false if there are
// none.
func (f *File) QuietHours() (hours.Hours, bool) {
	if f.Notices.Quiet == "" {
		return hours.Hours{}, false
	}
	zone, _ := hours.Zone(f.Hours.Zone)
	week, err := hours.ParseDaily(f.Notices.Quiet)
	return hours.Hours{Week: week, Zone: zone}, err == nil
}

// checkZones checks that the zones in the file can be looked up on this machine.
func (f *File) checkZones(r *reader) {
	check := func(path, name string) {
		if none, ok := errors.AsType[*hours.NoDatabaseError](second(hours.Zone(name))); ok && len(r.errs) == 0 {
			r.fail(path, none.Hint(), "%v", none)
		}
	}
	check("hours.zone", f.Hours.Zone)
	for _, a := range f.Agents {
		check("agents."+a.Name+".hours.zone", a.Hours.Zone)
	}
}

func second[T any](_ T, err error) error { return err }

// timed refuses time-related keys that do not apply to an attached session.
func (r *reader) timed(f *File) {
	for _, a := range f.Agents {
		if !a.Attached {
			continue
		}
		for _, key := range []string{"hours", "heartbeat", "heartbeat_prompt"} {
			if at, ok := r.at["agents."+a.Name+"."+key]; ok {
				r.report(at.key, "agents."+a.Name, wrong("", "%s does not apply to an attached agent: a person runs its session", key))
			}
		}
	}
}
