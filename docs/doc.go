// Package docs has no code: it is the folder of the manual, and its tests keep the manual
// correct.
//
// The references of the configuration, the command line and the tools are generated from
// the program: they are between two marks in their pages, and UPDATE=1 go test ./docs
// rewrites them. The commands in a block of the kind "console" are run, and the program
// must print what the page shows, except for numbers and ids; UPDATE=1 rewrites that, too.
// Links must have a target, and verbs, flags and keys must exist.
package docs
