// Package policy decides whether a message may pass.
//
// The decision is one pure function, [Policy.Decide]. Its input is the envelope and the
// body, whether the sender is proven, the rules, and the recent past. It reads no clock and
// opens no file.
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
// conversation. A sender's program asks before the delivery, without a past, only to get
// an answer sooner. When the daemon claims a message, it decides again, with all rules.
// So the same rules apply to files that a program or a person put into a mailbox. The
// daemon would also refuse every message that is refused before the delivery.
//
// A decision uses the time at which a message was delivered, not the time of its claim: an
// agent that floods a slow agent is stopped at the first excess message, even if that
// message is claimed an hour later.
//
// The daemon's own messages pass if they are proven. Rates, echoes and lists do not apply
// to a person: see [Question.person]. Rates and echoes do not apply to files dropped in the
// lead's name: see [Question.dropped].
package policy
