// Package runnertest has what tests of turns need: [Scripted], a backend
// without processes whose turns do what the test or the prompt says, and
// [Suite], the promises that every backend keeps, over its own stand-in client.
//
// A turn of Scripted is a list of [Step], which a test writes in Go. Where the test gives
// none, the prompt is the script, in the words of the stand-in client (package standin), so
// that one message does the same in both. Scripted plays those that need no process: say,
// sh, write (nothing is really run or written), deny, sleep, cost, context, model, compact,
// fail, status, unborn, exit, noresult, die and hang. Any other word of the stand-in fails
// the turn. Without a step the client says "Done: " and the first line of the body.
//
// Scripted uses plain time and starts no goroutine, so it runs inside a bubble
// of testing/synctest.
package runnertest
