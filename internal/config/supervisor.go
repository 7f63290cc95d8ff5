package config

import "github.com/claude-swarm/claude-swarm/swarm/supervisor"

// Supervisor determines when an agent is considered stuck, and which model decides
// this. If no model is set, only the rules decide.
type Supervisor struct {
	Backend string `key:"backend" is:"raw,backend" from:"backend" doc:"The kind of agent program that runs the judging model."`
	// Command is the program of the backend and its first arguments; if empty, the
	// backend's default.
	Command  []string `key:"command" is:"raw" type:"text, list or null" split:"words" doc:"The program of that backend and its first arguments, written as for an agent; null: the default of the backend."`
	Model    string   `key:"model" is:"word" type:"text or null" doc:"The model that judges, by the client's name for it. Each judgement costs money. null: only the rules judge."`
	Thinking string   `key:"thinking" type:"off | low | medium | high | xhigh | max | null" default:"medium" doc:"How much that model thinks before it answers."`
	supervisor.Settings
}

// On reports whether a rule or a model supervises the agents.
func (s Supervisor) On() bool { return s.Model != "" || s.Rules != supervisor.Rules{} }
