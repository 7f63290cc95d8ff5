// Command house measures the structure of the source tree, and prints it: `make house`.
//
//	measure                                now  where
//	methods of a type                       76  swarm.Swarm; 57 dropbox.Mailbox; 44 swarm.agent
//	types that embed the same struct         4  dropbox.Entry: dropbox.Claim dropbox.DeadLetter …
//
// It loads the source with type information and counts what a reader has to hold in the
// head: the methods and fields of a type, its own and those that it gets by embedding, the
// types that share one embedded struct, the methods of an interface, the files of a package
// that use each other in a cycle, and the lines of code. Nothing here is a limit: a number
// shows where to look, and a change that only moves a number is not worth making. With -v,
// each measure lists ten findings instead of three, and a cycle lists the files and the uses
// that form it.
//
// Only the last row includes tests and test machinery.
package main
