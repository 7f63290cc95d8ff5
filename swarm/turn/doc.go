// Package turn runs the turns of one agent: it chooses the session, starts a client or
// uses a waiting one, follows its events into the window, the log and the status, and
// returns the outcome of the turn. It does not use mailboxes: the work of a turn is a
// [Task].
//
//	Settings, Task --> session --> record --> client --> prompt --> events --> Outcome
//	                      ^                     |                     |
//	                      |   refused: another  |                     +--> window, View, Feed
//	                      +---------------------+
//
// The record of a turn is durable before the prompt is sent to the client. So a later
// daemon can find a client that outlived this daemon, and follow it ([Turns.Follow]).
package turn
