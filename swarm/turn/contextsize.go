package turn

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/streamjson"
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

// contextSeen detects a compaction that the client does not report. If it detects one,
// the next prompt gives back the window's text, as after a reported compaction.
func (t *tracker) contextSeen(ev *streamjson.Event) {
	now, ok := ev.ContextTokens()
	if !ok || t.kind.Compacts {
		return
	}
	before, fell := t.turns.size.see(now)
	if !fell {
		return
	}
	t.fallen++
	pending, err := t.compactions.boundary(t.memory.win)
	t.turns.Note(err)
	t.turns.Note(t.memory.setPending(pending))
	t.turns.agentLog.Line(t.rec.Message, fmt.Sprintf("= the client compacted its context (inferred from its size: %s → %s tokens)", screen.Thousands(before), screen.Thousands(now)))
	t.turns.log.Info("context compacted, as its size shows", keyTurn, t.rec.Turn, "before_tokens", before, "tokens", now)
}

// watchSize starts tracking the size of the turn's context.
func (t *tracker) watchSize() {
	t.turns.size.begin(t.rec.Session, t.rec.How != string(runner.New), t.turns.View.Picture().Context.Tokens)
}
