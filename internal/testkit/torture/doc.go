//go:build linux

// Torture injects faults into running swarms and counts the effects on the messages.
// `make torture` runs all faults:
//
//	go run ./internal/testkit/torture [--only WORDS] [--minutes N] [--short] [--json]
//
// and `go test` runs each fault in its short form. A [fault] is a failure of the
// environment: a killed process, a full disk, a mailbox that is moved away. It is injected
// into arenas. An [arena] is a scratch project with its own daemon, built as it is shipped.
// Stand-ins (package internal/testkit/standin) take the place of the agents' clients.
// Senders continue to send in the meantime:
//
//	arena: make ──> start ──> send ──┬──> settle ──> stop ──> count
//	                                 |
//	                   inject the fault, so many times
//
// # Counts
//
// The stand-ins log when each turn begins and ends, and hold a lock as long as they or one
// of their children live. This log, the mailboxes and the files of the turns determine one
// line of the table:
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
// All except the last must be 0. A fault may make further promises, for example that the
// status says what is wrong. If such a promise is broken, the line of the fault says so.
// The exit status is 1 when anything is wrong.
//
// # Namespaces
//
// Torture runs in new user, mount, process and network namespaces: other processes do not
// see its mounts, and its leftovers end with it. Without namespaces it does not run the
// faults that need them, which is an error under SWARM_STRICT=1.
package main
