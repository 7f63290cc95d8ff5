// Package journal keeps the daemon's own files, in the folder that a [Home] names:
//
//	turns/TURN.json      the [Record] of an attempt: durable before the client has the prompt
//	turns/TURN.sent, .steered, .asks   what was sent in a turn, brought to it, asked in it
//	ledger.jsonl         the [Ledger]: a line for each attempt that ended
//	sessions.json        the [Sessions]: the conversation of each agent
//	state.json           the [Holds]: who is paused or stopped, failures, limits of accounts
//	attached/AGENT.json  the [Binding] of a person's session
//	tokens               the [Tokens] by which senders prove who they are
//	pids/AGENT.pid       the client that works for an agent, or waits
//	logs/AGENT.log       the [AgentLog], for people
//
// Each file is replaced whole, or grows line by line; a power cut leaves the old one or the
// new one. [WhoAmI] and [Home.CallerOf] tell from these files, and from the processes above a
// caller, whose turn it belongs to. The package runs nothing: it knows no queue and no client,
// but for the numbers of its process. A [Receipt] lies with the mail; its form is here, since
// the ledger's lines are made of it.
//
// # The list of what happened
//
// The list is for those who tell others of it: the lead of alerts, people on IRC of turns and
// mail, an audit trail of finished turns.
//
//	events.jsonl          one line for each event, in the order in which they were added
//	events.old.jsonl      the lines before these; those before them are gone
//	cursors/NAME.json     up to which event the listener of that name has heard
//
// Every process of a project may add: the daemon, and the hooks of attached sessions. An
// event that [Events.Add] returned for is durable. [Events.Tell] gives a listener what it
// has not heard, in order, and moves its cursor when it has taken that: so a listener hears
// every event at least once, across crashes, and after one it may hear an event again.
//
// Whoever adds an event while it goes on with something that a crash cut off may add it a
// second time. Both have the same [Event].Key, by which a listener knows them.
//
// The list is bounded. A listener that is away for longer than the list remembers is told
// how many events it has missed.
package journal
