// Package ircbridge links the mailboxes to an IRC network: it implements [bridge.Link]
// for the bridge named "irc".
//
// It splits each text of the bridge into lines that fit, sends them under a name that the
// [Style] chooses, and tracks each line until its arrival is proven:
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
// If a line was sent but not proven when the connection or this process ended, the link
// looks for it in the server's history. If the server has no history, the link sends the
// line once more, marked (again).
//
// The link joins and leaves channels, and retries those that do not let it in. An
// [irc.Client] keeps each connection up: the bridge's, and with [StyleNicks] one for each
// agent.
package ircbridge
