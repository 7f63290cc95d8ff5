// Package journal reads and writes the daemon's own files, which are in the folder that a
// [Home] names:
//
//	daemon.lock          locked by the running daemon: its pid, start time, version and socket
//	daemon.log           the daemon's log, as lines of JSON
//	slug.json            the slug in the names of channels on IRC, and the folder in which it was
//	                     recorded, so that a moved project keeps its channels; may be deleted
//	in-force.yaml        a copy of the configuration in force, used for mail and halt while
//	                     claude-swarm.yaml contains an error; may be deleted
//	turns/TURN.json      the [Record] of an attempt: durable before the client gets the prompt;
//	                     for a later turn of a client, with the turn that started the client
//	turns/TURN.jsonl     the client's output in all of its turns; .stderr is its standard error
//	turns/TURN.now       the turn of the client that is running or ran last
//	turns/TURN.sent      the messages that a turn sent
//	turns/TURN.steered   the messages that were delivered to a turn while it ran
//	turns/TURN.asks      the [Asks]: the questions whose answers the turn has waited for
//	turns/TURN.hook.json the part of the window that the hook returned after a compaction
//	clients/AGENT.*      the client's settings, system prompt and MCP servers; .ready exists when
//	                     the client has listed the agents' tools
//	pids/AGENT.pid       the client that works for an agent, or waits for its next message
//	ledger.jsonl         the [Ledger]: a line for each attempt that ended
//	sessions.json        the [Sessions]: the conversation of each agent, and its folder
//	unsorted-tools.json  the [UnsortedTools]: tools of clients that this version does not know
//	state.json           the [Holds]: paused and stopped agents, failures, limits of accounts
//	questions.json       the [Questions] from the daemon to people, with their answers; settled
//	                     ones are kept for 90 days
//	quiet.json           notices for the end of the quiet hours
//	window/AGENT         the window; .pending is the part for the next prompt
//	whispers/AGENT.json  the supervisor's whispers that wait, and the last ones that were shown
//	gate.json            the recent messages, for the rules on rates and echoes
//	budget.json          people's decisions about the budget, and what they were asked
//	webhooks.json        the state of each webhook, and when failed events are retried; may be
//	                     deleted
//	mirror.json          until when the lead's mail has been shown on IRC
//	irc/                 the files of the bridge; the comment of package bridge lists them
//	attach/AGENT/        the plugin for the session that a person attaches
//	attached/AGENT.json  the [Binding] of a session that a person attached; .gate is the gate's
//	                     record of its mail
//	gone/AGENT           when an agent with waiting mail left the configuration; kept/AGENT says
//	                     that its mail is kept
//	setup.json           what init and attach created, with a hash of each file
//	tokens               the [Tokens] by which senders prove who they are
//	logs/AGENT.log       the [AgentLog], for people
//
// The folder is .claude-swarm/, beside claude-swarm.yaml. Its mode is 0700, and init keeps it
// out of git. The name of a turn is the id of its message and the number of the claim, as in
// k7f3q9m2xd-1.
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
// # Documents
//
// The daemon keeps the content of some files in memory, each in a [durable.Doc]. They differ
// in what happens to a change that cannot be written, and to a damaged file:
//
//	state.json           the change stays in memory until it can be written; if the file is
//	                     damaged, the daemon does not start, because it would wake paused agents
//	sessions.json,       the change is undone; a damaged file is set aside, and the lead is
//	unsorted-tools.json, told
//	budget.json
//	questions.json,      the change is undone; a damaged file is set aside
//	whispers/AGENT.json,
//	quiet.json
//	mirror.json          the next change includes it; a damaged file is overwritten
//
// # The event list
//
// The list feeds the listeners that report events: alerts to the lead, turns and mail to
// people on IRC, notices to webhooks, finished turns to an audit trail.
//
//	events.jsonl          one line for each event, in the order in which they were added; with the
//	                      next file, at most about 8 MB
//	events.old.jsonl      the lines before those; still older lines are deleted
//	cursors/NAME.json     the number of the last event that the listener NAME has heard; it may be
//	                      behind by events about which the listener does nothing
//
// All processes of a project can add events: the daemon and the hooks of attached
// sessions. An event is durable once [Events.Add] has returned. [Events.Tell] passes a
// listener the events that it has not heard, in order, and advances the listener's cursor
// once it has accepted them. So a listener hears every event at least once, but after a
// crash it may hear an event a second time.
//
// The listeners of one process share one reader of the list, which keeps the last events in
// memory. It reads the files again when their size shows that another process has added an
// event. Each listener has its own cursor.
//
// A process that repeats interrupted steps after a crash may add an event a second time.
// Both copies have the same [Event].Key, so a listener recognizes the second one.
//
// The list is bounded. If events are deleted before a listener has heard them, the
// listener is told how many it has missed.
package journal
