package runner_test

import (
	"math"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A cost that no turn can have is unknown, whichever way the client reports its cost. The
// figures before and after it count.
func TestACostThatCannotBe(t *testing.T) {
	bad := map[string]float64{
		"below 0": -0.01, "far below 0": -1e200, "too much": 10_001, "far too much": 1e200,
		"infinite": math.Inf(1), "minus infinite": math.Inf(-1), "no number": math.NaN(),
	}
	ways := map[string]struct {
		way           runner.CostWay
		first, last   float64
		since         bool
		wantUSD, ends float64
	}{
		"each result":              {way: runner.CostOfResult, first: 0.5, last: 0.25, wantUSD: 0.75},
		"a total of the process":   {way: runner.CostOfProcess, first: 0.5, last: 0.75, wantUSD: 0.75, ends: 0.75},
		"a total of the session":   {way: runner.CostOfSession, first: 0.5, last: 0.75, wantUSD: 0.75, ends: 0.75},
		"since the result before":  {way: runner.CostOfProcess, first: 0.5, last: 0.25, since: true, wantUSD: 0.75, ends: 0.25},
		"since, with a good total": {way: runner.CostOfSession, first: 0.5, last: 0.25, since: true, wantUSD: 0.75, ends: 0.25},
	}
	for way, w := range ways {
		for what, figure := range bad {
			a := runner.NewAccount(&runner.Kind{Cost: w.way}, runner.Place{})
			for _, usd := range []float64{w.first, figure, w.last} {
				r := &streamjson.Result{CostUSD: usd}
				if w.since {
					r.SinceLastUSD = &usd
				}
				a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: r})
			}
			var o runner.Outcome
			a.Fill(&o)
			if math.Abs(o.CostUSD-w.wantUSD) > 1e-9 || !o.CostUnknown || a.Place(0).CostUSD != w.ends {
				t.Errorf("%s, %s: %v USD (unknown: %v) and a total of %v, want at least %v and %v", way, what, o.CostUSD, o.CostUnknown, a.Place(0).CostUSD, w.wantUSD, w.ends)
			}
		}
	}
	for what, figure := range bad {
		a := runner.NewAccount(&runner.Kind{Cost: runner.CostOfSession}, runner.Place{})
		a.Resumed()
		a.BaseCost(figure)
		a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{CostUSD: 3}})
		var o runner.Outcome
		a.Fill(&o)
		if o.CostUSD != 0 || !o.CostUnknown || a.Place(0).CostUSD != 3 {
			t.Errorf("a total before the prompt, %s: %v USD (unknown: %v) and a total of %v", what, o.CostUSD, o.CostUnknown, a.Place(0).CostUSD)
		}
	}
}

// Token counts that no turn can have add nothing.
func TestTokensThatCannotBe(t *testing.T) {
	good := streamjson.Usage{Input: 100, Output: 10, CacheRead: 50, CacheWrite: 5}
	for _, n := range []int{-1, math.MinInt, 1_000_000_001, math.MaxInt} {
		for i := range 4 {
			bad := good
			*[]*int{&bad.Input, &bad.Output, &bad.CacheRead, &bad.CacheWrite}[i] = n
			for _, way := range []runner.TokensWay{runner.TokensOfResult, runner.TokensOfProcess, runner.TokensOfSession} {
				a := runner.NewAccount(&runner.Kind{Tokens: way}, runner.Place{})
				for _, u := range []streamjson.Usage{bad, good} {
					a.Observe(&streamjson.Event{Kind: streamjson.KindAssistant, Usage: &u})
					a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{ContextLimit: n}, Usage: &u})
				}
				var o runner.Outcome
				a.Fill(&o)
				if o.Tokens != good || o.ContextLimit != 0 || o.ContextTokens != good.Context() {
					t.Errorf("%+v, way %d: %+v, %d of %d", bad, way, o.Tokens, o.ContextTokens, o.ContextLimit)
				}
			}
		}
	}
}
