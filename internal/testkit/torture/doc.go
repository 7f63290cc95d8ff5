//go:build linux

// Torture injects faults into running swarms and counts what they did to the
// messages. `make torture` runs all of it:
//
//	go run ./internal/testkit/torture [--only WORDS] [--minutes N] [--short] [--json]
//
// and `go test` runs each fault in its short form. A [fault] is something that goes wrong
// in the world: a killed process, a full disk, a mailbox that is moved away. It is injected
// into arenas. An [arena] is a scratch project with its own daemon, built as it is shipped,
// whose agents' clients are stand-ins (package internal/testkit/standin), and with senders
// that go on meanwhile:
//
//	arena: make ──> start ──> send ──┬──> settle ──> stop ──> count
//	                                 |
//	                   inject the fault, so many times
//
// # What is counted
//
// The stand-ins write down when each turn begins and ends, and hold a lock while
// they or a child of theirs live. From that, from the mailboxes and from the
// turns' own files comes one line of the table:
//
//	lost     accepted, and neither done and answered nor given up with a bounce
//	doubled  begun again although an earlier turn had printed its result, or
//	         answered twice, or booked in the ledger with more than its client
//	         told, or a good one with less
//	order    begun before an earlier one of the same sender, agent and priority
//	overlap  a client began while another of the same agent, or a child of it,
//	         still ran
//	left     processes, locks, files in tmp/, new/ and cur/ when all is over
//	again    begun again after a cut; that is not a fault and only shown
//
// All but the last must be 0. A fault may promise more, such as that the status
// says what is wrong; where it did not come true the line says so. The exit
// status is 1 when anything is wrong.
//
// # Where it runs
//
// In user, mount, process and network namespaces of their own: other processes do not see
// its mounts, and its leftovers end with it. Without namespaces the faults that need them
// are not run, which is an error under SWARM_STRICT=1.
package main
