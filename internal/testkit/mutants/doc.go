// Mutants measures the tests: it makes small mistakes in the files that keep the promises
// about messages, one at a time, and checks that a test fails. `make mutants` runs it, in
// the folder of the module:
//
//	go run ./internal/testkit/mutants [--pkg NAME] [--every N] [--list] [--quick] [--for 8m] [--jobs N] [--fresh]
//
// A mistake is a mutant, and three rules make all of them; none is picked by hand:
//
//	ignore    an error check never sees its error: `err != nil` is never true,
//	          `err == nil` is always true
//	drop      a call that makes something durable or moves a file is skipped and
//	          reports success: Sync, Rename, Commit, and our functions for these
//	flip      a comparison is reversed: `<` becomes `>=`, `==` becomes `!=`
//
// The files are named in target.go: claim, receipt, ledger, take-up, batch, whole files,
// window, supervisor, policy, budget, permissions, hours, whispers, webhooks. A run takes
// one in N mutants of each rule in each file, and at least one. Without --every, N is the
// smallest number that makes at most 170 mutants. The hashes of their names decide which
// ones, so a change to the code changes the choice only where the code has changed.
//
//	list ──> build with -overlay ──> short tests ──> all tests of the package ──> caught, or escaped
//
// The overlay does not change the checkout. A mutant of a package below swarm escapes only
// if it survives the tests of that package and then those of swarm. A mutant that no test
// can notice is named in equivalents.txt with its reason; it is printed and not counted.
// Results are kept in .mutants, so an interrupted run continues where it stopped. A caught
// mutant is run again when its file has changed, and an escaped one when anything has
// changed in a package whose tests run. With --quick the long tests are left out, and an
// escape is not recorded. With TMPDIR on a memory disk, such as /dev/shm, a run takes half
// the time.
//
// The exit status is 1 when fewer than 95 % of the mutants are caught, when one does not
// build, when some have not been run yet, or when the tests fail without a mutant.
package main
