// Package irc is a small IRC client library: the protocol of RFC 2812 and IRCv3, one
// connection, and a client that keeps a connection up. It knows nothing about the
// programs that use it.
//
//	Client     dials again, gets into channels again, fetches what was missed: a stream of Event
//	  Conn       one connection: a socket, a reader and a writer
//	    protocol   the same without a socket: registration, answers, timers
//	      session    what is known: nick, capabilities, channels and their members
//	      outbox     what waits to be written, and what is not proven: flood limit, Delivery
//	        Message    one line, parsed and written
//
// Each layer uses only those below it. Message, Split, Mentions, Masker, CaseMapping and
// the like are plain functions and values, useful without a connection.
//
// # A client
//
// [NewClient] makes a client, and [Client.Run] runs it; the events come from
// [Client.Events], and [Client.Post] sends texts. [Dial] makes a single connection, for
// example to examine a server.
//
//	down --dial--> connecting -> registering -> up --ERROR, cut, silence--> down
//	  ^                 \____________\________________________________________|
//	  \__ 1 s, 2 s, 4 s … 60 s, each times 0.5 to 1.5; stops only if [Final]
//
// After each [Up] the client joins its channels. The events of each channel are [Joined],
// then the texts since the last [Text] if the server has draft/chathistory, else a [Gap],
// and then [CaughtUp]. In a channel that is new to the client, [CaughtUp] follows
// [Joined] directly. For private talk the texts and [CaughtUp] come for every nick that,
// according to the server, wrote in the meantime. A last [CaughtUp] has no target. The
// client recognizes a text by its msgid and emits it once, even across restarts of the
// program if the [Memory] survives them. A client that is kicked or kept out of a channel
// tries again five times; then it emits [Failed].
//
// # Delivered means proven
//
// A write that succeeds proves nothing: the connection may be dead. So [Conn.Post]
// returns a [Delivery], which is done when the server has shown that it handled the text:
//
//	waiting --written--> written --echo, label, PONG--> proven
//	   |                    |\--404, 401, FAIL …------> bounced   (*Rejected)
//	   \--the end           \---the end
//	     ErrNotSent            ErrUnproven: it may have arrived
//
// With labeled-response the proof is the labelled answer: the echo of the text with its
// msgid, or an ACK from a server without echo-message. Without labeled-response a PING is
// written after the text: a server answers in order, so its PONG comes after it has
// handled the text (seen with ergo 2.20, ngircd 26.1, inspircd 3.15 and ircd-hybrid 8.2,
// even while they throttle).
//
// # What cannot happen
//
//   - A second command from a text, a nick or a topic: [Message.Append] writes every
//     line except the PING above, and every parameter passes [Message.Clean].
//   - A text that the server cuts: lines are split at words and at whole characters,
//     and leave exactly enough room for the source that the server puts before them.
//   - A SASL password in the clear: SASL needs TLS or loopback, and an address with TLS
//     is never tried without it.
//   - A disconnection for flooding, with the default [Flood].
//   - A secret of a known shape in a channel or in the log of raw lines:
//     all texts pass through a [Masker].
//
// # Bounds
//
// At most 4,096 pieces may wait to be written, at most 1,024 of them for one target with
// one [Priority]; above that, a delivery fails with [ErrQueueFull]. An [Alert] may still
// wait while fewer than 8,192 pieces do. At most 1,024 received messages and 1,024 events
// may wait to be read; above that, the connection is not read, and the server waits. A
// line may have at most 16,383 bytes with its tags; a longer line is dropped and counted.
// At most 64 batches, of at most 8 MiB each, may be open. Every command counts towards
// the flood limit.
package irc
