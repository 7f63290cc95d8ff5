// Package docs contains the manual and no code except for tests, which check that the
// manual is correct.
//
// The references for the configuration, the command line and the tools are generated from
// the program. On each page, the generated part is between two marks, and UPDATE=1 go test
// ./docs rewrites it. The tests run the commands in each "console" block, and the program
// must print what the page shows, except for numbers and ids; UPDATE=1 rewrites this
// output as well. The targets of links must exist, and so must the verbs, flags and keys
// on the pages.
package docs
