//go:build linux

// Torture injects faults into running swarms and counts the effects on the messages.
// `make torture` runs all faults:
//
//	go run ./internal/testkit/torture [--only WORDS] [--list] [--minutes N] [--short] [--json]
//
// and `go test` runs each fault in its short form. A [fault] is a failure of the
// environment, such as a killed process, a full disk, or a mailbox that is moved away.
// Faults are injected into arenas. An [arena] is a scratch project with its own daemon,
// which is built in the same way as the shipped program. Stand-ins (package
// internal/testkit/standin) replace the agents' clients. Meanwhile, senders keep
// sending messages:
//
//	arena: make ──> start ──> send ──┬──> settle ──> stop ──> count
//	                                 |
//	                   inject the fault, so many times
//
// # Counts
//
// The stand-ins log the beginning and end of each turn, and hold a lock for as long as
// they or any of their child processes are running. The numbers in one line of the table
// are computed from this log, the mailboxes and the files of the turns:
//
//	lost     accepted, and neither done and answered nor given up with a bounce
//	doubled  started again although an earlier turn had printed its result, or
//	         answered twice; or a turn is booked in the ledger with more than its
//	         client reported, or with less although it ended well
//	order    started before an earlier message of the same sender, agent and priority
//	overlap  a client began while another of the same agent, or a child of it,
//	         still ran
//	left     processes, pid files, locks, files in tmp/, new/ and cur/ at the end
//	again    started again after a cut, which is not a fault
//
// All except the last must be 0. A fault can require further guarantees, for example that
// the status shows the problem. If such a guarantee is violated, the fault's line in the
// table says so. The exit status is 1 if any number except the last is nonzero or a
// guarantee is violated.
//
// # Namespaces
//
// Torture runs in new user, mount, process and network namespaces, so other processes do
// not see its mounts, and its leftover processes end when it ends. Without namespaces, it
// does not run the faults that require them, which is an error if SWARM_STRICT=1 is set.
package main
