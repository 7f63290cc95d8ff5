// Package turn runs the turns of one agent. It chooses the session, starts a client or
// uses a waiting one, passes the client's events to the window, the log and the status,
// and returns the outcome of the turn. The package does not use mailboxes, because its
// caller passes the work of a turn as a [Task].
//
//	Settings, Task --> session --> record --> client --> prompt --> events --> Outcome
//	                      ^                     |                     |
//	                      |   refused: another  |                     +--> window, View, Feed
//	                      +---------------------+
//
// The record of a turn is durable before the prompt is sent to the client. A later daemon
// can therefore find a client that outlived this daemon, and follow it ([Turns.Follow]).
package turn
