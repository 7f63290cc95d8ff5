// Mutants measures the quality of the tests. It makes small mistakes, one at a time, in
// the files that implement the guarantees about messages, and checks that a test fails.
// `make mutants` runs it in the root folder of the module, and `make mutants DRAW=1` takes
// its mutants from all packages instead:
//
//	go run ./internal/testkit/mutants [--draw 1|2] [--pkg NAME] [--every N] [--list] [--quick] [--for 8m] [--jobs N] [--fresh]
//
// Each mistake is called a mutant. No mutants are chosen by hand; rules generate them all:
//
//	ignore    an error check never sees its error: `err != nil` is never true,
//	          `err == nil` is always true
//	drop      a call that makes something durable or moves a file is skipped and
//	          reports success: Sync, Rename, Commit, and our functions for these
//	flip      a comparison is reversed: `<` becomes `>=`, `==` becomes `!=`
//	edge      a comparison differs only at its edge: `<` becomes `<=` (only in draws)
//	logic     `&&` becomes `||`, and the reverse (only in draws)
//
// The files are listed in target.go. They implement claims, receipts, the ledger,
// take-up, batches, atomic file writes, the window, the supervisor, the policy, budgets,
// permissions, hours, whispers and webhooks. A run selects one in N of the mutants of
// each rule in each file, but at least one. Without --every, N is the smallest number
// that selects at most 170 mutants. The selection is based on hashes of the mutants'
// names, so a change to the code affects the selection only where the code has changed.
//
// A draw shows how much the tests notice outside of these files. It takes six mutants from
// each package of the program, except those that draw.go names with a reason. Draw 1 is
// worked on: in the packages that draw.go lists, none of its mutants may escape. Draw 2 is
// not worked on, so its figure is honest; it fails nothing. A draw also continues where an
// earlier run stopped.
//
//	list ──> build with -overlay ──> short tests ──> all tests of the package ──> caught, or escaped
//
// The overlay does not change the checkout. A mutant of a package below swarm escapes only
// if it survives the tests of that package and then those of swarm. A mutant that no test
// can detect is listed in equivalents.txt with the reason; it is printed but not counted.
// Results are stored in .mutants, so the next run continues where an interrupted run
// stopped. A caught mutant is run again if its file has changed, and an escaped one if
// anything has changed in a package whose tests run. With --quick, the long tests are
// skipped, and escapes are not recorded. If TMPDIR is on a RAM disk, such as /dev/shm, a
// run takes half as long.
//
// The exit status is 1 if fewer than 95% of the mutants are caught (in a draw, see above), if
// one does not build, if some have not been run yet, or if the tests fail without a mutant.
package main
