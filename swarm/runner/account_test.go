package runner_test

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
	"github.com/google/go-cmp/cmp"
)

// Each case is a recorded stream of the real client and the expected account.
func TestAccountOfTranscripts(t *testing.T) {
	for name, want := range map[string]struct {
		text        string
		calls       int
		compactions int
		context     int
		files       []string
		allow       []string
		results     int
		cost        float64 // not compared if 0
	}{
		"hello":              {text: "Hello from the script.", context: 12000, results: 1},
		"tool_use":           {text: "One package failed: mail.", calls: 1, context: 13400, results: 1},
		"permission_denied":  {text: "The tool has answered.", calls: 1, context: 14000, allow: []string{"Write"}, results: 1},
		"auto_compact":       {text: "Done. (3 messages in the context)", compactions: 1, context: 15000, results: 1},
		"big_output":         {text: "The tool has answered.", calls: 3, context: 14000, files: []string{"/home/dev/project/big.txt"}, results: 1},
		"subagent":           {text: "The helper reported: all fine.", calls: 2, context: 91000, results: 1},
		"background_task":    {calls: 1, context: 13500, results: 2},
		"interrupted":        {calls: 1, context: 13000},
		"error_401":          {text: "Invalid API key · Fix external API key", results: 1},
		"resident_two_turns": {context: 12000, results: 2, cost: 0.01249},
		// The two 2.1.330 cases with a compaction are resumed sessions, so their totals
		// include earlier turns. In resident_mixed, /clear resets the total to 0.
		"330/hello":          {text: "Hi.", context: 12000, results: 1, cost: 0.003642},
		"330/auto_compact":   {text: "Done (3)", compactions: 1, context: 15000, results: 1, cost: 0.076248},
		"330/manual_compact": {compactions: 1, results: 1, cost: 0.071694},
		"330/resident_mixed": {calls: 3, context: 22332, results: 12, cost: 0.80895 + 0.134574},
	} {
		t.Run(name, func(t *testing.T) {
			version, file, found := strings.Cut(name, "/")
			if !found {
				version, file = "", name
			}
			f, err := os.Open(filepath.Join("..", "..", "testdata", strings.TrimSuffix("transcripts-"+version, "-"), file+".jsonl"))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			a := runner.NewAccount(claude.Kind(), runner.Place{})
			for dec := streamjson.NewDecoder(f, 0); ; {
				ev, err := dec.Next()
				if errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				a.Observe(ev)
			}
			var o runner.Outcome
			a.Fill(&o)
			if want.text != "" && o.Text != want.text {
				t.Errorf("text is %q, want %q", o.Text, want.text)
			}
			if o.ToolCalls != want.calls || o.Compactions != want.compactions || o.ContextTokens != want.context {
				t.Errorf("account is %+v, want %d calls, %d compactions, %d tokens of context", o.Spent, want.calls, want.compactions, want.context)
			}
			if want.cost != 0 && math.Abs(o.CostUSD-want.cost) > 1e-9 {
				t.Errorf("the turn costs %v USD, want %v", o.CostUSD, want.cost)
			}
			if diff := cmp.Diff(want.files, o.Files); diff != "" {
				t.Errorf("files (-want +got):\n%s", diff)
			}
			var allow []string
			for _, d := range o.Denied {
				allow = append(allow, d.Allow)
			}
			if diff := cmp.Diff(want.allow, allow); diff != "" {
				t.Errorf("entries that would allow what was denied (-want +got):\n%s", diff)
			}
			if len(a.Results()) != want.results {
				t.Errorf("%d results, want %d", len(a.Results()), want.results)
			}
			if open := a.OpenCalls(); (name == "interrupted") != (open == 1) {
				t.Errorf("%d tool calls are open at the end", open)
			}
		})
	}
}

// A failed call changes no file.
func TestFailedWriteIsNoFile(t *testing.T) {
	a := runner.NewAccount(claude.Kind(), runner.Place{})
	for i, failed := range []bool{true, false} {
		id := string(rune('a' + i))
		input := json.RawMessage(`{"file_path":"` + id + `.go"}`)
		a.Observe(&streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: id, Name: "Edit", Input: input}}})
		a.Observe(&streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id, Failed: failed}}})
	}
	var o runner.Outcome
	a.Fill(&o)
	if diff := cmp.Diff([]string{"b.go"}, o.Files); diff != "" {
		t.Errorf("files (-want +got):\n%s", diff)
	}
}

