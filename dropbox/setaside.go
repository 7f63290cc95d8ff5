package dropbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// A DeadLetter is what was given up: a message, or a thing that was never one.
type DeadLetter struct {
	Entry         // of a message; for anything else only ID, Created and Name are set
	Reason string // why, one or more lines; empty if nobody noted it

	// Original is the name that a thing had which was set aside; empty for a message.
	Original string
}

// writeReason writes a reason into dead/, durable; one that is there stays.
func (b *Mailbox) writeReason(name, reason string) error {
	return b.put("reason", b.at(deadFolder, name), []byte(strings.TrimRight(reason, "\n")+"\n"))
}

// setAside moves a thing that is not a message to dead/, with the reason. Its name there
// sorts by time, has an id for the verbs that take one, and ends with the name that it had.
//
//	20261121T045102.123456Z-k7f3q9m2xd-plan.docx
func (b *Mailbox) setAside(folder, name, reason string) (DeadLetter, error) {
	from := path.Join(b.name, folder, name)
	at, id, original := b.store.stamp(), NewID(), tameName(name)
	d := DeadLetter{Original: original, Reason: fmt.Sprintf("%q: %s", name, reason)}
	d.Entry = Entry{Created: at, ID: id, Name: at.Format(timeLayout) + "-" + id + "-" + original}
	// The reason comes first: a full disk, which has no room for it, leaves the thing
	// where it lies. The thing may vanish at any time, and then nothing is explained.
	if err := b.writeReason(d.Name+reasonEnd, d.Reason); err != nil {
		return d, err
	}
	err := b.disk.move(from, b.at(deadFolder, d.Name))
	if err != nil {
		err = errors.Join(err, ignoreMissing(b.disk.remove(b.at(deadFolder, d.Name+reasonEnd))))
	}
	return d, err
}

func parseAside(name string) (DeadLetter, bool) {
	const head = len(timeLayout) + 1 + idLen + 1
	if len(name) <= head || name[len(timeLayout)] != '-' || name[head-1] != '-' {
		return DeadLetter{}, false
	}
	at, ok := parseTime(name[:len(timeLayout)])
	id := name[len(timeLayout)+1 : head-1]
	if !ok || !ValidID(id) {
		return DeadLetter{}, false
	}
	return DeadLetter{Entry: Entry{Created: at, ID: id, Name: name}, Original: name[head:]}, true
}

// tameName makes of any name one that is short enough to have an ending put to it,
// and that prints as one word on a screen.
func tameName(name string) string {
	name = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f || r == '/' || r == '\\' || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	for len(name) > 120 { // from the front, so that the ending stays
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	if name = strings.TrimLeft(name, ".-"); name == "" {
		return "file"
	}
	if strings.HasSuffix(name, reasonEnd) {
		name += "_" // or it would pass for the reason of another
	}
	return name
}
