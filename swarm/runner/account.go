package runner

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// An Account adds up the events of one turn. It uses only the fields of [streamjson.Event],
// so it works with every backend. Use [NewAccount] to create one. An Account is not safe
// for concurrent use.
type Account struct {
	kind           *Kind
	session, model string
	version        string
	spent          Spent
	cost           costTotal
	tokens         tokensTotal
	began          bool
	untold         bool            // the model may have done work since the last result
	open           map[string]call // tool calls without a result, by id
	files          map[string]bool
	denied         []Denial
	acts           acts
	results        []streamjson.Result
	texts          []string // the final text of each result
	interim        bool     // the next final text replaces the last one
}

// A call is a tool call that has no result yet.
type call struct {
	file string // the file that the call changes if it succeeds; "" if there is none
	act  bool   // the call is an act, see [acts]
}

// A costTotal is the client's running total of its cost.
type costTotal struct {
	usd      float64 // at its last result, in US dollars
	unbased  bool    // the total at the start of the turn is unknown
	notTold  bool    // the last result had no cost; the next result may include that cost
	notKnown bool    // part of the turn's cost will never be known
}

// A tokensTotal is the client's running total of its tokens.
type tokensTotal struct {
	usage   streamjson.Usage // at its last result
	unbased bool             // the total at the start of the turn is unknown
}

// NewAccount returns the account of a turn that begins at from, for a client of the given
// kind.
func NewAccount(kind *Kind, from Place) Account {
	a := Account{kind: kind}
	if kind.Cost == CostOfProcess || kind.Cost == CostOfSession {
		a.cost.usd = from.CostUSD
	}
	if kind.Tokens != TokensOfResult {
		a.tokens.usage = from.Tokens
	}
	return a
}

// Resumed records that this turn is the first one in a new process that continues the
// session of an earlier process. A running total of the session then starts from an unknown
// value: the cost of the turn is unknown unless BaseCost is called, and tokens used before
// the turn's first result are not counted. Resumed has no effect for clients that report no
// running total of the session.
func (a *Account) Resumed() {
	a.cost.unbased = a.kind.Cost == CostOfSession
	a.tokens.unbased = a.kind.Tokens == TokensOfSession
}

// BaseCost sets the running total that the client reported before it got the prompt, in
// US dollars.
func (a *Account) BaseCost(usd float64) {
	if a.kind.Cost == CostOfSession && plausibleUSD(usd) {
		a.cost.usd, a.cost.unbased = usd, false
	}
}

// Restart discards everything except the cost and the running totals. The events were not
// part of the turn, but their cost is not counted in any other turn.
func (a *Account) Restart() {
	*a = Account{kind: a.kind, cost: a.cost, tokens: a.tokens, spent: Spent{CostUSD: a.spent.CostUSD}}
}

// Place returns where the client's next turn begins, with the running totals of its last
// result. The totals are 0 for a client that reports none. offset is a byte offset in the
// client's standard output.
func (a *Account) Place(offset int64) Place {
	return Place{Offset: offset, CostUSD: a.cost.usd, Tokens: a.tokens.usage}
}

// Observe adds one event to the account. It does not retain ev.
func (a *Account) Observe(ev *streamjson.Event) {
	a.untold = a.untold || !a.began || ev.Kind == streamjson.KindAssistant
	a.began = true
	if ev.Session != "" && ev.Session != a.session {
		a.session = strings.Clone(ev.Session) // the client starts a new session after /clear
	}
	switch ev.Kind {
	case streamjson.KindInit:
		if ev.Init != nil && a.model == "" {
			a.model = strings.Clone(ev.Init.Model)
		}
		if ev.Init != nil && ev.Init.Version != "" {
			a.version = strings.Clone(ev.Init.Version)
		}
	case streamjson.KindAssistant:
		if tokens, ok := ev.ContextTokens(); ok && plausibleUsage(*ev.Usage) {
			a.spent.ContextTokens = tokens
			if ev.Model != "" && ev.Model != a.model {
				a.model = strings.Clone(ev.Model)
			}
		}
		a.showsCalls(ev.Parent, ev.Blocks)
		a.calls(ev.Blocks)
	case streamjson.KindUser:
		a.answers(ev.Blocks)
	case streamjson.KindCompact:
		a.spent.Compactions++
	case streamjson.KindResult:
		if ev.Result != nil {
			a.result(ev)
		}
	}
}

