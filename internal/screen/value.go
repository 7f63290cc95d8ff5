package screen

import (
	"fmt"
	"time"
)

// Span formats a duration: 850 ms, 12 s, 3 min, 2 h 05 min, 4 d.
func Span(d time.Duration) string {
	switch {
	case d < 0:
		return "0 s"
	case d < time.Second:
		return fmt.Sprintf("%d ms", d.Milliseconds())
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	case d < 48*time.Hour:
		return fmt.Sprintf("%d h %02d min", int(d.Hours()), int(d.Minutes())%60)
	}
	return fmt.Sprintf("%d d", int(d.Hours())/24)
}

// USD formats an amount of money with two decimals, or with more if it is below one cent.
func USD(amount float64) string {
	return fmt.Sprintf("%.*f USD", Digits(amount), amount)
}

// Cost formats a cost in US dollars. unknown means that amount is only the known part of
// the cost: the result is then "at least 1.20 USD", or "cost unknown" if no part is
// known.
func Cost(amount float64, unknown bool) string {
	switch {
	case !unknown:
		return USD(amount)
	case amount > 0:
		return "at least " + USD(amount)
	}
	return "cost unknown"
}

// CostCell is like Cost, but for a column of amounts with the given number of decimals,
// and without the unit: "1.20", "≥1.20" or "unknown".
func CostCell(amount float64, unknown bool, digits int) string {
	switch {
	case !unknown:
		return fmt.Sprintf("%.*f", digits, amount)
	case amount > 0:
		return fmt.Sprintf("≥%.*f", digits, amount)
	}
	return "unknown"
}

// Digits returns the number of decimals for amounts in one column.
func Digits(amounts ...float64) int {
	for _, amount := range amounts {
		if amount > 0 && amount < 0.01 {
			return 4
		}
	}
	return 2
}

// Thousands formats a number with commas between groups of three digits: "12,345".
func Thousands(n int) string {
	digits := fmt.Sprint(n)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// Count formats a number with a noun: "1 message" or "3 messages".
func Count(n int, thing string) string { return Several(n, thing, thing+"s") }

// Several is like Count, but for a noun with an irregular plural: "1 mailbox", "3
// mailboxes".
func Several(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}

// Clock formats a time for a person: the time of day, preceded by the date unless it is
// today.
func Clock(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) == now.Format(time.DateOnly) {
		return t.Format("15:04")
	}
	return t.Format("2006-01-02 15:04")
}

// Ahead formats a future time to the second, with the date unless it is today.
func Ahead(t, now time.Time) string {
	t, now = t.Local(), now.Local()
	if t.Format(time.DateOnly) != now.Format(time.DateOnly) {
		return t.Format("15:04:05 on Mon, 2 Jan")
	}
	return t.Format("15:04:05")
}

// Took formats the duration of something that has ended, to the second: 850 ms, 12 s, 3 min
// 5 s, 2 h 10 min. Every place that shows how long a turn took uses it.
func Took(d time.Duration) string {
	if 0 < d && d < time.Second-500*time.Microsecond {
		return fmt.Sprintf("%d ms", d.Round(time.Millisecond).Milliseconds())
	}
	switch s := int(max(0, d).Round(time.Second).Seconds()); {
	case s < 60:
		return fmt.Sprintf("%d s", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min", s/3600, s%3600/60)
	}
}
