// Package topic publishes work and news in a store of mailboxes: a publication goes to
// all agents that subscribe to its topic, and one of them claims it.
//
//	topics/
//	    new/                     publications that are not closed yet
//	    done/2026-11-21/         closed ones, each with its receipt
//	    subscriptions/coder      the patterns of an agent, one a line
//	    grants/k7f3q9m2xd        who has claimed that publication
//	    tmp/ cur/ dead/ keys/    as in a mailbox
//
// A topic consists of words separated by dots, such as task.created. A pattern is a topic
// in which a word may be *, which stands for any one word, and the last word may be >,
// which stands for one or more words. (The rules are those of NATS subjects.)
//
// # The life of a publication
//
//	Publish --> open --Claim--> claimed --Close--> closed
//	             ^                |
//	             +----Release-----+
//
// A status or a note goes to each subscriber unchanged. Every other type is work: it is
// kept until an agent has claimed and closed it, and each subscriber gets an offer of it, a
// separate message. A grant is one file, made by a rename that replaces nothing, so only
// one agent claims a publication. The next caller, or [Topics.Finish], finishes a step that
// a crash interrupted.
//
//	topics := topic.Of(store)
//	sent, err := topics.Publish(&dropbox.Message{Topic: "task.created", Body: text}, nil)
//	grant, err := topics.Claim(sent.ID, "coder", "")
//	err = topics.Close(sent.ID, "coder", receipt)
//
// The files build on each other: pattern.go and topics.go at the bottom, then
// subscribe.go, grant.go, and publish.go at the top.
package topic
