// Package policy decides whether a message may pass.
//
// The decision is made by one pure function, [Policy.Decide]. Its input consists of the
// envelope, the body, whether the sender is proven, the rules, and the recent past. The
// function does not read a clock or open a file.
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
// A [Gate] is a [Policy] with its [Past]: the recent messages of each sender and of each
// conversation. A sender's program asks before delivery, without a past, so that the
// sender learns of a refusal immediately. When the daemon claims a message, it decides
// again, using all rules. The same rules therefore apply to files that a program or a
// person puts directly into a mailbox. Every message that is refused before delivery
// would also be refused by the daemon.
//
// A decision uses the time at which a message was delivered, not the time at which it is
// claimed. An agent that floods a slow agent is therefore stopped at the first excess
// message, even if that message is claimed an hour later.
//
// The daemon's own messages pass if they are proven. Rates, echoes and lists do not apply
// to a person: see [Question.person]. Rates and echoes do not apply to files dropped in the
// lead's name: see [Question.dropped].
package policy
