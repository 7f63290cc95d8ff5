// Package whisper delivers the supervisor's whispers to the agents. A whisper differs
// from mail in that no other agent sees it, nobody answers it, and it never begins a
// turn.
//
//	            +--> the running turn, beside urgent mail     (steering)
//	verdict --> | --> before an answer of the control socket   (socket)
//	            +--> the head of the agent's next prompt       (prompt)
//
// The whisper is delivered only once, in the first way that becomes possible. A [Store]
// records the delivery on disk. As a result, if a daemon is killed, the next daemon neither
// loses a whisper nor shows it twice:
//
//	waiting --Give--> given to a turn --Shown--> shown
//	   ^                     |
//	   +------TakeBack-------+   the turn ended, and its client had not read it
//
// A connection borrows a whisper with Lend, writes it, and then reports with Written whether
// the write succeeded.
//
// # Steering
//
// A client begins another turn for a line that it reads after its last tool call. A [Turn]
// therefore gives a whisper to the client only while one of the client's tools is running,
// because the client then calls the model again anyway.
package whisper
