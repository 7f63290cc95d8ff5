// Package runnertest helps to test turns. [Scripted] is a backend that starts no
// processes; its turns do what the test or the prompt says. [Suite] checks the promises
// that every backend keeps, and runs the backend with a stand-in for its client.
//
// A turn of Scripted is a list of [Step] values, which a test writes in Go. Without such a
// list, lines of the prompt that begin with an @ and a known word are the steps: "@say
// ready". Other lines are ignored. If no step says anything, the client says "Done: " and
// the first line of the message.
//
// Scripted is a separate kind of client: it has a name, tools, a hook and a login that no
// real client has, so that tests find code that assumes those of one real client.
//
// It obeys [runner.Turn].CapUSD as Claude Code does: after each request (a text or a tool
// call) it compares what the turn has cost with the cap, so a turn exceeds its cap by at
// most one request. An answer that was finished is kept.
//
// Scripted uses the clock of package time and starts no goroutine, so it runs inside a
// bubble of testing/synctest.
package runnertest
