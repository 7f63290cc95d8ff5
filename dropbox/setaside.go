package dropbox

import (
	"errors"
	"fmt"
	"path"
	"strings"
	"unicode/utf8"
)

// A DeadLetter is a message that was given up, or a file that was not a message and was set
// aside.
type DeadLetter struct {
	Entry         // the entry of a message; for another file, only ID, Created and Name are set
	Reason string // the reason, one or more lines; empty if there is no reason

	// Original is the original name of a file that was set aside; it is empty for a
	// message.
	Original string
}

// writeReason durably writes a reason to dead/; an existing reason is kept.
func (b *Mailbox) writeReason(name, reason string) error {
	return b.put("reason", b.at(deadFolder, name), []byte(strings.TrimRight(reason, "\n")+"\n"))
}

// setAside moves a file that is not a message to dead/ and writes the reason. The file's
// new name sorts by time, contains an id for commands that require one, and ends with its
// original name.
//
//	20261121T045102.123456Z-k7f3q9m2xd-plan.docx
func (b *Mailbox) setAside(folder, name, reason string) (DeadLetter, error) {
	from := path.Join(b.name, folder, name)
	at, id, original := b.store.stamp(), NewID(), tameName(name)
	d := DeadLetter{Original: original, Reason: fmt.Sprintf("%q: %s", name, reason)}
	d.Entry = Entry{Created: at, ID: id, Name: at.Format(timeLayout) + "-" + id + "-" + original}
	// Write the reason first: if the disk has no room for it, the file stays in place. If
	// the file disappears in the meantime, remove the reason.
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

// tameName replaces characters in a name that are not safe to print or to use in a path.
// It also shortens the name, so that a suffix still fits.
func tameName(name string) string {
	name = strings.Map(func(r rune) rune {
		if mustEscape(r) || r == '/' || r == '\\' || r == utf8.RuneError {
			return '_'
		}
		return r
	}, name)
	for len(name) > 120 { // cut the beginning, so that the suffix is kept
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	if name = strings.TrimLeft(name, ".-"); name == "" {
		return "file"
	}
	if strings.HasSuffix(name, reasonEnd) {
		name += "_" // otherwise the name would look like that of another file's reason
	}
	return name
}
