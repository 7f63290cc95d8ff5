//go:build linux

package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"math"
	"os"
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// sameCost is the maximum difference, in US dollars, between two sums of the same costs.
const sameCost = 1e-6

// tallyCosts finds turns whose cost in the ledger differs from the cost that the client
// reported. A client also reports the total cost of its session, which includes earlier
// turns.
func (a *arena) tallyCosts(c *counts, turns map[string]turn) error {
	booked, done := map[string]float64{}, map[string]bool{}
	err := journal.ReadLedger(a.own().Ledger(), func(l journal.LedgerLine) bool {
		booked[l.Turn] += l.CostUSD
		done[l.Turn] = done[l.Turn] || l.Outcome == string(runner.Done)
		return true
	})
	if err != nil {
		return err
	}
	byStream := map[string][]turn{}
	for _, t := range turns {
		stream := a.own().Stream(cmp.Or(t.Client, t.Turn))
		byStream[stream] = append(byStream[stream], t)
	}
	for stream, all := range byStream {
		data, err := os.ReadFile(stream)
		if err != nil {
			continue // a fault has removed the file
		}
		slices.SortFunc(all, func(x, y turn) int { return cmp.Compare(x.From.Offset, y.From.Offset) })
		for i, t := range all {
			to := int64(len(data))
			if i+1 < len(all) {
				to = min(to, all[i+1].From.Offset)
			}
			cost := spent(data[min(t.From.Offset, to):to])
			// A turn that was interrupted may have costs that no result reports.
			if over := booked[t.Turn] - cost; over > sameCost || done[t.Turn] && math.Abs(over) > sameCost {
				c.Doubled++
				c.show("doubled: turn %s is booked with %.6f USD and cost %.6f", t.Turn, booked[t.Turn], cost)
			}
		}
	}
	return nil
}

// spent returns the total cost of the results in a part of a stream, in US dollars.
func spent(stream []byte) (usd float64) {
	for line := range bytes.Lines(stream) {
		var l struct {
			Type  string `json:"type"`
			Since map[string]struct {
				CostUSD float64 `json:"costUSD"`
			} `json:"model_usage_since_last_result"`
		}
		if json.Unmarshal(line, &l) != nil || l.Type != "result" {
			continue
		}
		for _, m := range l.Since {
			usd += m.CostUSD
		}
	}
	return usd
}
