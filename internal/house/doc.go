// Command house measures the structure of the source tree, and prints it as a table:
// `make house`.
//
//	measure                      now   goal
//	methods of the largest type  160*  60    swarm: agent
//
// It reads the source with its types and counts the same things as a review by hand:
// methods and fields of types, files of a package that use each other in a circle, files of
// a package, work in initializers, places that replace a file by a rename, programs and
// lines of code. It marks numbers above their goals, and its exit status is 0 even then.
// With -v it names every finding above a goal, not only the worst. For a circle it also
// lists its files and the uses that form it.
//
// Only the last row counts tests and test machinery.
package main
