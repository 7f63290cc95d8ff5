package config

import (
	"errors"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/hours"
)

// Hours determines when agents work. If an agent's hours do not set a key, the top-level
// value applies; see [File.HoursOf].
type Hours struct {
	Zone string `key:"zone" is:"zone" type:"text or null" doc:"The time zone of the hours, of notices.quiet and of the days of the budget, by its name in the IANA database: Europe/Berlin. null means the zone of the machine."`
	Work string `key:"work" is:"hours" type:"text or null" doc:"The hours in which agents begin turns: \"mon-fri 08:00-20:00\". Commas separate spans, days come before their hours, and hours without days apply to every day: \"mon-thu 08:00-12:00, 13:00-18:00, fri 08:00-24:00\". A span such as 22:00-06:00 ends on the next day. A turn that is running when the hours end continues to its end. always, or null, means the whole week."`
}

// Notices determines when people get notices.
type Notices struct {
	Quiet string `key:"quiet" is:"daily" type:"text or null" doc:"The hours of each day during which you want no notices, in hours.zone: \"22:00-07:00\". You get them in one message at the end of these hours; an error that stops all agents reaches you immediately. null means no such hours. See docs/hours.md."`
}

// HeartbeatAfter is the idle time that `heartbeat: true` stands for.
const HeartbeatAfter = 30 * time.Second

// hoursWrong converts an error from package hours.
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

// zone checks the name of a time zone. On a machine without a time zone database it
// accepts any name, and CheckFolders reports an error to the person who starts the
// daemon.
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