// The model of a turn is the one that did the last work. An event that does not name it
// changes nothing.
func TestTheModelOfATurn(t *testing.T) {
	init := func(model string) *streamjson.Event {
		return &streamjson.Event{Kind: streamjson.KindInit, Init: &streamjson.Init{Model: model}}
	}
	says := func(model string) *streamjson.Event {
		return &streamjson.Event{Kind: streamjson.KindAssistant, Model: model, Usage: &streamjson.Usage{Input: 10, Output: 1}}
	}
	a := runner.NewAccount(claude.Kind(), runner.Place{})
	for i, step := range []struct {
		ev   *streamjson.Event
		want string
	}{
		{init("opus"), "opus"}, {says(""), "opus"}, {says("sonnet"), "sonnet"}, {says(""), "sonnet"}, {init("opus"), "sonnet"}, {says("opus"), "opus"},
	} {
		a.Observe(step.ev)
		var o runner.Outcome
		a.Fill(&o)
		if o.Model != step.want {
			t.Errorf("after event %d the model is %q, want %q", i+1, o.Model, step.want)
		}
	}
}

// The cost of a Claude Code turn is computed from its results, which report either the
// running total of the process or the cost since the last result.
func TestTheCostOfATurnIsItsOwn(t *testing.T) {
	type said struct{ total, own float64 } // own is negative if the client does not report it
	for name, c := range map[string]struct {
		from    float64
		results []said
		want    float64
		total   float64
	}{
		"the first turn of an old client":             {0, []said{{0.1, -1}}, 0.1, 0.1},
		"a later turn of an old client":               {0.1, []said{{0.3, -1}}, 0.2, 0.3},
		"two results of an old client":                {0.1, []said{{0.3, -1}, {0.7, -1}}, 0.6, 0.7},
		"an old client that begins again at 0":        {0.5, []said{{0, -1}, {0.2, -1}}, 0.2, 0.2},
		"an old client that begins again above 0":     {0.5, []said{{0.2, -1}}, 0.2, 0.2},
		"a session that was resumed":                  {0, []said{{0.9, 0.1}}, 0.1, 0.9},
		"two results of a session that was resumed":   {0, []said{{0.9, 0.1}, {1.2, 0.3}}, 0.4, 1.2},
		"a later turn of a client that says it":       {0.9, []said{{1.2, 0.3}}, 0.3, 1.2},
		"a client that says it and begins again at 0": {0.9, []said{{0, 0}, {0.2, 0.2}}, 0.2, 0.2},
		"no result":                  {0.4, nil, 0, 0.4},
		"a result that cost nothing": {0.4, []said{{0.4, 0}}, 0, 0.4},
	} {
		a := runner.NewAccount(claude.Kind(), runner.Place{CostUSD: c.from})
		for _, r := range c.results {
			res := &streamjson.Result{CostUSD: r.total}
			if r.own >= 0 {
				res.SinceLastUSD = &r.own
			}
			a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: res})
		}
		var o runner.Outcome
		a.Fill(&o)
		if math.Abs(o.CostUSD-c.want) > 1e-9 || o.CostUSD < 0 || a.Place(0).CostUSD != c.total {
			t.Errorf("%s: %v USD and a total of %v, want %v and %v", name, o.CostUSD, a.Place(0).CostUSD, c.want, c.total)
		}
	}
}

// In each result, some clients report the cost since the previous result. Other clients
// report no cost.
func TestTheCostOfATurnIsReadAsItsKindSays(t *testing.T) {
	for name, c := range map[string]struct {
		backend *runnertest.Scripted
		want    float64
	}{
		"each result reports its cost": {&runnertest.Scripted{}, 0.75},
		"no result reports a cost":     {&runnertest.Scripted{Plain: true}, 0},
	} {
		a := runner.NewAccount(c.backend.Kind(), runner.Place{CostUSD: 0.1})
		for _, usd := range []float64{0.5, 0, 0.25} {
			a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{CostUSD: usd}})
		}
		var o runner.Outcome
		a.Fill(&o)
		if o.CostUSD != c.want || o.CostUnknown != (c.want == 0) || a.Place(7) != (runner.Place{Offset: 7}) {
			t.Errorf("%s: %v USD (unknown: %v) and a place of %+v, want %v USD and no total", name, o.CostUSD, o.CostUnknown, a.Place(7), c.want)
		}
	}
}

