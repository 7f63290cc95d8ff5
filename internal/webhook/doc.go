// Package webhook tells other programs, by HTTP, what happens in a swarm.
//
// Each event that a webhook wants becomes a message in the mailbox hooks, so it is durable
// before anything is sent. A [Service] works that mailbox off:
//
//	list of events          the mailbox hooks              the receiver
//	    |  Hear, once per key     |                             |
//	    +-----------------------> new/ <--- PutBack ---+        |
//	                              | Claim              |        |
//	                              cur/ ---- POST ------|------> |
//	                              |          any other answer   |
//	                              | 2xx: Commit, Finish         |
//	                              done/                         |
//	                              dead/  after the last try, with the reason
//
// # Promises
//
// An event that [Service.Hear] has taken is posted until the receiver answers with a status
// of 2xx, or it ends in dead/ with the reason, after six tries in about two and a half
// hours. It is posted once. When this process ends between the answer and the move to
// done/, the same message is posted again, with the same webhook-id; a receiver knows a
// repetition by that.
//
// Each webhook posts one message at a time and beside the others: a slow one delays no
// other, and none delays an agent. A try has a bound in time. Of an answer only its beginning is read, and a redirect
// is not followed: the next address has not been checked, and the body is not for it.
//
// A webhook without [Hook.Private] never connects to an address of a private network, of
// this machine or of the link, whatever the name resolves to at that moment.
//
// # Formats
//
// A generic webhook posts a [Notice] as JSON, signed as the specification Standard Webhooks
// 1.0.0 says. Slack, Discord and ntfy get their own forms, in which a text cannot address
// people or hide links.
//
// # Files
//
// The state of the webhooks is in [StateFile], which [ReadState] reads also while no daemon
// runs. It may be lost: then the waits between two tries begin again.
package webhook
