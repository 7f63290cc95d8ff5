// Package webhook notifies other programs over HTTP of the events in a swarm.
//
// Each event that a webhook subscribes to becomes a message in the mailbox hooks, so it is
// durable before anything is sent. A [Service] posts the messages of that mailbox:
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
// After [Service.Hear] has accepted an event, the service posts the event until the
// receiver answers with a 2xx status. After six attempts in about two and a half hours,
// it gives up and moves the message to dead/ with the reason. After the receiver has
// accepted an event, the service does not post it again, with one exception: if the
// process ends after the receiver has accepted the event but before the receipt is on
// disk, the next process posts the event again. Both requests have the same webhook-id,
// by which a receiver can recognize the duplicate.
//
// The mailbox accepts at most max_waiting events. Until some are posted, further events wait
// in the event list.
//
// Each webhook posts one message at a time, in parallel with the other webhooks, so a
// slow webhook delays neither other webhooks nor agents. Each attempt has a timeout. The
// service reads only the beginning of an answer. It does not follow redirects, because
// the event is not intended for the address in the redirect and that address has not been
// checked.
//
// A webhook without [Hook.Private] never connects to a private, loopback or link-local
// address, regardless of what the webhook's host name resolves to. If the environment
// specifies a proxy, the proxy resolves the name, and the proxy's rules apply.
//
// # Goroutines
//
// [Service.Run] waits for one attempt at a time for each webhook. An attempt owns one claimed
// message: the POST, and the last step on disk. It ends with the answer, or after 15 s. A
// message whose attempt has not ended 3 s after the shutdown began is put back. The service
// reads at most 16 KiB of an answer's headers, and 1 KiB of the body of an error.
//
// The package dropbox/outbox claims the messages, settles them, and takes up after a crash
// what an earlier service left.
//
// # Formats
//
// A generic webhook posts a [Payload] as JSON, signed as Standard Webhooks 1.0.0
// specifies. Slack, Discord and ntfy get their own formats, in which the text cannot
// mention people or hide links.
//
// # Files
//
// The state of the webhooks is in [StateFile], which [ReadState] can read without a daemon.
// If the file is lost, all waiting messages are due immediately.
package webhook
