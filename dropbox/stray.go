package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// Drops represents the files in a mailbox's own folder that do not belong to the store. A
// person, a program or the agent put them there.
type Drops struct{ box *Mailbox }

// Drops returns the drops of the mailbox.
func (b *Mailbox) Drops() Drops { return Drops{b} }

// A Stray describes the state of a file in a mailbox's own folder at one point in time. A
// person or a program dropped it there, or the agent wrote it.
type Stray struct {
	Name    string
	Kind    Kind
	Size    int64 // bytes
	ModTime time.Time
	Changed time.Time // time of the last change, rename or move; no program can set this time
	Dev     uint64
	Ino     uint64
}

// Same reports whether two checks found the same file with the same size and modification
// time. A file that does not change for a while is considered complete.
func (st Stray) Same(other Stray) bool {
	return st.Name == other.Name && st.Kind == other.Kind && st.Size == other.Size &&
		st.ModTime.Equal(other.ModTime) && st.Dev == other.Dev && st.Ino == other.Ino
}

// List lists the drops, oldest first. It omits the files that [Drops.Litter] lists.
func (drops Drops) List() ([]Stray, error) {
	names, err := drops.box.disk.names(drops.box.name)
	if err != nil {
		return nil, drops.box.wrap("look for drops", err)
	}
	var list []Stray
	for _, name := range names {
		if !isDrop(name) {
			continue
		}
		st, err := drops.look(name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, drops.box.wrap("look for drops", err)
		}
		list = append(list, st)
	}
	slices.SortFunc(list, func(a, c Stray) int { return a.ModTime.Compare(c.ModTime) })
	return list, nil
}

// MaxDrops is the maximum result of [Drops.Count].
const MaxDrops = 10_000

// Count returns the number of files that [Drops.List] lists, up to MaxDrops. It does not
// open the files.
func (drops Drops) Count() (n int, err error) {
	err = drops.box.disk.eachName(drops.box.name, func(name string) bool {
		if isDrop(name) {
			n++
		}
		return n < MaxDrops
	})
	return n, drops.box.wrap("count drops", err)
}

// DropsIn returns the sorted names of the regular files in a folder that a store would list
// as drops if the folder were one of its mailboxes. The error satisfies [fs.ErrNotExist] if
// there is no such folder.
func DropsIn(folder string) (names []string, err error) {
	entries, err := os.ReadDir(folder)
	for _, e := range entries {
		if e.Type().IsRegular() && isDrop(e.Name()) {
			names = append(names, e.Name())
		}
	}
	return names, err
}

// isDrop reports whether a name in a mailbox can belong to a dropped file.
func isDrop(name string) bool {
	return name != fullFile && !slices.Contains(mailboxFolders, name) && litterKind(name) == ""
}

func (drops Drops) look(name string) (Stray, error) {
	path := drops.box.name + "/" + name
	st, err := drops.box.disk.stat(path)
	if err != nil {
		return Stray{}, err
	}
	s := stray(name, &st)
	if s.Kind == KindFile && !drops.box.disk.readable(path) {
		s.Kind = KindUnreadable
	}
	return s, nil
}

func stray(name string, st *unix.Stat_t) Stray {
	return Stray{
		Name: name, Kind: kindOf(st.Mode), Size: st.Size, ModTime: modTime(st), Changed: changeTime(st),
		Dev: uint64(st.Dev), Ino: st.Ino,
	}
}

// Arrived returns the time when a waiting message was put into new/. The file system
// records this time, and no program can set it. The error is [ErrGone] if the message is
// not in new/.
func (b *Mailbox) Arrived(e Entry) (time.Time, error) {
	st, err := b.disk.stat(b.at(newFolder, e.Name))
	if errors.Is(err, fs.ErrNotExist) {
		return time.Time{}, ErrGone
	} else if err != nil {
		return time.Time{}, b.wrap("look at "+e.ID, err)
	}
	return changeTime(&st), nil
}

// MoveToWork moves a file that an agent wrote for its own use to the agent's work/ folder.
// It replaces an existing file with that name, as writing the file to work/ would. If
// work/ contains a folder with that name, MoveToWork adds an id to the end of the file's
// name.
func (drops Drops) MoveToWork(st Stray) error {
	from, to := drops.box.name+"/"+st.Name, drops.box.at(workFolder, st.Name)
	err := makeMailbox(drops.box.disk, drops.box.name) // work/ may have been deleted
	if err == nil {
		err = drops.box.disk.replace(from, to)
	}
	if errors.Is(err, unix.EISDIR) || errors.Is(err, unix.ENOTDIR) || errors.Is(err, unix.ENOTEMPTY) || errors.Is(err, fs.ErrExist) {
		err = drops.box.disk.move(from, fmt.Sprintf("%s-%s", to, NewID()))
	}
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrGone
	}
	return drops.box.wrap("move "+st.Name+" to work", err)
}

// SetAside moves a drop to dead/ and writes the reason.
func (drops Drops) SetAside(st Stray, reason string) error {
	_, err := drops.box.setAside("", st.Name, reason)
	if errors.Is(err, fs.ErrNotExist) {
		err = ErrGone
	}
	return drops.box.wrap("set aside "+st.Name, err)
}
