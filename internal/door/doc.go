// Package door is what all ways into a swarm have in common: the verbs of the
// command line, and the tools of the agents' MCP server. A caller that comes in by a
// door has an identity; what it sends is signed, inherits from the turn in which
// it is sent, and is noted there; what it reads lies in a mailbox.
//
//	who am I ── envelope ── sign ── deliver ── note in the turn
//	                                   └─ wait: the answer, or why none can come
//
// A door needs no daemon. It prints nothing, and its errors say what is wrong and
// not what to type: that differs from door to door.
package door
