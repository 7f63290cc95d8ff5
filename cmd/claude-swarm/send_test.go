package main

import (
	"testing"
	"time"
)

func TestParseSpan(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"30s": 30 * time.Second, "10m": 10 * time.Minute, "7d": 7 * 24 * time.Hour,
		"": 0, "0s": 0, "-1h": 0, "d": 0, "1.5d": 0, "10": 0, "7 d": 0, "+7d": 7 * 24 * time.Hour, "9999999999d": 0,
	} {
		got, err := parseSpan(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("parseSpan(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestParseWhen(t *testing.T) {
	now := time.Date(2026, 11, 21, 18, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"2h":                        now.Add(2 * time.Hour),
		"2026-11-22T18:00:00Z":      now.Add(24 * time.Hour),
		"2026-11-22T18:00:00+01:00": now.Add(23 * time.Hour),
		"2026-11-21T17:00:00Z":      {},
		"tomorrow":                  {},
	} {
		got, err := parseWhen(text, now)
		if !got.Equal(want) || (err == nil) == want.IsZero() {
			t.Errorf("parseWhen(%q) = %v, %v, want %v", text, got, err, want)
		}
	}
}

func TestOptionalSpan(t *testing.T) {
	for text, want := range map[string]optionalSpan{
		"true": {set: true}, "30s": {set: true, span: 30 * time.Second}, "false": {},
	} {
		var o optionalSpan
		if err := o.Set(text); err != nil || o != want {
			t.Errorf("Set(%q) = %+v, %v, want %+v", text, o, err, want)
		}
	}
	var o optionalSpan
	if err := o.Set("soon"); err == nil {
		t.Error("Set(soon) = nil, want an error")
	}
}
