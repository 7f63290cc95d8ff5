package main

import (
	"testing"
	"time"
)

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
