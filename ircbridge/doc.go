// Package ircbridge links the mailboxes to an IRC network. It implements [bridge.Link]
// for the bridge named "irc".
//
// It splits the bridge's text into lines that fit, sends them under a name that the
// [Style] determines, and tracks each line until its arrival is confirmed:
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
// If a line was sent but not confirmed when the connection or this process ended, the
// link looks for it in the server's history. If the server has no history, the link
// resends the line, marked (again).
//
// The link joins and leaves channels, and retries the channels that do not let it in. An
// [irc.Client] keeps each connection up. There is one connection for the bridge and, with
// [StyleNicks], one for each agent.
//
// # Goroutines
//
// The link runs in the goroutine of the bridge, which waits for the others: one for each
// client, which ends with the bridge or with its agent, and one that passes the client's
// events to the bridge, one at a time.
package ircbridge
