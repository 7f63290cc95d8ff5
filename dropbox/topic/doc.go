// Package topic publishes work and status messages in a store of mailboxes. All agents
// that subscribe to a topic get its publications. If a publication is work, one agent
// claims it.
//
//	topics/
//	    new/                     publications that are not closed yet
//	    done/2026-11-21/         closed publications, each with its receipt
//	    subscriptions/coder      the patterns of an agent, one per line
//	    grants/k7f3q9m2xd        who has claimed that publication
//	    tmp/ cur/ dead/ keys/    as in a mailbox
//
// A topic consists of words separated by dots, such as task.created. In a pattern, a * in
// place of a word matches exactly one word, and a > in place of the last word matches one
// or more words. (These are the rules for NATS subjects.)
//
// # Life cycle of a publication
//
//	Publish --> open --Claim--> claimed --Close--> closed
//	             ^                |
//	             +----Release-----+
//
// A status or a note is only delivered to each subscriber. A message of any other type is
// work. It is kept until an agent has claimed and closed it, and each subscriber gets an
// offer, which is a separate message. A grant is a single file that is created by a
// rename that never replaces an existing file, so only one agent can claim a publication.
// If a crash interrupts a step, the next caller, or [Topics.Finish], completes it.
//
//	topics := topic.Of(store)
//	sent, err := topics.Publish(&dropbox.Message{Topic: "task.created", Body: text}, nil)
//	grant, err := topics.Claim(sent.ID, "coder", "")
//	err = topics.Close(sent.ID, "coder", receipt)
//
// The source files are layered: pattern.go and topics.go are at the bottom, subscribe.go
// and grant.go are above them, and publish.go is at the top.
package topic
