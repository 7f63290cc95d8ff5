package main

import (
	"errors"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// A spanValue is the value of a flag that accepts a positive time span.
type spanValue struct {
	span time.Duration // 0: not set
}

// spanFlag returns a flag that accepts a time span.
func spanFlag(name, usage string) cli.Flag {
	return &cli.GenericFlag{Name: name, Value: new(spanValue), Usage: usage}
}

// spanOf returns the value of a span flag, or 0 if the flag is not set.
func spanOf(c *cli.Context, name string) time.Duration {
	v, ok := c.Generic(name).(*spanValue)
	if !ok {
		return 0
	}
	return v.span
}

// String returns the value as text, or "" if it is not set.
func (v *spanValue) String() string {
	if v == nil || v.span == 0 {
		return ""
	}
	return v.span.String()
}

// Set parses a positive span.
func (v *spanValue) Set(s string) (err error) {
	v.span, err = config.ParsePositiveSpan(s)
	return err
}

// A whenValue is the value of a flag that accepts a time or a span from now.
type whenValue struct {
	at time.Time // zero: not set
}

// String returns the value as text, or "" if it is not set.
func (v *whenValue) String() string {
	if v == nil || v.at.IsZero() {
		return ""
	}
	return v.at.Format(time.RFC3339)
}

// Set parses a span from now or a future time.
func (v *whenValue) Set(s string) (err error) {
	v.at, err = parseWhen(s, time.Now())
	return err
}

// parseWhen parses a span from now or a future time.
func parseWhen(s string, now time.Time) (time.Time, error) {
	at, err := time.Parse(time.RFC3339, s)
	if err != nil {
		span, err := config.ParsePositiveSpan(s)
		if wrong, ok := errors.AsType[*config.SpanError](err); ok {
			if wrong.Like == config.SpanExamples {
				wrong.Why, wrong.Like, wrong.Try = "is neither a span nor a time", "2h or 2026-11-21T18:00:00Z", "2h"
			}
			return time.Time{}, wrong
		}
		return now.Add(span).UTC(), nil
	}
	if !at.After(now) {
		return time.Time{}, &config.SpanError{Text: s, Why: "is already past", Like: "a future time, or a span such as 2h", Try: "2h"}
	}
	return at.UTC(), nil
}

// An optionalSpan is the value of a flag whose value is optional: --wait, or --wait=30s.
type optionalSpan struct {
	set  bool
	span time.Duration // 0: no limit
}

// IsBoolFlag tells the flag parser that the value is optional. For a flag without a
// value, the parser passes "true" to Set.
func (o *optionalSpan) IsBoolFlag() bool { return true }

// String returns the span as text, or "" if no span is set.
func (o *optionalSpan) String() string {
	if o == nil || o.span == 0 {
		return ""
	}
	return o.span.String()
}

// Set parses a span or the word that the flag parser passes for a flag without a value.
func (o *optionalSpan) Set(s string) (err error) {
	o.set, o.span = s != "false", 0
	if s != "true" && s != "false" {
		o.span, err = config.ParsePositiveSpan(s)
	}
	return err
}

// checkValue returns an error if the value of one of the flags in this file is invalid. It
// is called before the flag parser receives the value.
func checkValue(f cli.Flag, value string) error {
	g, ok := f.(*cli.GenericFlag)
	if !ok {
		return nil
	}
	switch g.Value.(type) {
	case *spanValue:
		return new(spanValue).Set(value)
	case *whenValue:
		return new(whenValue).Set(value)
	case *optionalSpan:
		return new(optionalSpan).Set(value)
	}
	return nil
}

// takesSpan reports whether f accepts an optional span.
func takesSpan(f cli.Flag) bool {
	g, ok := f.(*cli.GenericFlag)
	if ok {
		_, ok = g.Value.(*optionalSpan)
	}
	return ok
}

// likeSpan reports whether the word after a flag with an optional span may be meant as
// that span. It returns true if the word is a valid span, a number without a unit, or a
// span in a different notation, such as 10min.
func likeSpan(word string) bool {
	_, err := config.ParseSpan(word)
	wrong, ok := errors.AsType[*config.SpanError](err)
	spelt := ok && wrong.Like == wrong.Try && !strings.Contains(word, " ")
	return err == nil || spelt || word != "" && strings.Trim(word, "0123456789") == ""
}
