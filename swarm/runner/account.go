package runner

import (
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// An Account adds up the events of one turn. It uses only the fields of [streamjson.Event],
// so it fits every backend. [NewAccount] makes one. It is not safe for several goroutines.
type Account struct {
	kind           *Kind
	session, model string
	spent          Spent
	total          float64 // the client's running total at its last result, in US dollars
	began          bool
	open           map[string]call // tool calls without a result, by id
	files          map[string]bool
	denied         []Denial
	results        []streamjson.Result
	texts          []string // final words, one a result
	interim        bool     // the next one replaces the last of them
}

// A call is a tool call that has no result yet.
type call struct {
	file string // the file that it changes, if it succeeds; "" when none
}

// NewAccount returns the account of a turn of that kind of client. It begins at from.
func NewAccount(kind *Kind, from Place) Account {
	a := Account{kind: kind, spent: Spent{CostUnknown: kind.Cost == CostUnknown}}
	if kind.Cost == CostOfProcess {
		a.total = from.CostUSD
	}
	return a
}

// Restart forgets everything except the cost: the events were not part of the turn, but no
// other turn counts their cost.
func (a *Account) Restart() {
	*a = Account{kind: a.kind, total: a.total, spent: Spent{CostUSD: a.spent.CostUSD, CostUnknown: a.spent.CostUnknown}}
}

// Total is the last running total of the client, in US dollars, for the [Place] where its
// next turn begins; 0 for a client without a total.
func (a *Account) Total() float64 { return a.total }

// Observe adds one event. It keeps nothing of ev.
func (a *Account) Observe(ev *streamjson.Event) {
	a.began = true
	if ev.Session != "" && ev.Session != a.session {
		a.session = strings.Clone(ev.Session) // /clear gives a new one
	}
	switch ev.Kind {
	case streamjson.KindInit:
		if ev.Init != nil && a.model == "" {
			a.model = strings.Clone(ev.Init.Model)
		}
	case streamjson.KindAssistant:
		if tokens, ok := ev.ContextTokens(); ok {
			a.spent.ContextTokens = tokens
			if ev.Model != "" && ev.Model != a.model {
				a.model = strings.Clone(ev.Model)
			}
		}
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
		a.open[strings.Clone(b.ID)] = call{file: a.kind.Tools.Changes(b.Name, b.Input)}
	}
}

func (a *Account) answers(blocks []streamjson.Block) {
	for _, b := range blocks {
		if b.Kind != streamjson.BlockToolResult {
			continue
		}
		c, ok := a.open[b.ID]
		delete(a.open, b.ID)
		if !ok || b.Failed || c.file == "" {
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
		a.spent.Tokens.Input += u.Input
		a.spent.Tokens.Output += u.Output
		a.spent.Tokens.CacheRead += u.CacheRead
		a.spent.Tokens.CacheWrite += u.CacheWrite
	}
	a.spent.CostUSD = rounded(a.spent.CostUSD + a.own(r))
	if r.ContextLimit > 0 {
		a.spent.ContextLimit = r.ContextLimit
	}
	for _, d := range r.Denials {
		a.denied = append(a.denied, Denial{Tool: d.Tool, Input: d.Input, Allow: a.kind.Tools.Allow(d.Tool, d.Input)})
	}
	a.results = append(a.results, *r)
	if text := strings.TrimSpace(r.Text); text != "" {
		if a.interim {
			a.texts = a.texts[:len(a.texts)-1]
		}
		a.texts, a.interim = append(a.texts, text), false
	}
	clear(a.open) // only background work outlives a result, and no call waits for it
}

// own is the cost that a result adds to the turn, in US dollars.
func (a *Account) own(r *streamjson.Result) float64 {
	switch a.kind.Cost {
	case CostOfResult:
		return max(0, r.CostUSD)
	case CostOfProcess:
		before := a.total
		a.total = r.CostUSD
		return sinceTotal(r, before)
	}
	return 0
}

// sinceTotal is the cost of a result that has a running total, in US dollars. Where the
// result also has the cost since the last one, that counts: the total may include earlier
// processes of the session. Where it has only a total, that is the total of the process,
// and the difference counts; a total that is smaller than before began again at 0, as after
// /clear.
func sinceTotal(r *streamjson.Result, before float64) float64 {
	switch {
	case r.SinceLastUSD != nil:
		return max(0, *r.SinceLastUSD)
	case r.CostUSD < before:
		return max(0, r.CostUSD)
	}
	return r.CostUSD - before
}

// rounded removes the rounding error of a sum of binary fractions, in US dollars.
func rounded(usd float64) float64 { return math.Round(usd*1e9) / 1e9 }

// Interim says that the last result was not the final one: the client waits for delegated
// work, and the text of its next result replaces this one's.
func (a *Account) Interim() { a.interim = len(a.texts) > 0 }

// Began reports whether any event was seen.
func (a *Account) Began() bool { return a.began }

// Session is the last id of the conversation that the client named; "" when it named none.
func (a *Account) Session() string { return a.session }

// Compacted is how often the client has compacted its context.
func (a *Account) Compacted() int { return a.spent.Compactions }

// OpenCalls is the number of tool calls that wait for their result.
func (a *Account) OpenCalls() int { return len(a.open) }

// Results are the results seen so far, oldest first. The caller must not change them.
func (a *Account) Results() []streamjson.Result { return a.results }

// Fill writes the facts from the events into o.
func (a *Account) Fill(o *Outcome) {
	o.Session, o.Model, o.Spent = a.session, a.model, a.spent
	o.FirstEvent = a.began
	o.Denied = slices.Clone(a.denied)
	o.Files = slices.Sorted(maps.Keys(a.files))
	// When a background command ends the client continues by itself. Its words then are
	// part of the answer, and so are its words to a message that came late.
	o.Text = strings.Join(a.texts, "\n\n")
}
