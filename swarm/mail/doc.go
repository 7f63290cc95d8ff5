// Package mail does the mail of one agent: it claims messages, files what came of them, and
// tells those who are to know. It starts no process.
//
//	new/ --Claim--> cur/ --Refuse--> refused/, dead/, or done/ where nothing is to be done
//	 ^                |
//	 |                | TakeNotes: what rides along; the claims are durable from here on
//	 |                v
//	 |              a turn, or a person's session
//	 |                |
//	 |   PutBack      v              Commit               Finish
//	 +---------- no good end     good end --> receipt in cur/ --> answer --> done/
//	                  |
//	                  +-- Bury: reason in cur/ --> the sender is told --> dead/
//
// The receipt beside the message in cur/ is the commit point: before it the message is put
// back, after it only filed. Every step after it can be repeated, and so can those after a
// reason: [Inbox.FinishLeft] does that with what an earlier daemon left.
//
// A [Service] is what all agents of a project share, an [Inbox] is the mail of one agent. Who
// decides what a failed turn means for the agent is package swarm; an attached session
// ([Attached]) is an Inbox with a person at the other end.
package mail
