package dropbox

import (
	"slices"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Litter is a file in a mailbox's own folder that is never taken in, because of its name.
type Litter struct {
	Name string
	Kind LitterKind
	// Changed is the time of the last change, rename or move.
	Changed time.Time
}

// A LitterKind says who leaves files with such a name.
type LitterKind string

const (
	LitterHidden     LitterKind = "a hidden file"
	LitterSystem     LitterKind = "a file that the system keeps for itself"
	LitterBackup     LitterKind = "a file that an editor or a merge leaves behind"
	LitterSync       LitterKind = "the second version of a file, from a sync tool"
	LitterIncomplete LitterKind = "a file that a program is still using"
)

// Litter lists the files that are never taken in.
func (drops Drops) Litter() ([]Litter, error) {
	names, err := drops.box.disk.names(drops.box.name)
	if err != nil {
		return nil, drops.box.wrap("look for litter", err)
	}
	var list []Litter
	for _, name := range names {
		kind := litterKind(name)
		if kind == "" || name == fullFile || slices.Contains(mailboxFolders, name) {
			continue
		}
		st, err := drops.box.disk.stat(drops.box.name + "/" + name)
		if err != nil || st.Mode&unix.S_IFMT == unix.S_IFDIR {
			continue
		}
		list = append(list, Litter{Name: name, Kind: kind, Changed: changeTime(&st)})
	}
	return list, nil
}

// litterKind returns the kind of a file that is never taken in, or "" for any other name.
func litterKind(name string) LitterKind {
	starts := func(with ...string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return strings.HasPrefix(name, s) })
	}
	ends := func(with ...string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return strings.HasSuffix(strings.ToLower(name), s) })
	}
	holds := func(with ...string) bool {
		return slices.ContainsFunc(with, func(s string) bool { return strings.Contains(strings.ToLower(name), s) })
	}
	switch {
	case slices.Contains([]string{".DS_Store", ".localized", ".directory", "desktop.ini", "Desktop.ini", "Thumbs.db", "ehthumbs.db", "Icon\r"}, name), starts("._"):
		return LitterSystem
	case starts(".#", ".~lock.", ".nfs", "~$", ".goutputstream-", ".fuse_hidden"), starts("#") && ends("#"),
		ends(temporaryEnds...), ends(".download"):
		return LitterIncomplete
	case holds(".sync-conflict-", "conflicted copy", "(case conflict"):
		return LitterSync
	case ends("~", ".bak", ".orig", ".rej"):
		return LitterBackup
	case starts("."):
		return LitterHidden
	}
	return ""
}
