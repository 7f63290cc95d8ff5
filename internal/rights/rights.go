// Package rights lists who may use each verb of the command line and each request on the
// control socket. The agents' tools are not listed: each of them is for agents.
//
//	caller          [Anyone]  [Known]  [OutsideTurn]  [Person]
//	a person        yes       yes      yes            yes
//	a session that  yes       yes      yes            no
//	a person runs
//	an agent's turn yes       yes      no             no
//	not identified  yes       no       no             no
//
// A verb that changes rights, settings or holds is not for a turn: an agent could otherwise
// raise its own budget, or end the pause that a person ordered. A verb with the right [Known]
// can do less for an agent than for a person. For example, an agent reads only its own mail.
//
// The package knows no other package of ours. The caller's identity comes from package
// journal, the refusals from packages control and main.
package rights

import "maps"

// A Right says who may use a verb or a request.
type Right int

// The rights, from the widest to the narrowest.
const (
	Anyone      Right = iota // everybody, even a caller that cannot be identified
	Known                    // a person or an agent
	OutsideTurn              // a person, or the session that a person attached as an agent
	Person                   // a person
)

// A Caller is the part of a caller's identity that decides about its rights.
type Caller struct {
	Agent  string // "" for a person
	InTurn bool   // in a turn that the daemon runs
}

// Allows reports whether an identified caller has a right.
func (r Right) Allows(c Caller) bool {
	switch r {
	case OutsideTurn:
		return !c.InTurn
	case Person:
		return c.Agent == ""
	}
	return true
}

// OfRequest returns the entry for a request on the control socket. ok is false if the table
// has none; nobody may then use the request.
func OfRequest(name string) (e Entry, ok bool) {
	e, ok = requests[name]
	return e, ok
}

// OfVerb returns the entry for a verb of the command line, such as "budget raise". A verb
// that is not in the table is only for a person.
func OfVerb(name string) Entry {
	if e, ok := verbs[name]; ok {
		return e
	}
	return Entry{Person, "use " + name}
}

// Verbs returns the entry for each verb.
func Verbs() map[string]Entry { return maps.Clone(verbs) }

// Requests returns the entry for each request.
func Requests() map[string]Entry { return maps.Clone(requests) }
