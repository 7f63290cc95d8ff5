// Package budget limits what the turns of a swarm spend: US dollars, turns and time.
//
// A [Scope] is what a cap limits. Each turn belongs to up to four scopes: the turn itself, the
// task (everything that results from one message, identified by its trace), the day of its
// agent, and the day of the swarm. The [Book] tracks how much is spent and reserved in each
// scope, and never reserves so much that spent + reserved exceeds a cap, except for a message
// that a person lets pass:
//
//	       Reserve               Settle                 Release
//	free ----------> reserved ------------> spent + rest -------> spent
//	  ^                 |  the ledger's line of the turn  |
//	  +-----------------+---------------------------------+
//	    no turn began       what was reserved and not spent
//
// A turn's reservation is also passed to its client as a cap. A client compares its cost
// with the cap after each request, so a turn may exceed its reservation by the cost of
// one request. No turn starts in a scope with less than one cent remaining.
//
// After a crash the book is rebuilt from the ledger, which contains the costs, and from
// the turns' records, which contain the reservations. A third file, budget.json, stores
// the raises, the questions and the answers. The book itself writes only budget.json.
//
// A day begins at midnight in the time zone of [Rules]. Ledger lines with a date in the
// future (because the clock was set back) count as spent today.
//
// The package identifies agents only by name, and does not depend on mailboxes or
// clients. A [Book] is safe for concurrent use.
package budget
