// Package journal reads and writes the daemon's own files, which are in the folder that a
// [Home] names:
//
//	turns/TURN.json      the [Record] of an attempt: durable before the client gets the prompt
//	turns/TURN.sent      the messages that a turn sent
//	turns/TURN.steered   the messages that were delivered to a turn while it ran
//	turns/TURN.asks      the [Asks]: the questions whose answers the turn has waited for
//	ledger.jsonl         the [Ledger]: a line for each attempt that ended
//	sessions.json        the [Sessions]: the conversation of each agent
//	state.json           the [Holds]: paused and stopped agents, failures, limits of accounts
//	questions.json       the [Questions] from the daemon to people
//	attached/AGENT.json  the [Binding] of a session that a person attached
//	tokens               the [Tokens] by which senders prove who they are
//	pids/AGENT.pid       the client that works for an agent, or waits for its next message
//	logs/AGENT.log       the [AgentLog], for people
//
// Each file is either replaced as a whole or extended line by line. After a power cut, a
// file that must survive it has either its old or its new content. The ledger may lose
// its last lines, and [Ledger.Amend] restores them. [WhoAmI] and [Home.CallerOf]
// determine which agent's turn a caller belongs to. They use these files, the caller's
// ancestor processes and its environment. The package starts no process and has no queue.
// It uses only the pid, the start time and the mark of a client. A [Receipt] is stored
// with the mail, but its format is defined here because ledger lines are made from
// receipts.
//
// # The event list
//
// The list feeds the listeners that report events: alerts to the lead, turns and mail to
// people on IRC, notices to webhooks, finished turns to an audit trail.
//
//	events.jsonl          one line for each event, in the order in which they were added
//	events.old.jsonl      the lines before those; still older lines are deleted
//	cursors/NAME.json     the number of the last event that the listener NAME has heard
//
// All processes of a project can add events: the daemon and the hooks of attached
// sessions. An event is durable once [Events.Add] has returned. [Events.Tell] passes a
// listener the events that it has not heard, in order, and advances the listener's cursor
// once it has accepted them. So a listener hears every event at least once, but after a
// crash it may hear an event a second time.
//
// A process that repeats interrupted steps after a crash may add an event a second time.
// Both copies have the same [Event].Key, so a listener recognizes the second one.
//
// The list is bounded. If events are deleted before a listener has heard them, the
// listener is told how many it has missed.
package journal
