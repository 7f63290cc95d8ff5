// Package policy decides whether a message may pass.
//
// The decision is one pure function, [Policy.Decide]: it looks at the envelope and
// the body, at whether the sender is proven, at the rules, and at the recent past;
// it reads no clock and opens no file.
//
//	before delivery (send, reply, MCP, a bridge)   the daemon, at the claim
//	           |                                              |
//	     Question{BeforeDelivery}                         Question
//	           |                                              |
//	           +----------------> Gate.Ask <------------------+
//	                             /        \
//	                  Policy.Decide  +  Past.admit
//	                        |
//	                     Verdict: passes, or the rule, the reason and what to do
//
// A [Gate] is a [Policy] with its [Past]: how much each sender and each conversation
// has said lately, and what. A sender asks before the delivery, without a past, only to
// answer sooner: when the daemon claims a message it decides again, with all rules. So
// the same rules hold for files that a program or a person left in a mailbox by hand,
// and whatever is refused before the delivery the daemon would refuse too.
//
// A decision uses the time at which a message was delivered, not that at
// which it is claimed: an agent that floods a slow one is found out at the first
// message too many, although that is claimed an hour later.
//
// The daemon's own messages pass, if they are proven. A person is not held to rates,
// echoes and lists: see [Question.person]; what is left by hand in the lead's name is
// not held to rates and echoes: see [Question.dropped].
package policy
