// Package mail handles the mail of one agent: it claims messages, files their results, and
// tells senders and listeners. It starts no process.
//
//	new/ --Claim--> cur/ --Refuse--> refused/, dead/, or done/ if nothing is left to do
//	 ^                |
//	 |                | TakeNotes: the notes for the prompt; the claims are durable from here on
//	 |                v
//	 |              a turn, or a person's session
//	 |                |
//	 |   PutBack      v              Commit               Finish
//	 +---------- no good end     good end --> receipt in cur/ --> answer --> done/
//	                  |
//	                  +-- GiveUp: reason in cur/ --> the sender is told --> dead/
//
// The receipt beside the message in cur/ is the commit point: a message without a receipt
// is put back, and one with a receipt is only filed. Every step after the receipt can be
// repeated, and so can the steps after a reason: [Inbox.FinishLeft] repeats them for
// messages that an earlier daemon left in cur/.
//
// All agents of a project share a [Service]; an [Inbox] handles the mail of one agent.
// Package swarm decides what a failed turn means for the agent. An attached session
// ([Attached]) uses an Inbox for the session of a person.
package mail
