// Package budget bounds what the turns of a swarm spend: US dollars, turns and time.
//
// A [Scope] is what a cap is for. Each turn belongs to four of them: the turn itself, the
// task (everything that comes of one message, by its trace), the day of its agent, and the
// day of the swarm. The [Book] knows for each scope what is spent and what is reserved, and
// spent + reserved never exceeds a cap:
//
//	       Reserve               Settle                 Release
//	free ----------> reserved ------------> spent + rest -------> spent
//	  ^                 |  the ledger's line of the turn  |
//	  +-----------------+---------------------------------+
//	    no turn began       what was reserved and not spent
//
// What is reserved for a turn is the cap of its client. A client looks at its cost after
// each request, so a turn may spend one request more than was reserved; nothing starts in a
// scope that has no cent left.
//
// Two files make the book after a crash: the ledger has what is spent, and the records of
// the turns have what is reserved. budget.json has what people said, and which questions
// they were asked. The book itself writes only budget.json.
//
// A day begins at midnight in the zone of [Rules]. Lines of the ledger with a date in the
// future, as after a clock was set back, count as spent today.
//
// The package knows no agent, no mailbox and no client. A [Book] is safe for several
// goroutines.
package budget
