package runner

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
	"time"
)

var (
	resetEpoch = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\|(\d{10})\b`) })
	// The pattern matches an optional date, a time of day, and an optional time zone.
	resetClock = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:resets?(?: at| on)?|try again at) (?:([a-z]{3,9}) (\d{1,2})(?:,| at)? (?:at )?)?(\d{1,2})(?::(\d{2}))? ?(am|pm)?(?: \(([^)]+)\))?`)
	})
	resetIn = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(?i)\b(?:resets?|try again) in (?:(\d+) ?d(?:ays?)? ?)?(?:(\d+) ?h(?:ours?)? ?)?(?:(\d+) ?m(?:in(?:utes?)?)?)?`)
	})
)

// ResetTime extracts the end time of a limit from a message about the limit. It returns
// zero if the message contains no time. A time of day without a date is taken to mean its
// next occurrence after now.
func ResetTime(text string, now time.Time) time.Time {
	if m := resetEpoch().FindStringSubmatch(text); m != nil {
		seconds, _ := strconv.ParseInt(m[1], 10, 64)
		return time.Unix(seconds, 0)
	}
	if m := resetIn().FindStringSubmatch(text); m != nil && m[1]+m[2]+m[3] != "" {
		return now.Add(time.Duration(number(m[1]))*24*time.Hour + time.Duration(number(m[2]))*time.Hour + time.Duration(number(m[3]))*time.Minute)
	}
	m := resetClock().FindStringSubmatch(text)
	if m == nil || m[4] == "" && m[5] == "" {
		return time.Time{} // a bare number is not a time
	}
	zone := now.Location()
	if m[6] != "" {
		named, err := time.LoadLocation(m[6])
		if err != nil {
			return time.Time{}
		}
		zone = named
	}
	hour, minute := number(m[3]), number(m[4])
	switch strings.ToLower(m[5]) {
	case "pm":
		hour = hour%12 + 12
	case "am":
		hour %= 12
	}
	if hour > 23 || minute > 59 {
		return time.Time{}
	}
	local := now.In(zone)
	if m[1] == "" {
		at := time.Date(local.Year(), local.Month(), local.Day(), hour, minute, 0, 0, zone)
		if !at.After(now) {
			at = at.AddDate(0, 0, 1)
		}
		return at
	}
	month, ok := monthOf(m[1])
	if !ok {
		return time.Time{}
	}
	at := time.Date(local.Year(), month, number(m[2]), hour, minute, 0, 0, zone)
	if now.Sub(at) > 24*time.Hour {
		at = at.AddDate(1, 0, 0) // a date more than a day in the past means the same date next year
	}
	return at
}

func monthOf(name string) (time.Month, bool) {
	for m := time.January; m <= time.December; m++ {
		if strings.EqualFold(name, m.String()) || strings.EqualFold(name, m.String()[:3]) {
			return m, true
		}
	}
	return 0, false
}

// number converts digits that a pattern has matched; it returns 0 for "".
func number(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
