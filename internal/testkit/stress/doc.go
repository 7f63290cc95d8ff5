// Stress runs the tests of all packages with the race detector, several packages at a
// time, again and again. On a machine that is busier than it should be, goroutines meet in
// orders that one run after another never shows. `make stress` runs it for half an hour:
//
//	go run ./internal/testkit/stress [-for 30m] [-jobs 5] [-short] [PACKAGE…]
//
// It builds one test binary per package, then lets each of the jobs run one binary after
// another, with the tests shuffled; every package has its turn before one comes again. When
// the time is over, the running binaries finish. The tests that run a real client, and those
// that only read source files, are left out.
//
// Each failure is printed when it happens, and its whole output is kept in .stress. At the
// end a table says how often each package ran and failed. The exit status is 1 if one
// failed.
package main
