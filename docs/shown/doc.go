// Package shown runs what the manual shows, and contains no code except for tests.
//
// The tests run the commands in each "console" block, and the program must print what the
// page shows, except for numbers and ids. The shell programs, the containers, the protocol
// and the demo on the pages must work as well. UPDATE=1 go test ./docs/shown rewrites the
// output on the pages.
//
// Package docs holds the tests that only read the pages.
package shown
