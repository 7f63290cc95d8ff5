// Package client is what every way into a swarm has in common: the verbs of the
// command line and the tools of the agents' MCP server. A [Client] knows who asks. It
// signs what the caller sends, completes it from the turn in which it is sent, and notes
// it there; it reads the caller's mailbox.
//
//	who am I ── envelope ── sign ── deliver ── note in the turn
//	                                   └─ wait: the answer, or why none can come
//
// A client needs no daemon. It prints nothing. Its errors say what is wrong; what to
// type next is said by the caller, since verbs and tools differ there.
package client