// A result may have no cost. If the client reports a running total of the session, the
// next result includes the missing cost. The total at the start of a resumed session is
// unknown unless the client reports it before the prompt.
func TestACostThatTheClientDoesNotTell(t *testing.T) {
	const none = -1
	for name, c := range map[string]struct {
		way     runner.CostWay
		from    float64
		resumed bool
		base    float64 // none means that the client does not report it
		results []float64
		want    float64
		unknown bool
		total   float64
	}{
		"each result reports it":                   {runner.CostOfResult, 0, true, none, []float64{0.5, 0.25}, 0.75, false, 0},
		"one result does not":                      {runner.CostOfResult, 0, false, none, []float64{0.5, none, 0.25}, 0.75, true, 0},
		"a total of the process":                   {runner.CostOfProcess, 0.5, true, none, []float64{0.75}, 0.25, false, 0.75},
		"a total, and the last result lacks it":    {runner.CostOfProcess, 0.5, false, none, []float64{0.75, none}, 0.25, true, 0.75},
		"a total, and a later result makes it up":  {runner.CostOfSession, 0.5, false, none, []float64{none, 0.75}, 0.25, false, 0.75},
		"a new session":                            {runner.CostOfSession, 0, false, none, []float64{0.25, 0.5}, 0.5, false, 0.5},
		"a later turn of a session":                {runner.CostOfSession, 0.5, false, none, []float64{0.75}, 0.25, false, 0.75},
		"a session that begins again at 0":         {runner.CostOfSession, 0.5, false, none, []float64{0.25}, 0.25, false, 0.25},
		"a resumed session":                        {runner.CostOfSession, 0, true, none, []float64{4, 4.5}, 0.5, true, 4.5},
		"a resumed session that reports its total": {runner.CostOfSession, 0, true, 4, []float64{4.25, 4.5}, 0.5, false, 4.5},
		"a resumed session without a result":       {runner.CostOfSession, 0, true, 4, nil, 0, false, 4},
	} {
		a := runner.NewAccount(&runner.Kind{Cost: c.way}, runner.Place{CostUSD: c.from})
		if c.resumed {
			a.Resumed()
		}
		if c.base != none {
			a.BaseCost(c.base)
		}
		for _, usd := range c.results {
			a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{CostUSD: max(0, usd), CostUnknown: usd == none}})
		}
		var o runner.Outcome
		a.Fill(&o)
		if o.CostUSD != c.want || o.CostUnknown != c.unknown || a.Place(0).CostUSD != c.total {
			t.Errorf("%s: %v USD (unknown: %v) and a total of %v, want %v (%v) and %v", name, o.CostUSD, o.CostUnknown, a.Place(0).CostUSD, c.want, c.unknown, c.total)
		}
	}
}

// The token counts of a turn are the sums of the counts in its results, or the
// differences between its running totals.
func TestTheTokensOfATurnAreReadAsItsKindSays(t *testing.T) {
	u := func(in, out int) streamjson.Usage {
		return streamjson.Usage{Input: in, Output: out, CacheRead: 10 * in}
	}
	for name, c := range map[string]struct {
		way     runner.TokensWay
		from    streamjson.Usage
		resumed bool
		results []streamjson.Usage
		want    streamjson.Usage
		total   streamjson.Usage
	}{
		"each result counts its own":           {runner.TokensOfResult, u(7, 7), true, []streamjson.Usage{u(100, 10), u(200, 20)}, u(300, 30), streamjson.Usage{}},
		"the first turn with a total":          {runner.TokensOfProcess, u(0, 0), true, []streamjson.Usage{u(100, 10), u(300, 30)}, u(300, 30), u(300, 30)},
		"a later turn":                         {runner.TokensOfProcess, u(300, 30), false, []streamjson.Usage{u(400, 40)}, u(100, 10), u(400, 40)},
		"a turn without a request":             {runner.TokensOfProcess, u(400, 40), false, []streamjson.Usage{u(400, 40)}, u(0, 0), u(400, 40)},
		"a total that begins again at 0":       {runner.TokensOfSession, u(400, 40), false, []streamjson.Usage{u(100, 10), u(200, 20)}, u(200, 20), u(200, 20)},
		"a total with only less output":        {runner.TokensOfSession, u(400, 40), false, []streamjson.Usage{u(500, 10)}, u(500, 10), u(500, 10)},
		"a session that was resumed":           {runner.TokensOfSession, u(0, 0), true, []streamjson.Usage{u(400, 40), u(500, 50)}, u(100, 10), u(500, 50)},
		"a session that was not":               {runner.TokensOfSession, u(0, 0), false, []streamjson.Usage{u(400, 40)}, u(400, 40), u(400, 40)},
		"a turn of a session without a result": {runner.TokensOfSession, u(400, 40), false, nil, u(0, 0), u(400, 40)},
	} {
		a := runner.NewAccount(&runner.Kind{Tokens: c.way}, runner.Place{Tokens: c.from})
		if c.resumed {
			a.Resumed()
		}
		for _, usage := range c.results {
			a.Observe(&streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{}, Usage: &usage})
		}
		var o runner.Outcome
		a.Fill(&o)
		if o.Tokens != c.want || a.Place(0).Tokens != c.total {
			t.Errorf("%s: %+v and a total of %+v, want %+v and %+v", name, o.Tokens, a.Place(0).Tokens, c.want, c.total)
		}
	}
}

