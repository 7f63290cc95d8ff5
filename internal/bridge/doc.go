// Package bridge carries messages between the mailboxes and a chat network of any kind.
//
// A bridge has a name, such as irc, and posts the messages from the mailbox of that name.
// Everything that the bridge posts is first stored as a message in that mailbox, so it is
// durable before the bridge connects and is not lost while the network is down. The only
// exceptions are the bridge's own answers to people's lines, which are not messages. A
// line in which a permitted person speaks to an agent becomes a message in that agent's
// mailbox.
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
// The bridge handles mailboxes and people: who may give which orders, which questions are
// waiting for an answer, and which messages are shown in which channel. A [Link] handles
// the connections, channels and names of one network. The bridge calls the link, and the
// link reports to its [Host], all in one goroutine. Slow work runs in parallel, through
// [Host.Do].
//
// # Promises
//
// Every message that the bridge's mailbox accepts is either posted or carried out, or the
// bridge moves it to dead/ with the reason and tells its sender. There is one exception:
// a copy of a message that is stored elsewhere may be filed as not shown. If a connection
// or this process ends in the middle of a message, the link later resends every part that
// is not known to have arrived. After a long outage, a single line reports how many turns
// began and ended. The separate copies that report those turns are filed as not shown.
//
// Only a permitted person can give orders; see [Permit]. A denied order is kept only in
// the buffer and in the log. Notices, lines from bots, relayed lines and our own lines are
// never obeyed. A line from the history is obeyed only if a permitted account said it less
// than a minute ago.
//
// # Goroutines
//
// One goroutine owns the whole state of the bridge and of its link: messages in transit,
// channels, open questions, buffers. It ends at most 5 s after the shutdown begins; messages
// that are not known to have arrived by then are put back. It waits for the others:
//
//	one wait each    the proof of a line, the flush of claims, a filing, an order to the daemon
//	a delivery       heard lines on their way to agents, until they are durable; one delivery at a
//	                 time, and the next one takes all lines that were heard in the meantime
//
// At most 256 heard lines wait for delivery, besides those in the current one; then the bridge
// stops reading from the network. At most 4 messages are in transit, or 32 with those that
// are being filed; the others wait in new/. The package dropbox/outbox claims the messages,
// settles them, and takes up after a crash what an earlier bridge left.
//
// # Files
//
// Other programs get all their information about a bridge from files, even while the
// bridge is not running. The functions that read these files need no connection. The
// files are in the bridge's [Folder], inside the daemon's folder:
//
//	lock                 held by the running bridge
//	state.json           the bridge's state: see [ReadState]
//	buffer/CHANNEL.jsonl the last lines of a channel: see [Reader]
//	marks/READER.json    how far a reader has read
//	checks/READER.json   when a reader last read, and last got advice: see [Reader.CheckIn]
//	joined.json          channels that people asked for, besides those in the options
//	questions.json       questions that were shown and wait for an answer
//
// A program can also send a message to give the bridge an order: the [Origin] in the
// message's front matter asks the bridge to join or leave a channel, or to set its topic.
// Without such a request, the Origin specifies where to post the message.
package bridge
