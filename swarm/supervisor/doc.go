// Package supervisor watches the activity of agents and detects when an agent is stuck.
// It first whispers to the agent, then whispers more strongly, and then requests a
// decision from a person.
//
//	events of a turn --> steps --> rules --(flagged)--> ladder --> OnWhisper     first and second bad verdict
//	                       |                  ^           |
//	                       |                  |           +------> OnEscalation  third bad verdict in a row
//	                       |                  |           +------> OnOverrun     the turn went on after that
//	                       +--> judge --------+
//	                     (a model, if one is named)
//
// By default, the third bad verdict escalates. See [Settings].Threshold.
//
// A step is one message from the agent, with the results of its tool calls. The rules
// cost nothing and use only the steps. The judge is a model. It confirms or clears the
// findings of the rules, and checks the window every few steps.
//
// A Supervisor only reads events and calls the functions that it was given. It cannot end a
// process, write a file, send mail or speak for an agent. A test checks which packages it
// imports and which of their names it uses. Its judge runs as a turn of a [runner.Backend]
// without tools, and the only effect of its answer is a verdict and a line for the agent.
//
// The supervisor does not make turns wait. The rules run in the goroutine that calls
// [Watch.Event], and the judge runs in the goroutine of [Supervisor.Run].
package supervisor
