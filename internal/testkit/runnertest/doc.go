// Package runnertest has what tests of turns need: [Scripted], a backend
// without processes whose turns do what the test or the prompt says, and
// [Suite], the promises that every backend keeps, over a stand-in of its client.
//
// A turn of Scripted is a list of [Step], which a test writes in Go. Where the test gives
// none, lines of the prompt that begin with an @ and a known word are the steps: "@say
// ready". Other lines are nothing to it. Without a step the client says "Done: " and the
// first line of the message.
//
// Scripted is a kind of client by itself: it has a name, tools, a hook and a login that no
// real client has, so that whatever takes these for those of one real client shows.
//
// Scripted uses plain time and starts no goroutine, so it runs inside a bubble
// of testing/synctest.
package runnertest
