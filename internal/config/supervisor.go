package config

// Supervisor determines when an agent is considered stuck, and which model decides
// this. If no model is set, only the rules decide.
type Supervisor struct {
	Backend string `key:"backend" is:"raw,backend" from:"backend" doc:"The kind of agent program that runs the judging model."`
	// Command is the program of the backend and its first arguments; if empty, the
	// backend's default.
	Command   []string `key:"command" is:"raw" type:"text, list or null" split:"words" doc:"The program of that backend and its first arguments, written as for an agent; null: the default of the backend."`
	Model     string   `key:"model" is:"word" type:"text or null" doc:"The model that judges, by the client's name for it. Each judgement costs money. null: only the rules judge."`
	Thinking  string   `key:"thinking" type:"off | low | medium | high | xhigh | max | null" default:"medium" doc:"How much that model thinks before it answers."`
	Window    int      `key:"window_size" most:"200" default:"20" doc:"How many steps are judged. A step is one message of the agent with the results of its tool calls."`
	Interval  int      `key:"eval_interval" most:"200" default:"5" doc:"The model judges after this many steps. Without a model, this many steps without a finding are a clean verdict."`
	Threshold int      `key:"escalation_threshold" most:"20" default:"3" doc:"How many bad verdicts in a row escalate: you are notified, and the agent is paused. For earlier bad verdicts, the agent only gets a whisper."`
	// InterruptAfter is 0 if the running turn of a stuck agent is not interrupted.
	InterruptAfter int             `key:"interrupt_after" type:"number or null" zero:"to switch it off" most:"1000" default:"10" doc:"After an escalation, the agent's running turn is interrupted when it has taken this many more steps, or after 2 minutes; the session stays, and the message waits. null: the turn goes on to its end."`
	Rules          SupervisorRules `key:"rules" default:"{same_call: 3, same_error: 3, steps_without_change: 30}" doc:"When an agent counts as stuck: in how many steps the same call has the same result, or the same failure, or no file is changed; see docs/supervisor.md. 0 switches a rule off; with all of them off and no model, nothing is supervised."`
}

// SupervisorRules contains the limits of the supervisor's rules, in steps. A limit of 0
// turns its rule off.
type SupervisorRules struct {
	SameCall  int `key:"same_call" least:"2" most:"200" zero:"to switch it off" default:"3"`
	SameError int `key:"same_error" least:"2" most:"200" zero:"to switch it off" default:"3"`
	NoChange  int `key:"steps_without_change" least:"2" zero:"to switch it off" default:"30"`
}

// On reports whether a rule or a model supervises the agents.
func (s Supervisor) On() bool { return s.Model != "" || s.Rules != SupervisorRules{} }
