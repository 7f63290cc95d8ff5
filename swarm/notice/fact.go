package notice

import (
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A Fact is something that happened in the swarm and that people may want to know. Each
// kind of fact is a type of this package, with a row in the catalogue. A fact contains what
// the caller knows, and the type contains the texts.
type Fact interface {
	told() told
}

// told is a fact as the event list, and the mail of the lead, contain it.
type told struct {
	// The key is the fact's kind, and after a colon what distinguishes it from other facts
	// of that kind. It is the same when the fact is told again after a crash. If the event
	// has no kind, it is an alert if there is a subject, and a notice otherwise. Unless the
	// notice has a word, it gets that of the catalogue.
	journal.Event

	subject, body string // the mail that the lead gets; without a subject, the lead gets none
	of            string // id of the message that a notice is about, or ""
	details       string // further lines for the person, or ""
}

// noticedKey is the key prefix of facts that have a notice. If the lead also gets mail of
// the fact, IRC shows only the notice.
const noticedKey = "notice:"

// eventKey returns the key of an event about the message or the turn with the given id.
func eventKey(kind journal.Kind, id string) string { return string(kind) + "-" + id }
