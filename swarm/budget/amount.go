package budget

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Unit is something that a budget counts.
type Unit int

// The units.
const (
	USD     Unit = iota // in billionths of a US dollar
	Turns               // in turns
	Time                // in nanoseconds
	flat                // the part of USD that a subscription covers; never has a cap
	assumed             // the part of USD that counts only because the real cost is unknown; never has a cap
	units
)

// Units returns all units that a cap can have.
func Units() []Unit { return []Unit{USD, Turns, Time} }

// String returns the name of the unit, which is the key of its caps in the configuration.
func (u Unit) String() string {
	return [units]string{"usd", "turns", "time", "subscription", "assumed"}[u]
}

// An Amount is a quantity in each unit. In a cap, 0 means that the unit has no cap.
type Amount [units]int64

const (
	dollar = 1_000_000_000
	cent   = dollar / 100
	most   = 1 << 62 // 146 years, or 4.6 billion US dollars
)

// least is the minimum amount that must remain before a turn can start.
var least = Amount{USD: cent, Turns: 1, Time: int64(10 * time.Second)}

// Of returns an Amount with the given US dollars, turns and time.
func Of(usd float64, turns int, d time.Duration) Amount {
	return Amount{USD: int64(math.Round(usd * dollar)), Turns: int64(turns), Time: int64(d)}
}

// Dollars returns the amount in US dollars.
func (a Amount) Dollars() float64 { return float64(a[USD]) / dollar }

// Span returns the amount of time.
func (a Amount) Span() time.Duration { return time.Duration(a[Time]) }

// IsZero reports whether the amount is 0 in every unit.
func (a Amount) IsZero() bool { return a == Amount{} }

// plus returns a plus b, with a maximum of most in each unit.
func (a Amount) plus(b Amount) Amount {
	for u := range a {
		if a[u] > most-b[u] {
			a[u] = most
		} else {
			a[u] += b[u]
		}
	}
	return a
}

// less returns a minus b, with a minimum of 0 in each unit.
func (a Amount) less(b Amount) Amount {
	for u := range a {
		a[u] = max(0, a[u]-b[u])
	}
	return a
}

// In formats one unit of the amount for a person: "1.20 USD", "3 turns", "2 h 10 min".
func (a Amount) In(u Unit) string {
	switch u {
	case Turns:
		return screen.Count(int(a[Turns]), "turn")
	case Time:
		return screen.Took(a.Span())
	}
	return screen.USD(a.Dollars())
}

// Text formats the units of the amount that are not 0: "5.00 USD, 30 turns".
func (a Amount) Text() string {
	var parts []string
	for _, u := range Units() {
		if a[u] != 0 {
			parts = append(parts, a.In(u))
		}
	}
	return strings.Join(parts, ", ")
}

// An AmountError explains why a string is not a valid amount.
type AmountError struct{ Text, Why string }

func (e *AmountError) Error() string { return fmt.Sprintf("%q %s", e.Text, e.Why) }

// AmountExamples are examples of amounts that [ParseAmount] accepts.
const AmountExamples = "5 (US dollars), 10turns or 2h"

// mostDollars is the largest number of US dollars that ParseAmount accepts. It is far
// above any realistic budget and far below the maximum of an Amount.
const mostDollars = 1e6

// ParseAmount parses an amount in one unit: 5, 0.50 and 5usd are US dollars, and 10turns
// is a number of turns. span parses any other string that begins with a digit as a time
// span. The error is an [*AmountError] or an error that span returned.
func ParseAmount(s string, span func(string) (time.Duration, error)) (Amount, error) {
	text := strings.ToLower(strings.ReplaceAll(strings.TrimSpace(s), " ", ""))
	wrong := func(why string) (Amount, error) { return Amount{}, &AmountError{Text: s, Why: why} }
	if strings.HasPrefix(text, "-") {
		return wrong("is below zero")
	}
	for _, ending := range []string{"turns", "turn"} {
		if number, ok := strings.CutSuffix(text, ending); ok {
			n, err := strconv.ParseInt(number, 10, 32)
			if err != nil || n < 1 {
				return wrong("is not a number of turns")
			}
			return Of(0, int(n), 0), nil
		}
	}
	usd, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimPrefix(text, "$"), "usd"), 64)
	switch {
	case err == nil && math.IsNaN(usd):
		return wrong("is not an amount")
	case errors.Is(err, strconv.ErrRange), err == nil && usd > mostDollars:
		return wrong("is too large")
	case err == nil && usd < 0.01:
		return wrong("is less than a cent")
	case err == nil:
		return Of(usd, 0, 0), nil
	}
	if text == "" || text[0] < '0' || text[0] > '9' {
		return wrong("is not an amount")
	}
	d, err := span(text)
	if err != nil {
		return Amount{}, err
	}
	if d <= 0 {
		return wrong("is not above 0")
	}
	return Of(0, 0, d), nil
}

// over returns the capped units in which the remaining amount is too small for a turn to
// start.
func over(limit, used Amount) []Unit {
	return slices.DeleteFunc(Units(), func(u Unit) bool { return limit[u] == 0 || limit[u]-used[u] >= min(least[u], limit[u]) })
}
