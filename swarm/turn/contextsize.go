package turn

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// leastFall is the smallest drop in the context size, in tokens, that counts as a
// compaction. Smaller drops occur in small conversations even without a compaction.
const leastFall = 20_000

// A contextSize tracks the size of a conversation across its turns, for a client that does
// not report its compactions ([runner.Kind].Compacts). A drop of more than half, and of at
// least leastFall, counts as a compaction.
type contextSize struct {
	session string
	peak    int // the largest size since the session began, or since the last compaction, in tokens
}

// begin sets the session that the next turn uses. The parameter resumed reports whether
// the session has already had turns. The parameter last is the size of the context at the
// end of the last turn, in tokens.
func (c *contextSize) begin(session string, resumed bool, last int) {
	switch {
	case !resumed:
		*c = contextSize{session: session}
	case session != c.session:
		*c = contextSize{session, last}
	}
}

// see records the size of a request, in tokens. If the size indicates a compaction, see
// returns the size before the compaction and true.
func (c *contextSize) see(tokens int) (before int, fell bool) {
	if tokens <= 0 {
		return 0, false // codex reports 0 together with an error
	}
	before = c.peak
	if fell = tokens < before/2 && before-tokens >= leastFall; fell || tokens > before {
		c.peak = tokens
	}
	return before, fell
}

// contextWatch is the sink for compactions. It saves the text that a compaction removed, which
// the next prompt must give back.
type contextWatch struct {
	turns       *Turns
	kind        *runner.Kind
	memory      *memory
	rec         *journal.Record
	compactions compactions
	fallen      int // number of compactions that were detected only by the context size
}

// begin starts tracking the size of the turn's context.
func (c *contextWatch) begin() {
	c.turns.size.begin(c.rec.Session, c.rec.How != string(runner.New), c.turns.View.Picture().Context.Tokens)
}

func (c *contextWatch) event(ev *streamjson.Event) {
	switch ev.Kind {
	case streamjson.KindAssistant:
		c.see(ev)
	case streamjson.KindHook:
		c.compactions.hook(ev)
	case streamjson.KindCompact:
		c.keep()
	}
}

// keep saves what the compaction removed.
func (c *contextWatch) keep() {
	pending, err := c.compactions.boundary(c.memory.win)
	c.turns.Note(err)
	c.turns.Note(c.memory.setPending(pending))
}

// see detects a compaction that the client does not report. If it detects one, the next
// prompt gives back the window's text, as after a reported compaction.
func (c *contextWatch) see(ev *streamjson.Event) {
	now, ok := ev.ContextTokens()
	if !ok || c.kind.Compacts {
		return
	}
	before, fell := c.turns.size.see(now)
	if !fell {
		return
	}
	c.fallen++
	c.keep()
	c.turns.agentLog.Line(c.rec.Message, fmt.Sprintf("= the client compacted its context (inferred from its size: %s → %s tokens)", screen.Thousands(before), screen.Thousands(now)))
	c.turns.log.Info("context compacted, as its size shows", keyTurn, c.rec.Turn, "before_tokens", before, "tokens", now)
}
