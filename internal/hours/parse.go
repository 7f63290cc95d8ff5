package hours

import (
	"fmt"
	"strings"
	"time"
)

// A Week consists of spans of hours on the days of a week. The zero value means the whole
// week, as does the word "always".
type Week struct{ spans []span }

// A span begins on one day and may end on the next.
type span struct {
	day      time.Weekday
	from, to time.Duration // since midnight; to is after from, by at most one day
}

// always reports whether the week is open all the time.
func (w Week) always() bool { return len(w.spans) == 0 }

// An Error describes what is wrong with a string that specifies hours, or with a zone
// name.
type Error struct {
	Problem string // one line
	Try     string // what to write instead, without the key; "" if there is no proposal
	Word    string // an unknown word; Known lists the known words
	Known   []string

	part string // the word that Try replaces
	at   int    // where part begins in the text, which may contain the same characters elsewhere
}

func (e *Error) Error() string { return e.Problem }

func wrong(try, format string, args ...any) *Error {
	return &Error{Problem: fmt.Sprintf(format, args...), Try: try}
}

// wrongPart returns an Error about a word that try would replace. parse records the
// word's position.
func wrongPart(part, try, format string, args ...any) *Error {
	e := wrong(try, "%q "+format, append([]any{part}, args...)...)
	e.part = part
	return e
}

// always is the word for the whole week.
const always = "always"

const day = 24 * time.Hour

var days = []string{"sun", "mon", "tue", "wed", "thu", "fri", "sat"}

// Parse parses weekly hours, such as "mon-fri 08:00-20:00"; the package comment describes
// the format. The error is an [*Error].
func Parse(text string) (Week, error) {
	w, e := parse(strings.ToLower(text))
	if e != nil {
		return Week{}, e.complete(strings.ToLower(text))
	}
	return w, nil
}

// complete extends Try to a replacement for the whole text.
func (e *Error) complete(text string) *Error {
	if e.part != "" && e.Try != "" {
		e.Try = strings.TrimSpace(text[:e.at] + e.Try + text[e.at+len(e.part):])
	}
	return e
}

// exampleSpan and example are the proposals for a span of hours and for a week when the
// text does not show what was meant.
const (
	exampleSpan = "08:00-20:00"
	example     = "mon-fri " + exampleSpan
)

func parse(text string) (w Week, e *Error) {
	if strings.TrimSpace(text) == always {
		return Week{}, nil
	}
	var on []time.Weekday // the days to which the next spans apply
	waiting := ""         // days that have no span yet
	at, end := 0, 0       // where the word begins and ends in the text
	for part := range strings.SplitSeq(text, ",") {
		words := strings.Fields(part)
		if len(words) == 0 {
			return w, wrong(example, "%q: an entry is empty", text)
		}
		for i, word := range words {
			at = end + strings.Index(text[end:], word) // only spaces and commas separate words
			end = at + len(word)
			switch isHours := word[0] >= '0' && word[0] <= '9'; {
			case !isHours && i > 0:
				return w, wrong(example, "%q: days come before their hours; commas separate entries", strings.Join(words, " "))
			case !isHours:
				more, e := parseDays(word)
				if e != nil {
					return w, e
				}
				if waiting == "" {
					on = nil
				}
				on, waiting = append(on, more...), word
			case i < len(words)-1:
				return w, wrong("", "%q: commas separate spans of hours", strings.Join(words, " "))
			default:
				from, to, e := parseSpan(word)
				if e != nil {
					e.at = at
					return w, e
				}
				if on == nil {
					on = []time.Weekday{0, 1, 2, 3, 4, 5, 6}
				}
				for _, d := range on {
					w.spans = append(w.spans, span{d, from, to})
				}
				waiting = ""
			}
		}
	}
	if waiting != "" {
		e := wrongPart(waiting, waiting+" 00:00-24:00", "has no hours")
		e.at = at // waiting is the last word
		return w, e
	}
	if w.coversAll() {
		return Week{}, nil
	}
	return w, nil
}

