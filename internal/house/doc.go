// Command house measures how the tree is built, and prints it as a table: `make house`.
//
//	measure                        now  goal
//	methods of the largest type    160    60  swarm: agent
//
// It reads the source with its types and counts what a review would count by hand:
// methods and fields of types, files of a package that use each other in a circle, files
// of a package, work in initializers, places that replace a file by a rename, programs
// and lines of code. It judges nothing: a number above its goal is marked,
// and the exit status is 0 anyway. With -v it names everything that is above a
// goal, not only the worst, and of a circle its files and the uses that close it.
//
// Tests and test machinery are not counted, but for the last row.
package main
