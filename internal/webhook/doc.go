// Package webhook tells other programs, by HTTP, what happens in a swarm.
//
// Each event that a webhook wants becomes a message in the mailbox hooks, so it is durable
// before anything is sent. A [Service] posts the messages of that mailbox:
//
//	the event list          the mailbox hooks              the receiver
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
// The service posts an event that [Service.Hear] has accepted until the receiver answers
// with a status of 2xx. After six tries in about two and a half hours it gives up, and the
// message goes to dead/ with the reason. The service does not post an event again after the
// receiver has accepted it, with one exception: if the process ends after the receiver has
// accepted the event, but before the receipt is on the disk, the next process posts the
// event again. Both posts have the same webhook-id, by which a receiver recognizes the
// repetition.
//
// Each webhook posts one message at a time, in parallel with the others: a slow webhook
// delays neither other webhooks nor agents. Each try has a time limit. The service reads
// only the beginning of an answer. It follows no redirect: the event is not meant for the
// address in the redirect, which nobody has checked.
//
// A webhook without [Hook.Private] never connects to an address of a private network or of
// this machine, or to a link-local address, whatever the webhook's host name resolves to. If
// the environment names a proxy, the proxy resolves the name, and its rules decide.
//
// # Formats
//
// A generic webhook posts a [Payload] as JSON, signed as Standard Webhooks 1.0.0
// specifies. Slack, Discord and ntfy get their own forms, in which the text cannot mention
// people or hide links.
//
// # Files
//
// The state of the webhooks is in [StateFile], which [ReadState] can read without a daemon.
// If the file is lost, all waiting messages are due at once.
package webhook
