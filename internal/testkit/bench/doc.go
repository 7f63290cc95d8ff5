// Bench measures claude-swarm against what its machine can do, and prints one line for each
// goal. `make bench` runs it, in the folder of the module:
//
//	go run ./internal/testkit/bench [--json] [--rounds N] [--only WORDS]
//
// The benchmarks are those of the packages, where `go test -bench` finds them. Most goals are
// ratios of ours to a floor: the same work done by hand, with nothing around it, in the same
// round on the same machine. The other goals limit one number of ours, such as a time, an
// amount of memory or a count.
//
//	build once ──> round 1 … 7 ──> medians, spread, ratio ──> table
//	                 |
//	                 each variant in a separate process; floor and ours take
//	                 turns running first; before each, wait for an idle disk (syncfs)
//
// The additional context of an agent's first request is counted once, with the scripted API
// of the end-to-end tests. This count needs the client (make tools).
//
// The files of the benchmarks are deleted at the end, because a benchmark that deletes
// files slows the next one by a factor of up to ten. A run takes several minutes, and
// needs an otherwise idle machine.
//
// The exit status is 1 when a benchmark fails. A missed goal is not a failure, because
// other work on the machine may be the reason.
package main
