// Package swarm is the daemon. It decides which agents exist, when each of them works, and
// how each reacts to a failure, a usage limit or an order.
//
// Each agent has its own goroutine, and an agent's error affects only that agent. An agent
// works on one message at a time:
//
//	         mail                 place free             good end
//	idle ---------> queued -----------------> working -------------> idle
//	 ^                ^                          |
//	 |                |      failed              v
//	 |                +---------------------- backoff
//	 |                |      usage limit         |
//	 |                +---------------------- limited
//	 |                |   its hours begin, urgent mail from a person
//	 |                +---------------------- off
//	 |   resume                                  |
//	 +---------- paused  <--- by hand or a rule  |
//	 |   start                                   |
//	 +---------- stopped <--- by hand, or the breaker after failures
//
// The agent claims a message with package mail, runs a turn for it with package turn, and
// files the outcome with package mail again:
//
//	step: held? -> mail: Claim, Refuse, TakeNotes -> turn: Run -> mail: Commit, Finish
//	                                                          \-> mail: PutBackAll, GiveUp
//
// # Promises
//
// An accepted message is either done, or moved to dead/ with the reason. In the second case
// the daemon notifies the sender or the lead. A message is claimed at the start of a turn
// and acknowledged when the turn succeeds. After a crash at any point, the next daemon
// determines from the files how far the message got, and continues from that point (see
// takeup.go). A turn is committed once its receipt is durable next to the message in cur/.
// If the daemon crashes before that, the next daemon follows the client to the end of the
// turn, or puts the message back if the client has ended without a result. If the daemon
// crashes after that, the next daemon only files the message.
//
// # Files
//
// Mail is in the mailboxes of package dropbox; docs/dev/message-format.md describes them.
// The daemon's other files are in a [journal.Home]; the comment of package journal lists
// them.
//
// # Goroutines
//
// Each goroutine has one owner, which waits until the goroutine has ended. [Swarm.Run]
// waits for these:
//
//	an agent         its state, its turn, the client that lingers, its log; it ends after
//	                 the current turn on stop, and immediately on kill
//	mailbox watcher  the watches on all mailboxes; it wakes the agents
//	turn watcher     one watch on turns/; it reports when an output file has grown
//	intake           dropped files that changed less than debounce ago; it ends with stop
//	lead's news      which of the lead's mail has been announced; only if events are announced
//	answers          the daemon's questions to people, the mailbox swarm, the answers' handlers
//	supervisor       the steps that wait for the judge; the rules run in the turns' goroutines
//	sweep            every 30 s a check of all folders, the repair of lost watches and deleted
//	                 folders, and the search for deleted messages; every hour a cleanup
//	listeners        lead, webhooks, irc, audit: each owns its position in the event list; they
//	                 end after the last turn
//	announce         the signal that the swarm is ready: it waits at most 2 s for the agents to
//	                 resume the messages of an earlier daemon, and ends 1 s after the signal
//
// A client has a goroutine that waits for its process; the client's turn waits for that
// goroutine or, while the client lingers, the agent does. A turn that writes to the
// client has another one, until the line is written or the client is closed.
//
// # Bounds
//
//	concurrent turns           max_running; then the agent is queued
//	clients that linger        max_warm, each for at most a day; then the one that has waited
//	                           longest is closed
//	messages in new/           max_waiting; then all but answers and alerts are refused
//	a line of a CLI's stream   32 MiB; its beginning is kept, as an invalid line
//	a stream that nobody reads 1,024 events; then the oldest are dropped, and an event says how many
//	the window                 window_tokens, and 40% of the compaction point
//	records of turns           log.max_age_days, and at most the newest 1,000
//
// # The state of an agent
//
// The last column says how the state survives a crash of the daemon.
//
//	waiting mail            new/, [mail.Queue]               the folder is listed again
//	message and its notes   cur/, [mail.Job]; their content  handled as listed below
//	                        in [mail.Inbox], if deleted
//	attempt                 turns/TURN.json                  read: it names the client to follow,
//	                                                         and the failures to count
//	mail in the turn        TURN.steered, .sent, .asks       read; questions that the daemon asked
//	                                                         for the client are withdrawn
//	success of a turn       the receipt beside the message   the missing steps are carried out
//	client                  [turn.Turns], pids/AGENT.pid     followed, or found by its mark and ended
//	session                 sessions.json                    continues
//	unknown tools           unsorted-tools.json              read
//	window                  window/AGENT, .pending           as after the last turn; the rest is in
//	                                                         the stream of the running turn
//	past turns' files       [turn.Runs]                      lost: a file that is dropped later cannot
//	                                                         be traced to these turns
//	quiet hours' notices    quiet.json, [notice.Quiet]       sent when the quiet hours end
//	holds                   state.json, [journal.Holds]      still in force
//	turns of the last hour  [journal.TurnCounts]             counted again from the ledger
//	spent and reserved      [budget.Book]                    counted again from the ledger and the
//	                                                         records of open turns
//	raises of budgets       budget.json, [budget.Book]       those for one day end with that day
//	origin of a message     [mail.Arrivals]                  read from the record of its turn, if any;
//	                                                         else a program delivered it
//	control of the turn     control                          lost, like its callers; the turn is followed
//	unfiled ending          agent.unfiled                    lost; the record or the output decides
//	settings                claude-swarm.yaml, control       read again; a client that is followed
//	                                                         keeps its settings
//	status                  view, [turn.View]                from the last line of the ledger
//	cost                    ledger.jsonl, [journal.Ledger]   read; missing lines are created from
//	                                                         receipts and records
//	questions to people     questions.json                   handled as listed below
//	whispers                whispers/AGENT.json              shown if the client's events say so; else
//	                        ([whisper.Store])                they wait again
//	events for listeners    events.jsonl                     read again from the cursor
//	attached session        attached/AGENT.json              read by the next hook; a session that has
//	                        ([journal.Binding])              ended is forgotten
//	readable log            logs/AGENT.log                   continues
//
// # After a crash
//
// The next start depends on the last step before the crash. TestTheTableOfCuts and, for the
// questions, TestADaemonThatDiesWhileItAsks of package mail end a daemon at these points.
//
//	in tmp/, or only its key linked   never accepted: removed after an hour, or delivered by the
//	                                  next caller with that key
//	in new/, sender not told          the agent works on it
//	claimed, no record                put back
//	record, prompt not sent           put back; processes with the turn's mark, and those in the
//	                                  sessions that they lead, are ended
//	client running                    followed until it exits
//	client lingering                  it has exited, as its input was closed; processes that it
//	                                  left behind are ended
//	client exited, result in file     the receipt is created from the file
//	urgent mail sent to the turn      filed with the turn's result if the client had read it
//	                                  (TURN.steered); else put back
//	client dead, no result            put back; the next prompt says that work had begun
//	receipt, no answer                the answer is delivered; its key prevents a second one
//	answer, not in done/              moved
//	failure in the record             put back with that failure counted, or given up
//	reason, not in dead/              the sender is notified once, and the message moved
//	amount reserved for a turn        reserved again until the turn is settled; not without a record
//	ledger line, budget not counted   counted
//	scope at its cap, not asked       asked; the key prevents a second question
//	person's answer, not carried out  carried out once
//	ledger line missing               for today and yesterday, created from the receipt, or from the
//	                                  record of a failed turn
//	question recorded                 delivered; its key prevents a second one
//	its answer recorded               the handler is called, maybe again with the same answer
//	handled, person not notified      the person is notified once, and the messages are filed
//	event, no message for a webhook   created; its key prevents a second one
//	POST, no response or receipt      posted, maybe again with the same webhook-id
//	commit of the audit missing       created from the receipt
//
// # Interfaces
//
// A swarm runs clients through [runner.Backend], and passes the events of package journal's
// event list to each [notice.Listener]. This is how alerts reach the lead, and how people on
// IRC see what the agents do. The feed of [Swarm.Subscribe] also contains the text that an
// agent is writing.
package swarm
