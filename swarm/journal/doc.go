// Package journal keeps the list of what happened in a swarm, for those who tell others of
// it: the lead of alerts, people on IRC of turns and mail, an audit trail of finished turns.
//
//	events.jsonl          one line for each event, in the order in which they were added
//	events.old.jsonl      the lines before these; those before them are gone
//	cursors/NAME.json     up to which event the listener of that name has heard
//
// Every process of a project may add: the daemon, and the hooks of attached sessions. An
// event that [Events.Add] returned for is durable. [Events.Tell] gives a listener what it
// has not heard, in order, and moves its cursor when it has taken that: so a listener hears
// every event at least once, across crashes, and after one it may hear an event again.
//
// Whoever adds an event while it goes on with something that a crash cut off may add it a
// second time. Both have the same [Event].Key, by which a listener knows them.
//
// The list is bounded. A listener that is away for longer than the list remembers is told
// how many events it has missed.
package journal
