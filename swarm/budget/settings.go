package budget

import (
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Settings are the caps as the configuration expresses them; see docs/budget.md. The tags
// are those of the configuration's keys; see package config.
type Settings struct {
	Billing runner.Billing `key:"billing" type:"api | subscription | null" doc:"How you pay for the clients. api: for each token, and caps in US dollars apply. subscription: a fixed price; dollars are shown, and only caps on turns and time apply. null: as each client reports, and api until it does."`
	Warn    float64        `key:"warn" least:"0.01" most:"1" default:"0.8" doc:"The fraction of a cap, from 0.01 to 1, at which the lead is warned, once."`
	Swarm   SwarmCaps      `key:"swarm" like:"{day: 20}"`
	Agent   AgentCaps      `key:"agent" like:"{day: 8, turn: 2}"` // the default for each agent
	Task    Cap            `key:"task" short:"usd" type:"US dollars, keys with values, or null" doc:"The maximum that one message may cost: its turn, and the turns of every message that follows from it. 5 means US dollars; {usd: 5, turns: 30, time: 2h} limits each, and time is the time of all turns together. At the cap its mail waits, and you are asked once. null: no cap."`
}

// SwarmCaps limit the total spending of all agents.
type SwarmCaps struct {
	Day Cap `key:"day" short:"usd" type:"US dollars, keys with values, or null" doc:"The maximum that all agents together may spend in a day: 20 means US dollars; or {usd: 20, turns: 400, time: 12h}. The day ends at midnight in hours.zone, else in the machine's time zone. null: no cap."`
}

// AgentCaps limit the spending of one agent.
type AgentCaps struct {
	Day  Cap     `key:"day" short:"usd" type:"US dollars, keys with values, or null" doc:"The maximum that an agent may spend in a day: 8 means US dollars; or {usd: 8, turns: 100, time: 6h}. null: no cap."`
	Turn float64 `key:"turn" least:"0.01" most:"1000000" type:"US dollars or null" doc:"The maximum that one turn may spend, in US dollars. The client checks after each request, so a turn may exceed it by one request. turn_timeout limits its time. null: no cap."`
}

// A Cap is the maximum that may be spent. A value of 0 means that there is no cap in that
// unit. It is an [Amount] in the units that a person writes.
type Cap struct {
	USD   float64       `key:"usd" is:"absent" least:"0.01" most:"1000000" type:"US dollars"`
	Turns int           `key:"turns" is:"absent"`
	Time  time.Duration `key:"time" is:"absent"`
}

func (c Cap) amount() Amount { return Of(c.USD, c.Turns, c.Time) }

// Rules returns the rules for a swarm whose agents, by name, have these caps.
func (s Settings) Rules(agents map[string]AgentCaps) Rules {
	rules := Rules{
		Billing: s.Billing, Warn: s.Warn, Swarm: s.Swarm.Day.amount(), Task: s.Task.amount(),
		Agents: make(map[string]AgentRules, len(agents)),
	}
	for name, a := range agents {
		rules.Agents[name] = AgentRules{Day: a.Day.amount(), Turn: Of(a.Turn, 0, 0)}
	}
	return rules
}
