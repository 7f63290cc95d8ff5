// Package dropbox keeps mailboxes as files: one folder per agent and one file per
// message. Every change in a message's state is a single rename.
//
//	a person, an editor            Deliver, Send
//	       |                            |
//	  AGENT/plan.md                  AGENT/tmp/
//	       |                            |
//	       +---------TakeIn-----------> | rename, durable: accepted
//	                                    v
//	       +-------------------- AGENT/new/ ----Cancel----+
//	       |                        |   ^                 |
//	       |                  Claim |   | PutBack         |
//	       |                        v   |                 |
//	       |                     AGENT/cur/ ---GiveUp---> AGENT/dead/ ---Purge--> gone
//	       |                        |                     with its reason
//	       |        Commit, Finish  |                        |
//	       |                        v                        |
//	       |                 AGENT/done/<day>/               |
//	       |                 with its receipt                |
//	       +-------------------------------------Retry-------+
//
// # Guarantees
//
// A message is accepted once [Store.Deliver] returns without an error. From then on the
// message is durable and remains until a caller settles it. Messages are claimed in the
// order of their file names: by priority, then by delivery time. A claim is a rename, so
// only one caller can claim a message. A call that was interrupted by a crash can be
// repeated. Repeating it duplicates no message, unless it delivers a message without a
// key.
//
// A message with a key is delivered once per recipient within 7 days, even if its sender
// crashed and does not know whether it was delivered.
//
// All these guarantees survive a power cut if the disk keeps synced data and never loses
// a file during a rename. A power cut during a rename may leave the old name, the new
// name, or both. If both are left, [Mailbox.Recover] removes one of them. The disk may
// write all other data in any order.
//
// # Layout
//
//	version  .gitignore  .lock  HALT     while HALT exists, nothing is claimed
//	coder/
//	    tmp/ new/ cur/                   being written; waiting; claimed
//	    done/2026-11-21/                 finished, each with its receipt
//	    dead/                            given up, each with its reason
//	    keys/                            one file per key, to prevent duplicates
//	    work/                            the agent's own files
//	    FULL                             while it exists, senders are refused
//	    anything.md                      dropped by hand: see [Drops.List]
//	attach/<sha256>/NAME                 attachments
//	refused/coder/                       refused messages, each with its reason: see [Mailbox.Refuse]
//	halted/THREAD                        conversations that are halted: see [Threads.Halt]
//	topics/                              publications and subscriptions: see the package topic
//	board/                               files that the store's users keep there
//
// Folders have mode 0700 and files 0600. The package never follows a symlink.
//
// # Sending
//
//	store, err := dropbox.Open(".dead-drop", dropbox.Options{})
//	defer store.Close()
//	d, err := store.Deliver("coder", &dropbox.Message{Body: []byte("Fix the build.\n")})
//
// Deliveries need neither a lock nor a daemon. A caller with many messages passes them to
// [Store.DeliverBatch], so that the messages share the waits for the disk.
//
// # Processing a mailbox
//
// The process that claims messages must hold [Store.Lock]. It lists the messages once,
// handles them, and lists them again afterwards or when [Store.Watch] reports a change:
//
//	box, err := store.Mailbox("coder")
//	entries, err := box.List()
//	claim, err := box.Claim(entries[0])    // ErrGone: another caller has it
//	...                                    // the turn
//	err = box.Commit(claim.Entry, receipt) // from here on it is done
//	err = box.Finish(claim.Entry)
//
// [Mailbox.SettleBatch] commits and finishes several messages together.
//
// After a crash, call [Mailbox.Recover] before the first claim. Then finish the messages
// in cur/ that have a receipt ([Mailbox.Receipts], then Finish), give up those that have
// a reason in dead/ ([Mailbox.Reasons], then GiveUp), refuse those that have a reason in
// refused/ ([Refusals.Unfinished], then Refuse), and put back the other messages that
// [Mailbox.Claimed] returns. If [Mailbox.HasReceipt] returns true for a claimed message,
// a turn has already handled it. Move it to done/ with File. The package outbox does this,
// except for refusals, for a mailbox whose messages are handed to other programs.
//
// # The file
//
// A message is Markdown with YAML front matter. Its content never changes; only the name
// and folder of its file change.
//
//	---
//	v: 1
//	id: k7f3q9m2xd
//	from: lead
//	to: [coder]
//	type: task
//	priority: normal
//	subject: "Fix the build"
//	thread: k7f3q9m2xd
//	trace: k7f3q9m2xd
//	created: 2026-11-21T04:51:02.123456Z
//	---
//	The build is red since this morning. Please find out why.
//
// The package does not depend on any configuration, daemon or agent program. It works on
// Linux and macOS.
//
// # Other contents of a store
//
// [Drops] are files that a person or a program put directly into a mailbox instead of
// delivering them. [DeadLetters] are messages that were given up, [Refusals] are messages
// that were refused, and [Threads] are halted conversations. A [Folder] stores small
// files for the store's users. The package topic stores published work.
//
// # Source files of the package
//
// Each file uses only files in the same layer or a lower one.
//
//	readers         watch  recover  clean  retain  filesystem
//	taking          deadletter  refuse  settle  settlebatch  find  intake
//	                list  claim
//	delivery        send  deliver  batch  attach  key
//	a mailbox       setaside  full  doneday  stray  folder  mailbox
//	the store       mailboxes  lock  thread  store
//	the disk        change  readable  names  disk
//	a message       proof  parse  encode  message  delivery
//	names           name  agent  errors
//
// The type disk makes all changes to the file system, except those to the lock file.
// Tests can make any of these changes fail; see [Options].
package dropbox
