// Package runnertest contains helpers for tests of turns. [Scripted] is a backend that
// starts no processes; its turns follow a script in the test or in the prompt. [Suite]
// checks the guarantees that every backend must provide. It runs the backend with a
// stand-in for its client.
//
// A turn of Scripted is a list of [Step] values, which a test defines in Go. Without such
// a list, the steps are the lines in the prompt that begin with an @ and a known word,
// such as "@say ready". Other lines are ignored. If no step says anything, the client
// says "Done: " and the first line of the message.
//
// Scripted is a separate kind of client. Its name, tools, hook and login differ from
// those of every real client, so tests can find code that assumes a particular real
// client.
//
// It applies [runner.Turn].CapUSD as Claude Code does: after each request (a text block
// or a tool call), it compares the turn's cost with the cap, so a turn exceeds its cap by
// at most one request. A complete answer is kept.
//
// Scripted uses the clock of package time and starts no goroutine, so it runs inside a
// testing/synctest bubble.
package runnertest