func (a *Account) calls(blocks []streamjson.Block) {
	for _, b := range blocks {
		if b.Kind != streamjson.BlockToolUse {
			continue
		}
		a.spent.ToolCalls++
		if a.open == nil {
			a.open = make(map[string]call)
		}
		a.open[strings.Clone(b.ID)] = call{file: a.kind.Tools.Changes(b.Name, b.Input), act: Acts(a.kind.Tools, b.Name, b.Input)}
	}
}

func (a *Account) answers(blocks []streamjson.Block) {
	for _, b := range blocks {
		if b.Kind != streamjson.BlockToolResult {
			continue
		}
		c, ok := a.open[b.ID]
		delete(a.open, b.ID)
		if !ok || b.Failed {
			continue
		}
		a.acts.succeeded = a.acts.succeeded || c.act
		if c.file == "" {
			continue
		}
		if a.files == nil {
			a.files = make(map[string]bool)
		}
		a.files[c.file] = true
	}
}

func (a *Account) result(ev *streamjson.Event) {
	r := ev.Clone().Result
	if u := ev.Usage; u != nil {
		own := a.ownTokens(*u)
		a.spent.Tokens.Input += own.Input
		a.spent.Tokens.Output += own.Output
		a.spent.Tokens.CacheRead += own.CacheRead
		a.spent.Tokens.CacheWrite += own.CacheWrite
	}
	a.spent.CostUSD = rounded(a.spent.CostUSD + a.ownCost(r))
	if r.ContextLimit > 0 && plausibleTokens(r.ContextLimit) {
		a.spent.ContextLimit = r.ContextLimit
	}
	for _, d := range r.Denials {
		a.acts.denied = a.acts.denied || Acts(a.kind.Tools, d.Tool, d.Input)
		a.denied = append(a.denied, Denial{Tool: d.Tool, Input: d.Input, Allow: a.kind.Tools.Allow(d.Tool, d.Input)})
	}
	a.results = append(a.results, *r)
	a.untold = false
	if text := strings.TrimSpace(r.Text); text != "" {
		if a.interim {
			a.texts = a.texts[:len(a.texts)-1]
		}
		a.texts, a.interim = append(a.texts, text), false
	}
	clear(a.open) // only background work outlives a result, and no call waits for it
}

// ownCost returns the cost that a result adds to the turn, in US dollars. A figure that is
// not plausible makes the cost of the turn unknown, and does not change the running total.
func (a *Account) ownCost(r *streamjson.Result) float64 {
	switch a.kind.Cost {
	case CostOfResult:
		if r.CostUnknown || !plausibleUSD(r.CostUSD) {
			a.cost.notKnown = true
			return 0
		}
		return r.CostUSD
	case CostOfProcess, CostOfSession:
		missing := a.cost.notTold
		if a.cost.notTold = r.CostUnknown; a.cost.notTold {
			return 0
		}
		own, known := a.cost.grow(r.CostUSD)
		if r.SinceLastUSD != nil { // the total may include earlier processes of the session
			own, known = *r.SinceLastUSD, true
			a.spent.SessionUSD = 0
			if plausibleUSD(r.CostUSD) && r.CostUSD >= own {
				a.spent.SessionUSD = r.CostUSD
			}
			a.cost.notKnown = a.cost.notKnown || missing // only a total makes up for a missing cost
		}
		if known && plausibleUSD(own) {
			return own
		}
		a.cost.notKnown = true
	}
	return 0
}

// grow sets the running total, and returns by how much it has grown, in US dollars. A total
// that is lower than before has restarted at 0, for example after /clear.
func (c *costTotal) grow(total float64) (usd float64, known bool) {
	usd = total
	if !c.unbased && total >= c.usd {
		usd -= c.usd
	}
	if !plausibleUSD(usd) {
		return 0, false
	}
	known = !c.unbased
	c.usd, c.unbased = total, false
	return usd, known
}

