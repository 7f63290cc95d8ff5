package standin

import (
	"fmt"
	"strconv"
)

// A spendingCap is the maximum amount, in US dollars, that one process may spend with
// --max-budget-usd.
type spendingCap struct {
	usd     float64 // 0: none
	before  float64 // the running total at the start of the process
	checked int     // number of the current turn's requests whose cost has been compared with the cap
}

// capReached is the result subtype of a turn that has used up the cap.
const capReached = "error_max_budget_usd"

// setCap parses the flag as the real program does.
func (o *options) setCap(value string) error {
	usd, err := strconv.ParseFloat(value, 64)
	if err != nil || usd <= 0 {
		return complaint("error: option '--max-budget-usd <amount>' argument '" + value + "' is invalid. --max-budget-usd must be a positive number greater than 0")
	}
	o.budget = usd
	return nil
}

// withinCap compares the process's spending with its cap, once after each request of the
// turn. The turn that uses up the cap ends with an error, even if the last request returned
// the answer.
func (t *turn) withinCap(answered bool) error {
	c := t.c
	if c.cap.usd == 0 || t.requests <= c.cap.checked {
		return nil
	}
	c.cap.checked = t.requests
	spent := t.spent
	if t.cost != nil {
		spent = *t.cost
	}
	if c.cost+spent-c.cap.before < c.cap.usd {
		return nil
	}
	stop := "tool_use"
	if answered {
		stop = "end_turn"
	}
	return &failure{text: fmt.Sprintf("Reached maximum budget ($%v)", c.cap.usd), limit: capReached, stop: stop}
}

// refuseOverCap ends a turn before its first request if the process has used up its cap.
func (t *turn) refuseOverCap() error {
	c := t.c
	if c.cap.usd == 0 || c.cost-c.cap.before < c.cap.usd {
		return nil
	}
	return &failure{text: fmt.Sprintf("Reached maximum budget ($%v)", c.cap.usd), limit: capReached}
}
