// Package docs contains the manual and no code except for tests, which check that the
// manual is correct.
//
// The references for the configuration, the command line and the tools are generated from
// the program. On their pages, they are between two marks, and UPDATE=1 go test ./docs
// rewrites them. The tests run the commands in each block of the kind "console", and the
// program must print what the page shows, except for numbers and ids; UPDATE=1 rewrites
// this output as well. The targets of links must exist, and so must verbs, flags and keys.
package docs
