package config_test

import (
	"errors"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

func TestParseSpan(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"500ms": 500 * time.Millisecond, "10s": 10 * time.Second, "5m": 5 * time.Minute, "1.5h": 90 * time.Minute,
		"1h30m": 90 * time.Minute, "1d": day, "7d": 7 * day, "2w": 14 * day, "1d12h": 36 * time.Hour, "1w2d3h": 9*day + 3*time.Hour,
		"0s": 0, "0": 0, "0d": 0, "36500d": 36500 * day,
	} {
		got, err := config.ParseSpan(text)
		if got != want || err != nil {
			t.Errorf("ParseSpan(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseSpanRefuses(t *testing.T) {
	type answer struct{ text, try string }
	examples := "; write 30s, 10m, 1h30m, 7d or 2w"
	for text, want := range map[string]answer{
		"10":                     {`"10" has no unit; write 10s, 10m, 10h or 10d`, "10s"},
		"2.5":                    {`"2.5" has no unit; write 2.5s, 2.5m or 2.5h`, "2.5s"},
		"9999999999999999999999": {`"9999999999999999999999" is not a time span` + examples, "10m"},
		"-5s":                    {`"-5s" is below zero; write 5s`, "5s"},
		"-2d":                    {`"-2d" is below zero; write 2d`, "2d"},
		"7 d":                    {`"7 d" is not a time span; write 7d`, "7d"},
		"2 Days":                 {`"2 Days" is not a time span; write 2d`, "2d"},
		"10min":                  {`"10min" is not a time span; write 10m`, "10m"},
		"1hr 30mins":             {`"1hr 30mins" is not a time span; write 1h30m`, "1h30m"},
		"soon":                   {`"soon" is not a time span` + examples, "10m"},
		"":                       {`"" is not a time span` + examples, "10m"},
		"d":                      {`"d" is not a time span` + examples, "10m"},
		"+7d":                    {`"+7d" is not a time span` + examples, "10m"},
		"1d+2h":                  {`"1d+2h" is not a time span` + examples, "10m"},
		"1d-2h":                  {`"1d-2h" is not a time span` + examples, "10m"},
		"12h1d":                  {`"12h1d" is not a time span` + examples, "10m"},
		"99999999d":              {`"99999999d" is not a time span` + examples, "10m"},
		"55510w":                 {`"55510w" is not a time span` + examples, "10m"},
		"5214w900000h":           {`"5214w900000h" is not a time span` + examples, "10m"},
		"inf":                    {`"inf" is not a time span` + examples, "10m"},
	} {
		got, err := config.ParseSpan(text)
		e, ok := errors.AsType[*config.SpanError](err)
		if !ok || got != 0 || e.Error() != want.text || e.Try != want.try {
			t.Errorf("ParseSpan(%q) = %v, %+v, want the error %q, try %q", text, got, err, want.text, want.try)
		}
	}
}

// A time span that ParseSpan suggests is valid.
func FuzzParseSpan(f *testing.F) {
	for _, text := range []string{"10s", "1h30m", "7", "-1d", "2 weeks", "1w1d", "soon", "1.5", "00"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		d, err := config.ParseSpan(text)
		if err == nil {
			if d < 0 {
				t.Errorf("ParseSpan(%q) = %v, below zero", text, d)
			}
			return
		}
		e, ok := errors.AsType[*config.SpanError](err)
		if !ok {
			t.Fatalf("ParseSpan(%q): %v, want a SpanError", text, err)
		}
		if _, err := config.ParseSpan(e.Try); err != nil {
			t.Errorf("ParseSpan(%q) proposes %q: %v", text, e.Try, err)
		}
	})
}