// The cost of a turn that was cut off while it was working is unknown, because no result
// reports it.
func TestTheCostOfATurnThatIsCutOffIsUnknown(t *testing.T) {
	begin := streamjson.Event{Kind: streamjson.KindInit, Init: &streamjson.Init{}}
	works := streamjson.Event{Kind: streamjson.KindAssistant}
	result := streamjson.Event{Kind: streamjson.KindResult, Result: &streamjson.Result{CostUSD: 0.5}}
	for name, c := range map[string]struct {
		events  []streamjson.Event
		end     runner.End
		unknown bool
	}{
		"killed":                            {[]streamjson.Event{begin, works}, runner.Failed, true},
		"stopped before the first word":     {[]streamjson.Event{begin}, runner.Stopped, true},
		"dead, without a daemon":            {[]streamjson.Event{begin, works}, runner.NoResult, true},
		"killed in its work after a result": {[]streamjson.Event{begin, result, works}, runner.TimedOut, true},
		"ended after its result":            {[]streamjson.Event{begin, works, result}, runner.Failed, false},
		"a late word after a good result":   {[]streamjson.Event{begin, result, works}, runner.Done, false},
		"dead before its first event":       {nil, runner.NoFirstEvent, false},
		"nothing known":                     {nil, runner.Stopped, false},
		"a prompt that was not run":         {[]streamjson.Event{begin}, runner.PromptNotRun, false},
		"a session that is not known":       {[]streamjson.Event{begin}, runner.NoSession, false},
		"a set-up that the client refuses":  {[]streamjson.Event{begin}, runner.BadSetup, false},
	} {
		a := runner.NewAccount(claude.Kind(), runner.Place{})
		for _, ev := range c.events {
			a.Observe(&ev)
		}
		o := runner.Outcome{End: c.end}
		if a.Fill(&o); o.CostUnknown != c.unknown {
			t.Errorf("%s: the cost is unknown: %t, want %t", name, o.CostUnknown, c.unknown)
		}
	}
}

// A running total says what the turn has cost so far only if the total at its start is
// known. A total that is lower than before says nothing.
func TestCostAtATotal(t *testing.T) {
	for name, c := range map[string]struct {
		cost    runner.CostWay
		resumed bool
		total   float64
		want    float64
		ok      bool
	}{
		"of the process":           {runner.CostOfProcess, false, 1.5, 0.5, true},
		"of the session":           {runner.CostOfSession, false, 1.5, 0.5, true},
		"of a resumed session":     {runner.CostOfSession, true, 1.5, 0, false},
		"lower than at the start":  {runner.CostOfProcess, false, 0.5, 0, false},
		"not a number":             {runner.CostOfProcess, false, math.NaN(), 0, false},
		"no total":                 {runner.CostOfResult, false, 1.5, 0, false},
		"a cost that nobody knows": {runner.CostUnknown, false, 1.5, 0, false},
	} {
		a := runner.NewAccount(&runner.Kind{Cost: c.cost}, runner.Place{CostUSD: 1})
		if c.resumed {
			a.Resumed()
		}
		if got, ok := a.CostAt(c.total); got != c.want || ok != c.ok {
			t.Errorf("%s: %v %v, want %v %v", name, got, ok, c.want, c.ok)
		}
	}
}
