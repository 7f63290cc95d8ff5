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
// # The lines
//
//	deliver          floor: write, fsync and rename the file, fsync the folder, by system calls
//	                 ours:  dropbox.Store.Deliver, with the envelope, the id and the checks
//	take             floor: open and rename the file, fsync the folder, read the file
//	                 ours:  dropbox.Mailbox.Claim
//	wake             floor: from inotify directly to a goroutine
//	                 ours:  from one watcher for all mailboxes to the agent's goroutine
//	send to          floor: the smallest daemon that notices a file, claims it and starts a process;
//	                        it keeps no record
//	client start     ours:  from the acknowledged delivery to the client's first instruction
//	send to prompt   floor: that daemon, until the client's first instruction
//	                 ours:  until the client repeats its prompt, which is sent when the record of
//	                        the turn is durable
//	a turn           ours:  what a turn costs the daemon of a swarm with one agent, without IRC and
//	                        webhooks: processor time, syncs, renames, and opened files other
//	                        than those of the system. strace counts the calls; without it,
//	                        these lines are left out
//	send as a        floor: an empty Go program
//	process          ours:  claude-swarm send coder text, which delivers durably
//	decode and       floor: decode into a struct with encoding/json
//	window           ours:  decode every event and maintain the window
//	file to IRC      floor: inotify, and one line written for each file; nothing is stored
//	                 ours:  mask, split and post the message, wait for the PONG that confirms it,
//	                        and file it with a receipt
//	IRC to file      floor: write each line to a durable file
//	                 ours:  check the rights and the recipient, and deliver a message with a key durably
//	files to IRC,    floor: one rename and one flush for each file
//	rate             ours:  claim, post, confirm and file each message, four at a time
//	IRC to files,    floor: write each line to a durable file, one after the other
//	rate             ours:  deliver each line as a message with a key, durable before the line is
//	                        recorded as received
//	bridge in        ours:  resident memory of claude-swarm irc run after 600 lines received in
//	50 channels             each channel
//	daemon, agents,  ours:  resident memory, and context switches of the whole daemon
//	idle
//	context          floor: the client's first request with the same options but only the message
//	                 ours:  the first request of an agent with IRC disabled: the tokens that its
//	                        tools, its system prompt and the frame of the message add, at four
//	                        characters per token
//	warm             floor: a client that is started for the turn
//	                 ours:  a client that kept running (linger)
//
// # How it runs
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
