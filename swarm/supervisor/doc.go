// Package supervisor watches what an agent does and detects when the agent is stuck. It
// first whispers to the agent, then whispers more strongly, and then asks for a person's
// decision.
//
//	events of a turn --> steps --> rules --(flagged)--> ladder --> OnWhisper     first and second bad verdict
//	                       |                  ^           |
//	                       |                  |           +------> OnEscalation  third bad verdict in a row
//	                       +--> judge --------+
//	                     (a model, if one is named)
//
// The third bad verdict escalates by default: see [Settings].Threshold.
//
// A step is one message of the agent with the results of its tool calls. The rules cost
// nothing and read only steps. The judge is a model: it confirms or clears what the rules
// flag, and checks the window every few steps.
//
// A Supervisor only reads events and calls the functions that it was given. It cannot end a
// process, write a file, send mail or speak for an agent: a test checks which packages it
// imports and what it uses from them. Its judge runs as a turn of a [runner.Backend] without
// tools, and the only effect of its answer is a verdict and a line for the agent.
//
// Nothing here makes a turn wait: the rules run in the goroutine that calls [Watch.Event],
// and the judge runs in the goroutine of [Supervisor.Run].
package supervisor
