// Command house measures the structure of the source tree, and prints it as a table:
// `make house`.
//
//	measure                      now   goal
//	methods of the largest type  160*  60    swarm: agent
//
// It loads the source with type information and counts what a manual review would count:
// methods and fields of types, files of a package that use each other in a cycle, files of
// a package, init functions, code that replaces a file by renaming another, programs and
// lines of code. It marks numbers that exceed their goals, but its exit status is 0 even
// then. With -v, it names every finding above a goal, not only the worst. For a cycle, it
// also lists the files and the uses that form it.
//
// Only the last row includes tests and test machinery.
package main
