// Package notice tells people what happens in a swarm. One fact is told by one call:
//
//	fact --Tell, Add--> the event list --+-- the lead's mail     (in quiet hours: quiet.json, until one alert at their end)
//	                                     +-- the announcer       IRC
//	                                     +-- other listeners     webhooks, the audit trail
//
// A [Fact] contains what the caller knows. The fact's type contains its texts, and its row
// in the catalogue how it is treated: the word of its notice, its severity, and when it no
// longer matters. The event list is the package journal's, and each [Listener] reads it with
// its own cursor. So a crash loses no fact, and a fact that is told twice has the same key.
//
// To add a kind of fact, write its type with a method told, and its row.
//
// The package knows no agents and no processes. It delivers mail through [Teller.Deliver].
package notice
