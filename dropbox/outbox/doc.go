// Package outbox works off a mailbox outwards. It claims waiting messages, lets its user try to
// hand each of them over, and settles each message according to the outcome.
//
//	new/ --Take--> cur/, taken --Begin--> cur/, begun --File----> done/  with its receipt
//	  ^            a power cut            the attempt --GiveUp--> dead/  with the reason
//	  |            may undo this          may have    --Leave---> cur/   the user keeps it
//	  |                 |                 effects
//	  |                 |                     |
//	  +-----Release-----+-------PutBack-------+
//
// A [Box] knows mailboxes, and no network. Its user decides which message is next, what an
// attempt is, and how long a message or a target waits. There is one [Attempt] for each
// claimed message.
//
// # Promises
//
// A message begins only after its claim is durable. It leaves cur/ only by one of the steps
// above, and each of them is durable when its method returns nil.
//
// An attempt whose outcome is known is not repeated. If the disk refuses the last step, the
// Box keeps that step, and with it the message: [Box.Retry] and [Box.TakeUp] repeat the step,
// not the attempt. Until the step succeeds, [Box.Holds] reports true.
//
// After a crash, [Box.Recover] completes the last steps that have begun on disk: it files the
// messages that have a receipt, and gives up those that have a reason. It puts back the
// others. Such a message is tried a second time although the first attempt may have
// succeeded, because no receipt proves that it did. The user makes that harmless, for
// example by an id by which the receiver recognizes the message.
//
// Messages that are settled at the same time share the waits for the disk, and so do claims.
//
// While the file HALT exists, [Box.Take] claims nothing. Attempts that have begun go on to
// their end.
//
// # Use
//
// The user lists the mailbox and takes the messages that are due. It begins one or several
// of them together, tries them, and settles each one:
//
//	box := outbox.New(mailbox, outbox.Options{})
//	err := box.Recover()                  // once, before the first claim
//	a, err := box.Take(entry, target)     // ErrGone, ErrHalted; otherwise Pause the target
//	err = box.Begin(a)                    // if it fails, Release
//	...                                   // the attempt
//	err = a.File(ctx, receipt)            // or PutBack, Release, GiveUp, Leave
//	err = box.TakeUp()                    // now and then
//
// A worker ends in two steps. When it is told to stop, it takes no more messages, but the
// attempts go on. After some patience it ends the attempts, too, and puts their messages
// back; see [Patience].
//
// The package internal/webhook runs each attempt in a goroutine, one at a time for each
// webhook: the webhook is the target. The goroutine begins the attempt and settles it. A
// message that the receiver does not accept is put back, counted, and waits.
//
// The package internal/bridge takes several messages in its loop, in the order that its plan
// chooses. It begins them together. An attempt ends with a report from the network, after
// which the bridge settles the message in parallel with the loop. It tells the sender of each
// message that it gives up; see [Options.Tell]. It leaves a question claimed until a person
// answers it; see [Options.Keep].
//
// # Goroutines
//
// The package starts none. [Box.Take], [Box.Recover], [Box.TakeUp] and [Box.Retry] are for one
// goroutine, the worker's loop. Everything else is safe for concurrent use, but each Attempt
// belongs to one goroutine at a time.
package outbox
