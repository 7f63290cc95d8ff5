// Package ircbridge carries messages between the mailboxes and an IRC network.
//
// The bridge is the mailbox irc/ of the store. Everything that is to be said on
// IRC is a message there, so it is durable before anybody connects, and nothing
// is lost while IRC is down. Everything that is said on IRC to an agent becomes
// a message in that agent's mailbox.
//
//	any program          bridge                              network
//	    |  Deliver to irc/  |                                   |
//	    +-----------------> new/                                |
//	                        | Claim            at most five     |
//	                        cur/ ---- render, mask, split ----> |
//	                        | <---- own echo, or PONG: proven - |
//	                        | Commit, Finish                    |
//	                        done/  receipt: channel, msgids     |
//	                        dead/  refused, or hung up twice    |
//	                                                            |
//	    AGENT/new/ <--- mention, private message, TASK: ------- |
//	    buffer/    <--- every line of every channel ----------- |
//
// # What is promised
//
// A message that was accepted in irc/ is said, or it ends in dead/ with the
// reason and its sender is told. A line that was sent and not proven when the
// connection or this process ended is looked up in the server's history; where
// the server has none, it is said once more, marked (again). Copies that merely tell that
// turns began or ended are counted in one line after a long outage, and filed as not shown.
//
// Only a permitted person commands: see [Permit]. A denied order stays in
// the buffer, and in the log, and goes nowhere else. History, notices, bots,
// relayed lines and our own never command.
//
// # Files
//
// All that other programs need of the bridge they get by files, also while it
// does not run; none of the functions for that needs a connection. They lie in
// irc/ below the daemon's folder:
//
//	lock                 held by the one bridge that runs
//	state.json           how things stand: see [ReadState]
//	buffer/CHANNEL.jsonl the last lines of a channel: see [Reader]
//	marks/READER.json    how far somebody has read
//	checks/READER.json   when somebody has read last, and was advised to: see [Reader.CheckIn]
//	joined.json          channels that were asked for, beside those of the options
//	questions.json       questions that were shown and wait for an answer
//
// An order for the bridge is a message, too: a [Origin] in its front matter says where
// it is to be said, or that a channel is to be joined, left or given a topic.
package ircbridge
