// Package irc is a small IRC client library: the protocol of RFC 2812 and
// IRCv3, one connection, and a client that keeps a connection up. It knows
// nothing of what it is used for.
//
//	Client     dials again, gets into channels again, fetches what was missed: a stream of Event
//	  Conn       one connection: a socket, a reader and a writer
//	    protocol   the same without a socket: registration, answers, timers
//	      session    what is known: nick, capabilities, channels and their members
//	      outbox     what waits to be written, and what is not proven: flood limit, Delivery
//	        Message    one line, parsed and written
//
// Each layer uses those below it alone. Message, Split, Mentions, Masker, CaseMapping and the
// like are plain functions and values, of use without a connection.
//
// # A client
//
// [NewClient] and [Client.Run]; the events come from [Client.Events], and
// texts go out by [Client.Post]. [Dial] makes a single connection for one who
// wants to look at a server and leave again.
//
//	down --dial--> connecting -> registering -> up --ERROR, cut, silence--> down
//	  ^                 \____________\________________________________________|
//	  \__ 1 s, 2 s, 4 s … 60 s, each times 0.5 to 1.5; stops only where [Final]
//
// After each [Up] the client joins its channels. For each it tells [Joined],
// then what was said since the last [Text] of that channel if the server has
// draft/chathistory, else a [Gap], and then [CaughtUp]. Of private talk it tells
// the same, for everybody whom the server names as having written since a line
// came last; the last [CaughtUp] of that has no target. A text comes once,
// by its msgid, also over restarts of the program if the [Memory] lives through
// them. It is kicked or kept out of a channel: five times it tries again, then
// it tells [Failed].
//
// # Delivered means proven
//
// A write that succeeds proves nothing: the connection may be dead. So
// [Conn.Post] returns a [Delivery], which is done when the server has shown
// that the text went out:
//
//	waiting --written--> written --echo, label, PONG--> proven
//	   |                    |\--404, 401, FAIL …------> bounced   (*Rejected)
//	   \--the end           \---the end
//	     ErrNotSent            ErrUnproven: it may have arrived
//
// With labeled-response and echo-message that is our own text with its msgid.
// Without, a PING is written after the text: a server answers in order, so its
// PONG comes after everything before it was dealt with (seen with ergo 2.20,
// ngircd 26.1, inspircd 3.15 and ircd-hybrid 8.2, also while they throttle).
//
// # What cannot happen
//
//   - A second command out of a text, a nick or a topic: [Message.Append] is the
//     one function that writes a line, and every parameter passes [Message.Clean].
//   - A text that is cut on its way: lines are split to the byte for the source
//     that the server puts before them, at words and at whole characters.
//   - A password in the clear: SASL needs TLS or loopback, and an address that
//     is to be TLS is never tried without.
//   - A kill for flooding, with the [Flood] that is the default.
//   - A secret of a known shape in a channel or in the log of raw lines: all
//     pass a [Masker].
//
// # Bounds
//
// Waiting to be written: 4,096 pieces, of these 1,024 for one target; then
// [ErrQueueFull]. Received and not taken: 1,024 messages and 1,024 events, then
// the connection is not read and the server waits. A line: 8,191 bytes of tags
// and 8,192 more, else it is dropped and counted, and the next is read. Open
// batches: 64 of 8 MiB each. Every command counts for the flood limit.
package irc
