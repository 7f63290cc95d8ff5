package config

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
)

// Hours say when agents work. Of an agent they are read beside those of the top level, see
// [File.HoursOf].
type Hours struct {
	Zone string `key:"zone" is:"zone" type:"text or null" doc:"The time zone of the hours, of notices.quiet and of the days of the budget, by its name in the IANA database: Europe/Berlin. null is the zone of the machine."`
	Work string `key:"work" is:"hours" type:"text or null" doc:"The hours in which agents begin turns: \"mon-fri 08:00-20:00\". Commas separate spans, days stand before their hours, and hours without days are those of every day: \"mon-thu 08:00-12:00, 13:00-18:00, fri 08:00-24:00\". A span such as 22:00-06:00 ends on the next day. A turn that runs at the end of the hours runs to its end. always, or null, is the whole week."`
}

// Notices say when people are told.
type Notices struct {
	Quiet string `key:"quiet" is:"daily" type:"text or null" doc:"The hours of each day in which you want no notices, in hours.zone: \"22:00-07:00\". The daemon gathers its notices for you and tells them in one message at the end of these hours, without those that have become void. An error that stops all agents is told at once. null is no such hours."`
}

// HeartbeatAfter is the time of `heartbeat: true`.
const HeartbeatAfter = 30 * time.Second

// HoursOf are the work hours of an agent: its own, and those of the top level for what it
// does not say. Without a time zone database a zone is the one of the machine.
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
		out.Week, _ = hours.Parse(h.Work) // checked before
	}
	return out
}

// Zone is the zone of the hours of the top level, and of the days.
func (f *File) Zone() *time.Location {
	zone, _ := hours.Zone(f.Hours.Zone)
	return zone
}

// QuietHours are the quiet hours of people; false for none.
func (f *File) QuietHours() (hours.Hours, bool) {
	if f.Notices.Quiet == "" {
		return hours.Hours{}, false
	}
	zone, _ := hours.Zone(f.Hours.Zone)
	week, err := hours.ParseDaily(f.Notices.Quiet)
	return hours.Hours{Week: week, Zone: zone}, err == nil
}

// hoursWrong translates an error of package hours.
func hoursWrong(key string, err error) *Error {
	bad, ok := errors.AsType[*hours.Error](err)
	if !ok {
		return nil
	}
	e := wrong("", "%s", bad.Problem)
	if bad.Try != "" {
		e.Try = key + `: "` + bad.Try + `"`
	}
	if bad.Word != "" {
		e.Near = dropbox.Nearest(bad.Word, bad.Known)
	}
	if len(e.Near) == 0 && e.Try == "" && len(bad.Known) > 0 && len(bad.Known) < 10 {
		e.Try = "known here: " + or(bad.Known)
	}
	return e
}

// zone checks the name of a zone. A machine without a database cannot; CheckFolders tells that
// to the person who starts the daemon there.
func zone(_ *reader, s string) (string, *Error) {
	_, err := hours.Zone(s)
	e := hoursWrong("zone", err)
	if e != nil && len(e.Near) == 0 && e.Try == "" {
		e.Try = "zone: Europe/Berlin"
	}
	return s, e
}

func work(_ *reader, s string) (string, *Error) {
	_, err := hours.Parse(s)
	return s, hoursWrong("work", err)
}

func daily(_ *reader, s string) (string, *Error) {
	_, err := hours.ParseDaily(s)
	return s, hoursWrong("quiet", err)
}

// checkZones checks that the zones of the file can be looked up on this machine.
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

// timed refuses keys of an agent that an attached session cannot follow.
func (r *reader) timed(f *File) {
	for _, a := range f.Agents {
		if !a.Attached {
			continue
		}
		for _, key := range []string{"hours", "heartbeat", "heartbeat_prompt"} {
			if at, ok := r.at["agents."+a.Name+"."+key]; ok {
				r.report(at.key, "agents."+a.Name, wrong("", "%s has no place in an attached agent: a person runs its session", key))
			}
		}
	}
}