// ownTokens returns the tokens that a result with this usage adds to the turn. If any count
// in a running total is lower than before, the total has restarted at 0. Counts that are not
// plausible add nothing, and do not change the running total.
func (a *Account) ownTokens(u streamjson.Usage) streamjson.Usage {
	before, unbased, own := a.tokens.usage, a.tokens.unbased, u
	switch {
	case a.kind.Tokens == TokensOfResult || unbased:
	case u.Input < before.Input || u.Output < before.Output || u.CacheRead < before.CacheRead || u.CacheWrite < before.CacheWrite:
	default:
		own = streamjson.Usage{
			Input: u.Input - before.Input, Output: u.Output - before.Output,
			CacheRead: u.CacheRead - before.CacheRead, CacheWrite: u.CacheWrite - before.CacheWrite,
		}
	}
	if !plausibleUsage(own) && !unbased {
		return streamjson.Usage{}
	}
	if a.kind.Tokens != TokensOfResult {
		a.tokens.usage, a.tokens.unbased = u, false
	}
	if unbased {
		return streamjson.Usage{}
	}
	return own
}

// rounded returns usd without the rounding errors that accumulate when amounts are summed
// as floating-point numbers.
func rounded(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Interim records that the last result was not the final one, because the client is
// waiting for delegated work. The text of the next result will replace the text of this
// one.
func (a *Account) Interim() { a.interim = len(a.texts) > 0 }

// Began reports whether any event was seen.
func (a *Account) Began() bool { return a.began }

// CostUSD returns the cost of the turn according to the results so far, in US dollars.
func (a *Account) CostUSD() float64 { return a.spent.CostUSD }

// CostAt returns what the turn has cost so far if the client's running total is total, in US
// dollars. ok is false for a client without a running total, and while the total at the start
// of the turn is unknown.
func (a *Account) CostAt(total float64) (usd float64, ok bool) {
	total -= a.cost.usd
	if a.kind.Cost != CostOfProcess && a.kind.Cost != CostOfSession || a.cost.unbased || !plausibleUSD(total) {
		return 0, false
	}
	return rounded(a.spent.CostUSD + total), true
}

// Lost records that part of the turn's cost will never be known.
func (a *Account) Lost() { a.cost.notKnown = true }

// Session returns the latest session id that the client has reported, or "" if it has
// reported no id.
func (a *Account) Session() string { return a.session }

// Compacted returns how many times the client has compacted its context.
func (a *Account) Compacted() int { return a.spent.Compactions }

// OpenCalls returns the number of tool calls that have no result yet.
func (a *Account) OpenCalls() int { return len(a.open) }

// Results returns the results seen so far, oldest first. The caller must not modify them.
func (a *Account) Results() []streamjson.Result { return a.results }

// cutOff reports whether a turn that ended this way may have done work whose cost does
// not appear in any result.
func (a *Account) cutOff(end End) bool {
	switch end {
	case Done, NoFirstEvent, BadSetup, NoSession, NoResources, ClientGone, PromptNotRun:
		return false
	}
	return a.untold
}

// Fill writes the facts from the events into o. The caller must set o.End first.
func (a *Account) Fill(o *Outcome) {
	o.Session, o.Model, o.Version, o.Spent = a.session, a.model, a.version, a.spent
	o.CostUnknown = a.kind.Cost == CostUnknown || a.cost.notTold || a.cost.notKnown || a.cutOff(o.End)
	o.FirstEvent = a.began
	o.Denied, o.OnlyDenied = slices.Clone(a.denied), o.End.OK() && a.acts.only()
	o.Files = slices.Sorted(maps.Keys(a.files))
	// When a background command ends, the client continues on its own. The text that it
	// then prints is part of the answer, and so is its reply to a message that arrived
	// late.
	o.Text = strings.Join(a.texts, "\n\n")
}
