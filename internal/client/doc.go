// Package client contains the code that the command line and the agents' tools share. A
// [Client] acts for one caller. It fills in a message's envelope from the caller's
// turn, signs the message, delivers it, and records it in the turn. It also reads the
// caller's mailbox, and waits for answers.
//
//	Open ── envelope ── sign ── deliver ── note in the turn
//	                               └─ Wait: the answer, or why none can come
//
// A Client works without a daemon. It prints nothing. Its errors describe the problem.
// The caller adds advice on what to do next, which differs between a verb and a tool.
//
// # Layers
//
//	chat, chatask, chatread   access to IRC: mail for the bridge, files of the bridge
//	questions                 what the running turn asked by mail
//	wait, answer, forward     waiting for answers, answering, forwarding
//	topics, task              published work; a task in a line for IRC
//	send, tags                from names to mailboxes; envelope, proof, delivery
//	attach, find, rules       which file, which message, which rule
//	permission                what an agent may see
//	client, project, config   the caller, the project, its configuration
//	reading, channels, body   leaf files: what an agent's tools may read, channel names, texts
package client
