// Package mail handles the mail of an agent. It claims messages, files them with their
// results, and notifies senders and listeners. It does not start processes.
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
// The receipt next to the message in cur/ is the commit point. A message without a
// receipt is put back, and a message with a receipt is only filed. All steps after the
// receipt or the reason is written can be repeated. [Inbox.FinishLeft] repeats them for
// messages that an earlier daemon left in cur/.
//
// All agents of a project share a [Service]. An [Inbox] handles the mail of one agent.
// Package swarm decides how a failed turn affects the agent. An [Attached] uses an Inbox
// for a person's session.
package mail
