// Testrun runs `go test`, once or several times, and sums up the results. `make test` uses
// it:
//
//	go run ./internal/testkit/testrun [-slow N] -- GO-TEST-ARGUMENTS [-- GO-TEST-ARGUMENTS]…
//
// It prints one line for each package, as `go test` does, and the output of each failed
// test. At the end it names what `go test` leaves out: the tests that were not run because
// a program is missing (see package need), and how many tests passed, failed and were
// skipped. Only tests count, not their subtests.
//
//	ok      dropbox     2.8 s
//	FAIL    window      0.1 s
//
//	not run: 12 tests, because ngircd is missing
//
//	1630 passed, 1 failed, 30 skipped
//
// With -slow it also names the N slowest tests. The exit status is the largest one of
// `go test`.
package main
