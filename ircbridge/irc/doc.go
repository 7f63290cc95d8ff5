// Package irc is a small IRC client library. It implements the protocol of RFC 2812 and
// IRCv3, a single connection, and a client that keeps a connection up. It does not depend
// on the programs that use it.
//
//	Client     dials again, gets into channels again, fetches what was missed: a stream of Event
//	  Conn       one connection: a socket, a reader and a writer
//	    protocol   the same without a socket: registration, answers, timers
//	      session    what is known: nick, capabilities, channels and their members
//	      outbox     what waits to be written, and what is not proven: flood limit, Delivery
//	        Message    one line, parsed and written
//
// Each layer uses only the layers below it. Message, Split, Mentions, Masker, CaseMapping
// and similar identifiers are plain functions and types, which are useful without a
// connection.
//
// # A client
//
// [NewClient] makes a client, and [Client.Run] runs it. [Client.Events] returns its
// events, and [Client.Post] sends messages. [Dial] makes a single connection, for example
// to examine a server.
//
//	down --dial--> connecting -> registering -> up --ERROR, cut, silence--> down
//	  ^                 \____________\________________________________________|
//	  \__ 1 s, 2 s, 4 s … 60 s, each times 0.5 to 1.5; stops only if [Final]
//
// After each [Up], the client joins its channels. The client first emits [Joined] for
// each channel. If the server has draft/chathistory, the client then emits the messages
// since the last [Text]; otherwise, it emits a [Gap]. The last event is [CaughtUp]. In a
// channel that is new to the client, [CaughtUp] follows [Joined] directly. For every nick
// that, according to the server, sent private messages in the meantime, the client emits
// those messages and a [CaughtUp]. A final [CaughtUp] has no target. The client
// recognizes a message by its msgid and emits it only once. This holds even across
// restarts of the program if the [Memory] survives them. A client that is kicked from a
// channel or not let in retries five times, and then emits [Failed].
//
// # Delivered means proven
//
// A successful write is no proof of delivery, because the connection may be dead.
// [Conn.Post] therefore returns a [Delivery], which is done when the server has shown
// that it handled the message:
//
//	waiting --written--> written --echo, label, PONG--> proven
//	   |                    |\--404, 401, FAIL …------> bounced   (*Rejected)
//	   \--the end           \---the end
//	     ErrNotSent            ErrUnproven: it may have arrived
//
// With labeled-response, the proof is the labeled answer. It is the echo of the message
// with its msgid, or an ACK if the server has no echo-message. Without labeled-response,
// the client writes a PING after the message. A server answers in order, so its PONG is
// sent after it has handled the message (observed with ergo 2.20, ngircd 26.1, inspircd
// 3.15 and ircd-hybrid 8.2, even while they throttle).
//
// # Impossible failures
//
//   - A message, a nick or a topic cannot inject a second command. [Message.Append]
//     writes every line except the PING above, and every parameter passes through
//     [Message.Clean].
//   - The server does not cut messages. The client splits long lines, between words if
//     possible and never within a character, and leaves exactly enough room for the
//     source that the server adds in front of them.
//   - A SASL password is never sent in the clear. SASL requires TLS or a loopback
//     connection, and the client never tries an address configured for TLS without it.
//   - With the default [Flood], the server does not disconnect the client for flooding.
//   - A secret of a known form does not appear in a channel or in the log of raw lines,
//     because all messages pass through a [Masker].
//
// # Goroutines
//
// A [Conn] has a reader, for the input, incomplete batches and the registration, and a
// writer, for the output, the flood limit and the timers; [Conn.Close] waits for both.
// [Client.Run] starts a goroutine for each request for a channel's history and waits for it.
//
// # Bounds
//
// At most 4,096 pieces can wait to be written, and at most 1,024 of them for one target
// with one [Priority]. Above these limits, a delivery fails with [ErrQueueFull]. An
// [Alert] can still wait while fewer than 8,192 pieces are waiting. At most 1,024
// received messages and 1,024 events can wait to be read. Above these limits, the client
// does not read from the connection, and the server waits. A line can have at most
// 16,383 bytes with its tags; a longer line is dropped and counted. At most 64 batches,
// of at most 8 MiB each, can be open. Every command counts toward the flood limit.
package irc
