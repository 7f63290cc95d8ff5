// Package bridge carries messages between the mailboxes and a chat, whatever network that
// is on.
//
// A bridge has a name, such as irc, and works off the mailbox of that name. Everything that
// is to be said on the network is a message there, so it is durable before anybody
// connects, and nothing is lost while the network is down. Everything that is said there
// to an agent becomes a message in that agent's mailbox.
//
//	any program          bridge                       link          network
//	    |  Deliver to irc/  |                           |              |
//	    +-----------------> new/                        |              |
//	                        | Claim    at most five     |              |
//	                        cur/ ---- Say: a text ----> split, prove -->
//	                        | <---- Landed: its fate -- |              |
//	                        | Commit, Finish            |              |
//	                        done/  receipt              |              |
//	                        dead/  refused, or hung up  |              |
//	                                                    |              |
//	    AGENT/new/ <--- mention, TASK: --- Heard: a text <-------------|
//	    buffer/    <--- every line of every channel --- |
//
// The bridge knows mailboxes and people: who may order what, which questions wait for an
// answer, what is shown where. A [Link] knows connections, channels and names of one network.
// Neither does the other's work: the bridge calls the link, and the link reports to its
// [Host], all in one goroutine. What takes time runs beside it, by [Host.Do].
//
// # What is promised
//
// A message that the bridge's mailbox accepted is said, or it ends in dead/ with the
// reason and its sender is told. Of a message that was on its way when a connection or this
// process ended, the link says again what is not proven to be said. Copies that merely tell
// that turns began or ended are counted in one line after a long outage, and filed as not
// shown.
//
// Only a permitted person commands: see [Permit]. A denied order stays in
// the buffer, and in the log, and goes nowhere else. History, notices, bots,
// relayed lines and our own never command.
//
// # Files
//
// All that other programs need of a bridge they get by files, also while it
// does not run; none of the functions for that needs a connection. They lie in
// the [Folder] of the bridge, below the daemon's:
//
//	lock                 held by the one bridge that runs
//	state.json           how things stand: see [ReadState]
//	buffer/CHANNEL.jsonl the last lines of a channel: see [Reader]
//	marks/READER.json    how far somebody has read
//	checks/READER.json   when somebody has read last, and was advised to: see [Reader.CheckIn]
//	joined.json          channels that were asked for, beside those of the options
//	questions.json       questions that were shown and wait for an answer
//
// An order for the bridge is a message, too: an [Origin] in its front matter says where
// it is to be said, or that a channel is to be joined, left or given a topic.
package bridge
