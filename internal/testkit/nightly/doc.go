// Nightly runs the tests that take too long for every change. `make nightly` runs all
// parts, `make nightly PART=fuzz` one:
//
//	go run ./internal/testkit/nightly [-for 1h] [-list] [-fresh] [PART…]
//
// A part consists of units, such as the packages of the race detector's part or the targets
// of the fuzzer's part. Each unit is a command. A unit that has passed is noted in .nightly
// and is not run again on the same source, so a part that was interrupted, or whose time is
// over, continues where it stopped. -for is the time of one part: no unit begins after it,
// and when the parts' units are small, each part takes at most an hour. -fresh forgets what
// has passed.
//
//	parts ──> units ──> not passed on this source ──> run ──> passed: noted
//	                                                      \─> failed: its last lines are printed
//
// The output of each unit is in .nightly/PART/UNIT.log. At the end, a table shows for each
// part how many units passed, failed and are left. The exit status is 1 if one failed or is
// left.
package main
