// Package view builds the data about a swarm that people and programs see: a message, an
// inbox, dead letters and refused mail, a history, a trace, the hold-ups of agents, the
// webhooks, the status, and the needs of a person.
//
//	client, mailboxes, ledger ──┐
//	status of the daemon ─────┼─> a view ──> command line, --json, agents' tools, IRC
//	files of the bridge ──────┘
//
// A face (the command line, a tool, IRC) builds a view from a [client.Client] or a
// [swarm.Status] and prints it in its own way. No face computes anything itself, so all
// faces show the same facts about a swarm.
//
// A view contains facts: times as [time.Time], money in US dollars, sizes in bytes or
// tokens, and names as they are in the files. It contains no colours, no widths and no
// sentences for one kind of screen. The claude-swarm commands that it names as next steps
// are the same for all faces. A view whose fields have JSON tags is what --json prints.
//
// The bridge to IRC does not import view: a view is built with a [client.Client], and
// package client imports the bridge, through which agents talk on IRC. So the bridge gets
// its answers through an interface, [bridge.Swarm]. The program implements it and makes the
// lines from views. The bridge knows about mailboxes and the network, but not about the
// status.
//
// The builders change no message and need no daemon. A view belongs to the caller.
package view
