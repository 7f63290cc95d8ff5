package provision

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// mailboxes checks the mailboxes' folder, and finds mail for agents that do not exist.
func (e *checkup) mailboxes() {
	const name = "mailboxes"
	if e.worktree() {
		return
	}
	dir := e.file.DeadDropDir
	store, err := dropbox.Open(dir, dropbox.Options{})
	switch {
	case errors.Is(err, dropbox.ErrNoStore):
		e.warn(name, "claude-swarm init", "none at %s yet", dir)
		e.fixBy(e.init)
		return
	case errors.Is(err, dropbox.ErrVersion):
		e.wrong(name, "install the newer claude-swarm that made them; this is "+e.Version, "%v", err)
		return
	case errors.Is(err, fs.ErrPermission) && e.noAccess(dir):
		return
	case err != nil:
		e.wrong(name, "", "%v", err)
		return
	}
	defer store.Close()
	if info, err := os.Stat(dir); err == nil && info.Mode().Perm()&0o077 != 0 {
		e.warn(name, "chmod 700 "+shellWord(dir), "%s is accessible to others (mode %04o)", dir, info.Mode().Perm())
		e.fixMode(dir, 0o700)
	}
	if store.Halted() {
		e.warn("halt", "claude-swarm unhalt", "no new turn begins: %s", firstLine("HALT exists "+store.HaltReason()))
	}
	boxes, err := store.Mailboxes()
	if err != nil {
		e.wrong(name, "", "%v", err)
		return
	}
	agents := e.file.Names()
	for _, box := range boxes {
		e.noAccessIn(filepath.Join(dir, box))
	}
	e.orphans(store, agents)
	misplaced, err := store.Misplaced()
	if err != nil {
		e.wrong(name, "", "%v", err)
		return
	}
	for _, folder := range misplaced {
		path := filepath.Join(dir, folder)
		e.wrong(name, "mv "+shellWord(path)+" elsewhere; the folder will be recreated", "%s is not a folder on this disk: nothing can be moved there", path)
	}
	e.strays(store, agents)
	e.good(name, "%s, %s", dir, screen.Several(len(boxes), "mailbox", "mailboxes"))
}

// noAccessIn adds a finding for each folder of a mailbox that this user may not read or
// write, and reports whether it added any. [checkup.fileSystem] detects a read-only disk.
func (e *checkup) noAccessIn(mailbox string) (found bool) {
	folders, err := os.ReadDir(mailbox)
	if errors.Is(err, fs.ErrPermission) && e.noAccess(mailbox) {
		return true
	} else if err != nil {
		e.wrong("mailboxes", "ls -ld "+shellWord(mailbox), "%v", err)
		return true
	}
	for _, folder := range folders {
		if folder.IsDir() && e.noAccess(filepath.Join(mailbox, folder.Name())) {
			found = true
		}
	}
	return found
}

// noAccess adds a finding for a folder if this user may not read or write it. It reports
// whether it added a finding.
func (e *checkup) noAccess(path string) bool {
	if !errors.Is(unix.Access(path, unix.R_OK|unix.W_OK|unix.X_OK), fs.ErrPermission) {
		return false
	}
	e.wrong("mailboxes", "chmod u+rwx "+shellWord(path)+", or sudo chown $USER "+shellWord(path), "this user cannot read or write in %s", path)
	e.fixMode(path, 0o700)
	return true
}

// orphans looks for mail in the mailboxes of agents that were removed. A mailbox that a
// person kept with claude-swarm remove --keep is not a finding.
func (e *checkup) orphans(store *dropbox.Store, agents []string) {
	gone, err := swarm.Gone(e.home, store, agents)
	if err != nil && !errors.Is(err, fs.ErrPermission) { // checkup.noAccess reports the folder
		e.wrong("mailboxes", "", "%v", err)
	}
	for _, g := range gone {
		e.warn("mailboxes", "claude-swarm remove "+shellWord(g.Name)+" --to OTHER | --keep",
			"%s in %s, which belongs to no agent", screen.Count(g.Waiting, "message"), g.Name)
	}
}

// fileSystem tries a delivery in a scratch folder on the mailboxes' disk, and reports
// the kind of disk.
func (e *checkup) fileSystem() {
	const name, local = "file system", "dead_drop_dir: on a local disk"
	parent := e.file.DeadDropDir
	if _, err := os.Stat(parent); errors.Is(err, fs.ErrNotExist) {
		parent = filepath.Dir(parent)
	}
	scratch, err := os.MkdirTemp(parent, ".doctor-*")
	if err != nil {
		try := "chmod u+rwx " + shellWord(parent)
		if next := diskStep(err); next != "" {
			try = next
		}
		e.wrong(name, try, "nothing can be written in %s: %v", parent, err)
		return
	}
	defer os.RemoveAll(scratch)
	took, err := tryDelivery(scratch)
	var disk dropbox.FileSystem
	if err == nil {
		disk, err = dropbox.ProbeFileSystem(scratch)
	}
	if err != nil {
		e.wrong(name, local, "a message cannot be delivered: %v", err)
		return
	}
	if disk.Kind == "" {
		disk.Kind = "an unknown file system"
	}
	if disk.Remote {
		e.warn(name, local, "%s is on %s: other machines' changes are noticed only every 30 s, and locks may not work", parent, disk.Kind)
	}
	if disk.Volatile {
		e.warn(name, local, "%s is on %s: mail there is lost when the machine or its container stops", parent, disk.Kind)
	}
	if !disk.Usable() {
		e.wrong(name, local, "%s has neither hard links nor a rename that refuses to replace a file: answers cannot be delivered", parent)
	}
	if !disk.Locks {
		e.wrong(name, local, "locks do not work in %s: two daemons could work on the same mailboxes", parent)
	}
	e.good(name, "a durable delivery takes %v; %s", took.Round(10*time.Microsecond), describeDisk(disk))
}

// describeDisk describes a disk and the features that it lacks.
func describeDisk(disk dropbox.FileSystem) string {
	words := []string{disk.Kind}
	if !disk.HardLinks {
		words = append(words, "no hard links")
	}
	if !disk.NoReplace {
		words = append(words, "no rename that refuses to replace a file")
	}
	if disk.FoldsCase {
		words = append(words, "upper and lower case are not distinguished")
	}
	return strings.Join(words, ", ")
}

// tryDelivery creates a store in dir and delivers a message to it.
func tryDelivery(dir string) (took time.Duration, err error) {
	path := filepath.Join(dir, "store")
	if err := dropbox.Create(path); err != nil {
		return 0, err
	}
	store, err := dropbox.Open(path, dropbox.Options{})
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	begun := time.Now()
	_, err = store.Deliver(dropbox.Lead, &dropbox.Message{Type: "note", Body: []byte("a test of the file system\n")})
	return time.Since(begun), err
}
