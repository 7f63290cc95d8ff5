// Package view builds the data about a swarm that is shown to people and programs: a
// message, an inbox, dead letters and refused messages, a history, a trace, the hold-ups
// of agents, the webhooks, the status, and whatever requires a person's attention.
//
//	client, mailboxes, ledger ──┐
//	status of the daemon ─────┼─> a view ──> command line, --json, agents' tools, IRC
//	files of the bridge ──────┘
//
// A front end (the command line, a tool or IRC) builds a view from a [client.Client] or a
// [swarm.Status] and prints it in its own format. Front ends do not compute anything
// themselves, so they all show the same facts about a swarm.
//
// A view contains facts: times as [time.Time], money in US dollars, sizes in bytes or
// tokens, and names as they appear in the files. It contains no colors, widths or
// sentences that suit only one kind of screen. The claude-swarm commands that it gives as
// next steps are the same for all front ends. If the fields of a view have JSON tags,
// --json prints that view.
//
// The IRC bridge cannot import view: a view is built with a [client.Client], and package
// client imports the bridge, through which agents talk on IRC. The bridge therefore gets
// its answers through an interface, [bridge.Swarm]. The program implements that interface
// and formats views as lines. The bridge itself handles only mailboxes and the network.
//
// The functions that build views do not change messages and do not need a daemon. The
// caller may modify a view.
package view