// ParseDaily parses hours that are the same every day, such as "22:00-07:00". The error is
// an [*Error].
func ParseDaily(text string) (Week, error) {
	w, e := parse(strings.ToLower(text))
	switch {
	case e == nil && w.always():
		e = wrong("22:00-07:00", "%q is every hour of every day", text)
	case e == nil && strings.ContainsFunc(text, func(c rune) bool { return c >= 'A' && c <= 'z' }):
		e = wrong("22:00-07:00", "%q: these hours are the same on every day, so they have no days", text)
	case e != nil && (e.Try == example || e.Try == exampleSpan && !strings.Contains(text, "-") || e.Try == "00:00-24:00"):
		e.part, e.Try = "", "22:00-07:00"
	}
	if e != nil {
		return Week{}, e.complete(strings.ToLower(text))
	}
	return w, nil
}

// coversAll reports whether the spans cover the whole week.
func (w Week) coversAll() bool {
	const minutes = 7 * 24 * 60
	var open [minutes]bool
	for _, s := range w.spans {
		begin := int(s.day)*24*60 + int(s.from/time.Minute)
		for i := range int((s.to - s.from) / time.Minute) {
			open[(begin+i)%minutes] = true
		}
	}
	for _, o := range open {
		if !o {
			return false
		}
	}
	return true
}

// parseDays parses a day such as mon, or a range such as mon-fri. A range may include the
// end of the week, as in fri-mon.
func parseDays(word string) (all []time.Weekday, _ *Error) {
	first, last, several := strings.Cut(word, "-")
	from, e := parseDay(first)
	if e != nil {
		return nil, e
	}
	to := from
	if several {
		if to, e = parseDay(last); e != nil {
			return nil, e
		}
	}
	for d := from; ; d = (d + 1) % 7 {
		if all = append(all, d); d == to {
			return all, nil
		}
	}
}

// parseDay parses a day in its short or long form: mon or monday.
func parseDay(word string) (time.Weekday, *Error) {
	for d := range time.Weekday(7) {
		if word == days[d] || word == strings.ToLower(d.String()) {
			return d, nil
		}
	}
	e := wrong("", "%q is not a day", word)
	e.Word, e.Known = word, days
	return 0, e
}

// parseSpan reads 08:00-20:00.
func parseSpan(word string) (from, to time.Duration, e *Error) {
	first, last, ok := strings.Cut(word, "-")
	if !ok {
		return 0, 0, wrongPart(word, exampleSpan, "is not a span of hours")
	}
	for _, end := range []struct {
		text string
		at   *time.Duration
	}{{first, &from}, {last, &to}} {
		if *end.at, e = parseClock(end.text); e != nil {
			// The proposal corrects both ends: 8-20 becomes 08:00-20:00.
			begin, end := meant(first, "08:00"), meant(last, "20:00")
			if begin == "24:00" || begin == end {
				begin, end = "08:00", "20:00"
			}
			e.part, e.Try = word, begin+"-"+end
			return 0, 0, e
		}
	}
	switch {
	case from == to:
		return 0, 0, wrongPart(word, "00:00-24:00", "is empty")
	case from == day:
		return 0, 0, wrongPart(word, "00:00-"+last, "begins at the end of a day")
	case to < from:
		to += day
	}
	return from, to, nil
}

// parseClock parses a time of day such as 08:00; it accepts 24:00.
func parseClock(text string) (time.Duration, *Error) {
	hour, minute, _ := strings.Cut(text, ":")
	h, good := number(hour)
	m, well := number(minute)
	switch {
	case !good, !well, len(minute) != 2:
		return 0, wrong("", "%q is not a time of day", text)
	case h > 24 || h == 24 && m > 0:
		return 0, wrong("", "%q is not a time of day: a day ends at 24:00", text)
	case m > 59:
		return 0, wrong("", "%q is not a time of day: an hour has 60 minutes", text)
	}
	return time.Duration(h)*time.Hour + time.Duration(m)*time.Minute, nil
}

// meant returns the time of day that text was probably meant to specify. If text does not
// begin with an hour, meant returns the value of otherwise.
func meant(text, otherwise string) string {
	hour, minute, _ := strings.Cut(text, ":")
	h, good := number(hour)
	m, well := number(minute)
	switch {
	case !good:
		return otherwise
	case h >= 24:
		return "24:00"
	case !well || m > 59:
		m = 0
	}
	return fmt.Sprintf("%02d:%02d", h, m)
}

// number parses a number of one or two digits.
func number(text string) (n int, ok bool) {
	if len(text) == 0 || len(text) > 2 {
		return 0, false
	}
	for _, c := range []byte(text) {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = 10*n + int(c-'0')
	}
	return n, true
}
