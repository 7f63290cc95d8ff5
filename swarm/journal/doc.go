// Package journal keeps the daemon's own files, in the folder that a [Home] names:
//
//	turns/TURN.json      the [Record] of an attempt: durable before the client has the prompt
//	turns/TURN.sent, .steered   what was sent in a turn, and brought to it
//	turns/TURN.asks      the [Asks]: the questions whose answers the turn has waited for
//	ledger.jsonl         the [Ledger]: a line for each attempt that ended
//	sessions.json        the [Sessions]: the conversation of each agent
//	state.json           the [Holds]: who is paused or stopped, failures, limits of accounts
//	questions.json       the [Questions] of the daemon to the person
//	attached/AGENT.json  the [Binding] of a person's session
//	tokens               the [Tokens] by which senders prove who they are
//	pids/AGENT.pid       the client that works for an agent, or waits
//	logs/AGENT.log       the [AgentLog], for people
//
// Each file is replaced as a whole, or grows line by line; a power cut leaves the old or
// the new version. [WhoAmI] and [Home.CallerOf] tell from these files, and from the
// processes above a caller, to whose turn it belongs. The package starts no process and has
// no queue, and of a client it knows only the pid and the start time. A [Receipt] is kept
// with the mail; its form is defined here, since ledger lines are made from it.
//
// # The list of events
//
// The list feeds the listeners that report events: alerts to the lead, turns and mail to
// people on IRC, finished turns to an audit trail.
//
//	events.jsonl          one line for each event, in the order in which they were added
//	events.old.jsonl      the lines before these; those before them are gone
//	cursors/NAME.json     up to which event the listener of that name has heard
//
// Every process of a project may add events: the daemon, and the hooks of attached
// sessions. An event is durable when [Events.Add] has returned. [Events.Tell] gives a
// listener the events that it has not heard, in order, and moves its cursor when the
// listener has accepted them: so a listener hears every event at least once, even across
// crashes, and after a crash it may hear an event again.
//
// A process that repeats steps that a crash cut off may add an event a second time. Both
// copies have the same [Event].Key, by which a listener recognizes the second.
//
// The list is bounded. A listener that is away for longer than the list remembers learns
// how many events it has missed.
package journal
