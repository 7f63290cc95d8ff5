// Package webhook tells other programs, by HTTP, what happens in a swarm.
//
// Each event that a webhook wants becomes a message in the mailbox hooks, so it is durable
// before anything is sent. A [Service] posts the messages of that mailbox:
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
// An event that [Service.Hear] has accepted is posted until the receiver answers with a
// status of 2xx, or it ends in dead/ with the reason, after six tries in about two and a
// half hours. It is posted successfully once. Only if this process ends between the answer
// and the move to done/ is the message posted again. It then has the same webhook-id, by
// which a receiver recognizes a repetition.
//
// Each webhook posts one message at a time, in parallel with the others: a slow webhook
// delays neither another one nor an agent. A try is bounded in time. The service reads only
// the beginning of an answer, and follows no redirect: the body is not meant for the next
// address, and nobody has checked it.
//
// A webhook without [Hook.Private] never connects to an address of a private network or of
// this machine, or to a link-local one, whatever its host name resolves to.
//
// # Formats
//
// A generic webhook posts a [Notice] as JSON, signed as Standard Webhooks 1.0.0 specifies.
// Slack, Discord and ntfy get their own forms, in which the text cannot mention people or
// hide links.
//
// # Files
//
// The state of the webhooks is in [StateFile], which [ReadState] can read without a daemon.
// If the file is lost, the waits between tries begin again.
package webhook
