// Package docs has no code: it is the folder of the manual, and its tests keep
// that manual true.
//
// Pages that can be made from the program are made from it: the reference of the
// configuration and of the command line stand between two marks in their pages,
// and UPDATE=1 go test ./docs writes them again. A terminal that a page shows,
// in a block of the kind "console", is run, and what the program prints must be
// what stands there, but for numbers and ids; UPDATE=1 writes that again, too.
// Links must lead somewhere, and verbs, flags and keys must exist.
package docs
