// Bench compares the speed of claude-swarm with that of the machine it runs on, and prints
// one line for each goal. `make bench` runs it in the root folder of the module:
//
//	go run ./internal/testkit/bench [--json] [--rounds N] [--only WORDS]
//
// The benchmarks are part of the packages, so `go test -bench` also finds them. Most goals
// are ratios of our code ("ours") to a floor, which is minimal code that does the same work
// in the same round on the same machine. The other goals limit a single measurement of our
// code, such as a time, an amount of memory or a count.
//
//	build once ──> round 1 … 7 ──> medians, spread, ratio ──> table
//	                 |
//	                 each variant in a separate process; floor and ours take
//	                 turns running first; before each, wait for an idle disk (syncfs)
//
// The context that we add to an agent's first request is counted once, with the scripted
// API of the end-to-end tests. This count requires the client (make tools).
//
// The benchmarks' files are deleted at the end, because a benchmark that deletes files
// slows down the next one by a factor of up to ten. A run takes several minutes and
// requires an otherwise idle machine.
//
// The exit status is 1 if a benchmark fails. A missed goal is not a failure, because the
// cause can be other work on the machine.
package main
