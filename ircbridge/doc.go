// Package ircbridge links the mailboxes to an IRC network: it is the
// [bridge.Link] of the bridge that is called irc.
//
// A text that the bridge has it say is split into lines that fit, under a name by the
// [Style], and followed until each line is proven to be there:
//
//	bridge          speech                            server
//	  | Say           | voice, cut: [coder] one line    |
//	  +-------------> pieces -------------------------> |
//	                  | <--- own echo, or PONG: proven -|
//	  | <-- Landed ---+                                 |
//	  |               | connection ends, not proven     |
//	  | <-- Landed ---+ it waits again                  |
//	  | Say           |                                 |
//	  +-------------> recall: buffer, then the history, of what was said
//
// A line that was sent and not proven when the connection or this process ended is looked
// up in the server's history; where the server has none, it is said once more, marked (again).
//
// Channels are joined, left, and tried again when they do not let us in; the library
// [irc.Client] keeps each connection up: the bridge's, and with [StyleNicks] one for each agent.
package ircbridge
