// Package swarm is the daemon. It decides which agents exist, when each of them works, and
// how each reacts to a failure, a usage limit or an order.
//
// Each agent has its own goroutine, and an agent's error affects only that agent. An agent
// works on one message at a time:
//
//	         mail                 place free             good end
//	idle ---------> queued -----------------> working -------------> idle
//	 ^                ^                          |
//	 |                |      failed              v
//	 |                +---------------------- backoff
//	 |                |      usage limit         |
//	 |                +---------------------- limited
//	 |                |   its hours begin, urgent mail from a person
//	 |                +---------------------- off
//	 |   resume                                  |
//	 +---------- paused  <--- by hand or a rule  |
//	 |   start                                   |
//	 +---------- stopped <--- by hand, or the breaker after failures
//
// The agent claims a message with package mail, runs a turn for it with package turn, and
// files the outcome with package mail again:
//
//	step: held? -> mail: Claim, Refuse, TakeNotes -> turn: Run -> mail: Commit, Finish
//	                                                          \-> mail: PutBackAll, GiveUp
//
// # Promises
//
// An accepted message is either done, or moved to dead/ with the reason. In the second case
// the daemon notifies the sender or the lead. A message is claimed at the start of a turn
// and acknowledged when the turn succeeds. After a crash at any point, the next daemon
// determines from the files how far the message got, and continues from that point (see
// takeup.go). A turn is committed once its receipt is durable next to the message in cur/.
// If the daemon crashes before that, the next daemon follows the client to the end of the
// turn, or puts the message back if the client has ended without a result. If the daemon
// crashes after that, the next daemon only files the message.
//
// # Files
//
// Mail is in the mailboxes of package dropbox. The daemon's other files are in a
// [journal.Home]: a record and a stream for each turn, the ledger, the windows, the
// sessions, and the holds. docs/dev/message-format.md describes the mailboxes.
// docs/dev/architecture.md describes the home and where each part of an agent's state is kept.
//
// # Interfaces
//
// A swarm runs clients through [runner.Backend], and passes the events of package journal's
// event list to each [mail.Listener]. This is how alerts reach the lead, and how people on
// IRC see what the agents do. The feed of [Swarm.Subscribe] also contains the text that an
// agent is writing.
package swarm
