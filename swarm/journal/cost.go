package journal

import "encoding/json"

// Cost is the cost of an agent, in US dollars, as estimated by its CLI. Days are UTC
// days. In JSON, an amount is null if it is 0 and the cost of some turns is unknown.
type Cost struct {
	Today        float64 `json:"today"`                         // US dollars on this UTC day; null if the cost of its turns is unknown
	Total        float64 `json:"total"`                         // US dollars of all turns; null if their cost is unknown
	TodayUnknown int     `json:"today_unknown_turns,omitempty"` // turns in today whose cost is unknown or only partly known; absent if 0
	TotalUnknown int     `json:"total_unknown_turns,omitempty"` // turns in total whose cost is unknown or only partly known; absent if 0
}

// Plus returns the sum of two costs.
func (c Cost) Plus(d Cost) Cost {
	return Cost{c.Today + d.Today, c.Total + d.Total, c.TodayUnknown + d.TodayUnknown, c.TotalUnknown + d.TotalUnknown}
}

// add adds the cost of a turn that ended today.
func (c *Cost) add(l LedgerLine) {
	c.Today += l.CostUSD
	c.Total += l.CostUSD
	if l.IsCostUnknown() {
		c.TodayUnknown++
		c.TotalUnknown++
	}
}

// MarshalJSON encodes an unknown amount as null.
func (c Cost) MarshalJSON() ([]byte, error) {
	type plain Cost
	return json.Marshal(struct {
		Today *float64 `json:"today"`
		Total *float64 `json:"total"`
		plain
	}{KnownUSD(c.Today, c.TodayUnknown > 0), KnownUSD(c.Total, c.TotalUnknown > 0), plain(c)})
}

// KnownUSD returns an amount for JSON, or nil if no part of it is known.
func KnownUSD(usd float64, unknown bool) *float64 {
	if unknown && usd == 0 {
		return nil
	}
	return &usd
}
