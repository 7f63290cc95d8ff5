// Package docs has no code: it is the folder of the manual, and its tests keep
// that manual true.
//
// What can be made from the program is made from it: the reference of the
// configuration and of the command line stand between two marks in their pages,
// and UPDATE=1 go test ./docs writes them again. What a page shows of a terminal,
// in a block of the kind "console", is run, and what the program prints must be
// what stands there, but for numbers and ids; UPDATE=1 writes that again, too.
// Links must lead somewhere, and verbs, flags and keys must exist.
package docs
