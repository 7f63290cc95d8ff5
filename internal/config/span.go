package config

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// A SpanError explains why a string is not a time span.
type SpanError struct {
	Text string // the string itself
	Why  string // such as "has no unit"
	Like string // what to write instead: one time span, or several examples
	Try  string // one valid time span: the intended one, if it can be guessed from the string
}

// SpanExamples is the value of Like if the intended time span cannot be guessed from the
// string.
const SpanExamples = "30s, 10m, 1h30m, 7d or 2w"

// Error returns a message that quotes the string, explains the mistake and suggests what
// to write.
func (e *SpanError) Error() string {
	text := fmt.Sprintf("%q %s", e.Text, e.Why)
	if e.Like != "" {
		text += "; write " + e.Like
	}
	return text
}

// ParseSpan reads a time span in the notation that people use: 500ms, 30s, 10m, 1h30m, 1d,
// 1d12h, 2w. A day has 24 hours, and the maximum is 36500d. The error is a [*SpanError].
// All flags and keys that take a time span use this function.
func ParseSpan(s string) (time.Duration, error) {
	d, ok := parseSpan(s)
	switch {
	case ok:
		return d, nil
	case lacksUnit(s):
		like := s + "s, " + s + "m or " + s + "h"
		if _, ok := parseSpan(s + "d"); ok {
			like = s + "s, " + s + "m, " + s + "h or " + s + "d"
		}
		return 0, &SpanError{Text: s, Why: "has no unit", Like: like, Try: s + "s"}
	case strings.HasPrefix(s, "-"):
		if _, ok := parseSpan(s[1:]); ok {
			return 0, &SpanError{Text: s, Why: "is below zero", Like: s[1:], Try: s[1:]}
		}
	}
	if meant := spelt(s); meant != "" {
		return 0, &SpanError{Text: s, Why: "is not a time span", Like: meant, Try: meant}
	}
	return 0, &SpanError{Text: s, Why: "is not a time span", Like: SpanExamples, Try: "10m"}
}

// ParsePositiveSpan is like ParseSpan, but refuses a span of 0.
func ParsePositiveSpan(s string) (time.Duration, error) {
	d, err := ParseSpan(s)
	if err == nil && d == 0 {
		err = &SpanError{Text: s, Why: "is not above 0", Like: SpanExamples, Try: "10m"}
	}
	return d, err
}

const (
	day = 24 * time.Hour
	// maxSpan is about 100 years. This is less than half of the maximum Duration (292
	// years), so the sum of two spans cannot overflow.
	maxSpan = 100 * 365 * day
)

// parseSpan reads weeks, then days, then a duration in the format of the standard
// library.
func parseSpan(s string) (time.Duration, bool) {
	var sum time.Duration
	rest := s
	for _, unit := range []struct {
		name string
		span time.Duration
	}{{"w", 7 * day}, {"d", day}} {
		number, after, found := strings.Cut(rest, unit.name)
		if !found {
			continue
		}
		n, err := strconv.ParseUint(number, 10, 16)
		if err != nil || time.Duration(n) > (maxSpan-sum)/unit.span {
			return 0, false
		}
		sum += time.Duration(n) * unit.span
		if rest = after; rest == "" {
			return sum, true
		}
	}
	if rest == "" || rest[0] == '-' || rest[0] == '+' {
		return 0, false
	}
	d, err := time.ParseDuration(rest)
	if err != nil || d > maxSpan-sum {
		return 0, false
	}
	return sum + d, true
}

// lacksUnit reports whether s is a number without a unit.
func lacksUnit(s string) bool {
	_, ok := parseSpan(s + "s")
	return ok && strings.Trim(s, "0123456789.") == ""
}

// spelt returns the time span that a string such as "2 days" or "10min" means, or "" if
// it cannot tell.
func spelt(s string) string {
	short := strings.NewReplacer(
		"weeks", "w", "week", "w", "days", "d", "day", "d",
		"hours", "h", "hour", "h", "hrs", "h", "hr", "h",
		"minutes", "m", "minute", "m", "mins", "m", "min", "m",
		"seconds", "s", "second", "s", "secs", "s", "sec", "s",
		"and", "", ",", "", " ", "",
	).Replace(strings.ToLower(s))
	if _, ok := parseSpan(short); !ok {
		return ""
	}
	return short
}
