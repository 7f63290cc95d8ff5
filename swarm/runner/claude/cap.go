package claude

import (
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// After each answer from the model, the client compares the amount that its process has
// spent with the cap. At or above the cap it ends the turn:
//
//	answer (tool call) ─ over the cap ─ result: error, stop_reason tool_use     CapReached
//	answer (words)     ─ over the cap ─ result: error, stop_reason end_turn,
//	                                    without the words                       Done
//	sub-agent in the background ─ over the cap ─ stopped; result: success       CapReached
//
// After the result, the client keeps running while its standard input is open, and a
// sub-agent of the turn keeps spending. We therefore close the input immediately and
// terminate the client.

// capFlag is the client's flag for the cap, in US dollars. The client refuses to start with
// a cap of 0 or less.
const capFlag = "--max-budget-usd"

// leastCap is the minimum cap that we pass to the client, in US dollars.
const leastCap = 0.01

// capArguments returns the flag that sets the cap of the turn, if the turn has a cap. The
// client uses the last such flag, so capArguments returns no flag if the agent's command
// already sets an equal or lower cap.
func capArguments(t runner.Turn) []string {
	usd := capOf(t)
	if usd == 0 {
		return nil
	}
	return []string{capFlag, strconv.FormatFloat(usd, 'f', -1, 64)}
}

// capOf returns the cap that we pass for the turn, in US dollars, or 0 if we do not pass
// one.
func capOf(t runner.Turn) float64 {
	usd := max(t.CapUSD, leastCap)
	if own, ok := capInCommand(t.Spec.Command); t.CapUSD <= 0 || ok && own <= usd {
		return 0
	}
	return usd
}

// capInCommand returns the cap in an agent's command, in US dollars.
func capInCommand(command []string) (usd float64, ok bool) {
	for i, word := range command {
		value, joined := strings.CutPrefix(word, capFlag+"=")
		if word == capFlag && i+1 < len(command) {
			value, joined = command[i+1], true
		}
		if v, err := strconv.ParseFloat(value, 64); joined && err == nil {
			usd, ok = v, true
		}
	}
	return usd, ok
}

const (
	capSubtype  = "error_max_budget_usd"
	capTerminal = "budget_exhausted" // value of terminal_reason, since 2.1.330
)

// spentUp reports whether a result means that the client has reached its cap.
func spentUp(r *streamjson.Result) bool {
	return r.Subtype == capSubtype || r.TerminalReason == capTerminal
}

// answered reports whether the client reached its cap with a complete answer.
func answered(r *streamjson.Result) bool { return spentUp(r) && r.StopReason == "end_turn" }
