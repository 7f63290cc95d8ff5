package screen_test

import (
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

func TestValues(t *testing.T) {
	now := time.Date(2026, 11, 22, 14, 0, 0, 0, time.Local)
	for _, tc := range []struct{ got, want string }{
		{screen.Span(-time.Second), "0 s"}, {screen.Span(850 * time.Millisecond), "850 ms"}, {screen.Span(59 * time.Second), "59 s"},
		{screen.Span(59 * time.Minute), "59 min"}, {screen.Span(125 * time.Minute), "2 h 05 min"}, {screen.Span(96 * time.Hour), "4 d"},
		{screen.Took(12 * time.Second), "12 s"}, {screen.Took(185 * time.Second), "3 min 5 s"}, {screen.Took(130 * time.Minute), "2 h 10 min"},
		{screen.USD(0), "0.00 USD"}, {screen.USD(1.5), "1.50 USD"}, {screen.USD(0.0057), "0.0057 USD"},
		{screen.Cost(0.5, false), "0.50 USD"}, {screen.Cost(0, true), "cost unknown"}, {screen.Cost(0.0057, true), "at least 0.0057 USD"},
		{screen.CostCell(0, false, 2), "0.00"}, {screen.CostCell(0, true, 2), "unknown"}, {screen.CostCell(1.2, true, 2), "≥1.20"},
		{screen.Count(0, "message"), "0 messages"}, {screen.Count(1, "message"), "1 message"}, {screen.Count(2, "message"), "2 messages"},
		{screen.Several(1, "mailbox", "mailboxes"), "1 mailbox"}, {screen.Several(3, "mailbox", "mailboxes"), "3 mailboxes"},
		{screen.Clock(now, now), "14:00"}, {screen.Clock(now.AddDate(0, 0, -1), now), "2026-11-21 14:00"},
		{screen.Ahead(now.Add(90*time.Second), now), "14:01:30"}, {screen.Ahead(now.AddDate(1, 0, 0), now), "14:00:00 on Mon, 22 Nov"},
	} {
		if tc.got != tc.want {
			t.Errorf("%q, want %q", tc.got, tc.want)
		}
	}
}

func TestSeconds(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0:                            "0 s",
		499600 * time.Microsecond:    "500 ms",
		999499 * time.Microsecond:    "999 ms",
		999500 * time.Microsecond:    "1 s",
		12800 * time.Millisecond:     "13 s",
		-time.Second:                 "0 s",
		59*time.Second + 499e6:       "59 s",
		59*time.Second + 500e6:       "1 min 0 s",
		time.Minute:                  "1 min 0 s",
		3599 * time.Second:           "59 min 59 s",
		time.Hour:                    "1 h 0 min",
		2*time.Hour + 10*time.Minute: "2 h 10 min",
	} {
		if got := screen.Took(d); got != want {
			t.Errorf("screen.Took(%v) = %q, want %q", d, got, want)
		}
	}
}
