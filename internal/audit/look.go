package audit

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

const (
	messageEnd = ".md"
	receiptEnd = ".receipt.yaml"
)

// found lists the differences between the mailboxes and the branch.
type found struct {
	turns []*turn         // in the order in which they ended
	rest  []change        // all other changes
	open  map[string]bool // folders in done/ that contain a message whose receipt is about to arrive
}

// A turn contains the messages of one finished turn with their receipts: its own message,
// and the notes in its prompt.
type turn struct {
	mailbox string
	ended   time.Time
	mails   []mail // the turn's own message comes first
}

// A mail is a message together with its receipt.
type mail struct {
	base string // the path of both files, without the extension
	note bool   // a note in the prompt of another message
}

// A change is one file that must be recorded, or removed from the newest tree.
type change struct {
	path  string
	gone  bool
	stamp stamp // only for a file that can change; its blob is set when the file is read
}

// look compares the mailboxes with the tree of the branch, or with the memory if tree is
// nil.
func (a *Audit) look(root *os.Root, tree map[string]string, now time.Time) (*found, error) {
	f := &found{open: map[string]bool{}}
	entries, err := list(root, ".")
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, e := range entries {
		switch name := e.Name(); {
		case name == "version" || name == ".gitignore":
			err = a.lookAt(root, e, name, tree, now, seen, f)
		case !e.IsDir():
		case name == "board":
			err = a.lookThrough(root, name, true, tree, now, seen, f)
		case name == "attach" && tree != nil:
			err = a.lookAtAttachments(root, tree, f)
		case isMailbox(name):
			if err = a.lookAtDone(root, name, tree, f); err == nil {
				err = a.lookThrough(root, name+"/dead", false, tree, now, seen, f)
			}
		}
		if err != nil {
			return nil, err
		}
	}
	a.lookForGone(tree, seen, f)
	slices.SortStableFunc(f.turns, func(x, y *turn) int {
		return cmp.Or(x.ended.Compare(y.ended), strings.Compare(x.mails[0].base, y.mails[0].base))
	})
	slices.SortFunc(f.rest, func(x, y change) int { return strings.Compare(x.path, y.path) })
	return f, nil
}

var mailboxName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,31}$`) })

func isMailbox(name string) bool {
	return mailboxName().MatchString(name) && name != "attach" && name != "refused"
}

// lookAtDone finds the files in a mailbox's done/ that are not recorded. A file in done/
// does not change, so comparing names is enough.
func (a *Audit) lookAtDone(root *os.Root, mailbox string, tree map[string]string, f *found) error {
	days, err := list(root, mailbox+"/done")
	if err != nil {
		return err
	}
	turns := map[string]*turn{}
	for _, day := range days {
		folder := mailbox + "/done/" + day.Name()
		if !day.IsDir() || !isDay(day.Name()) || !a.memory.listed(folder) {
			continue
		}
		entries, err := list(root, folder)
		if err != nil {
			return err
		}
		receipts := map[string]bool{}
		for _, e := range entries {
			if base, ok := strings.CutSuffix(e.Name(), receiptEnd); ok && e.Type().IsRegular() {
				receipts[base] = true
			}
		}
		for _, e := range entries {
			name := folder + "/" + e.Name()
			if a.recorded(name, tree) {
				a.memory.done[name] = true
				continue
			}
			if !e.Type().IsRegular() || hidden(e.Name()) {
				continue
			}
			if base, ok := strings.CutSuffix(name, receiptEnd); ok {
				a.addReceipt(root, mailbox, base, turns)
				continue
			}
			base, ok := strings.CutSuffix(e.Name(), messageEnd)
			switch {
			case ok && receipts[base] && !a.recorded(folder+"/"+base+receiptEnd, tree):
				// The receipt's commit will include this message.
			case ok && !receipts[base] && receiptComes(root, mailbox, folder, base):
				f.open[folder] = true
			case a.readable(root, name):
				f.rest = append(f.rest, change{path: name})
			}
		}
	}
	for _, t := range turns {
		slices.SortStableFunc(t.mails, func(x, y mail) int {
			if x.note != y.note {
				if y.note {
					return -1
				}
				return 1
			}
			return strings.Compare(x.base, y.base)
		})
		f.turns = append(f.turns, t)
	}
	return nil
}

func (a *Audit) recorded(name string, tree map[string]string) bool {
	if tree == nil {
		return a.memory.done[name]
	}
	_, ok := tree[name]
	return ok
}

// receiptComes reports whether the receipt of a message in done/ is about to arrive there,
// or has just arrived. The receipt can arrive later because the message is moved first.
// receiptComes checks the folders in the order in which the receipt moves through them.
func receiptComes(root *os.Root, mailbox, folder, base string) bool {
	for _, at := range []string{mailbox + "/cur/", folder + "/"} {
		if _, err := root.Lstat(at + base + receiptEnd); err == nil {
			return true
		}
	}
	return false
}

// addReceipt adds a receipt to its turn. A receipt that cannot be parsed is recorded as a
// separate turn.
func (a *Audit) addReceipt(root *os.Root, mailbox, base string, turns map[string]*turn) {
	data, info, ok := a.read(root, base+receiptEnd)
	if !ok {
		return
	}
	r, err := journal.ParseReceipt(data)
	if err != nil {
		a.warn(base+receiptEnd, err)
		r = new(journal.Receipt)
	}
	p := mail{base: base, note: r.Outcome == "rode along"}
	ended := r.Ended
	if ended.IsZero() {
		ended = info.ModTime()
	}
	key := "turn " + r.Turn
	if r.Turn == "" {
		key = base
	}
	t := turns[key]
	if t == nil {
		t = &turn{mailbox: mailbox, ended: ended}
		turns[key] = t
	}
	if ended.After(t.ended) {
		t.ended = ended
	}
	t.mails = append(t.mails, p)
}

// lookThrough finds the changes in a folder whose files can change.
func (a *Audit) lookThrough(root *os.Root, folder string, deep bool, tree map[string]string, now time.Time, seen map[string]bool, f *found) error {
	entries, err := list(root, folder)
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := folder + "/" + e.Name()
		switch {
		case hidden(e.Name()):
		case e.IsDir() && deep:
			err = a.lookThrough(root, name, deep, tree, now, seen, f)
		default:
			err = a.lookAt(root, e, name, tree, now, seen, f)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// lookAt checks whether a file has changed. If it cannot tell from the size and
// modification time, it reads the content.
func (a *Audit) lookAt(root *os.Root, e fs.DirEntry, name string, tree map[string]string, now time.Time, seen map[string]bool, f *found) error {
	if !e.Type().IsRegular() {
		return nil
	}
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	seen[name] = true
	was := a.memory.kept[name]
	same := was.size == info.Size() && was.changed.Equal(info.ModTime())
	if tree == nil && was.rested && same {
		return nil
	}
	data, info, ok := a.read(root, name)
	if !ok {
		return nil
	}
	is := stampOf(info, now)
	is.blob = a.git.Blob(data)
	before := was.blob
	// A comparison from scratch compares files with the branch. However, if a file has
	// not changed here since this audit recorded it, another worktree's audit may have
	// changed it on the branch. Do not revert such a change, because the two audits would
	// otherwise revert each other's changes endlessly.
	if tree != nil && (was.blob == "" || is.blob != was.blob || tree[name] == "") {
		before = tree[name]
	}
	if is.blob == before {
		a.memory.kept[name] = is
		return nil
	}
	f.rest = append(f.rest, change{path: name, stamp: is})
	return nil
}

func stampOf(info fs.FileInfo, now time.Time) stamp {
	return stamp{size: info.Size(), changed: info.ModTime(), rested: now.Sub(info.ModTime()) > rest}
}

// lookForGone finds files that have been removed from board/ and dead/ since they were
// recorded. Only files that this audit has seen count, because other files on the branch
// may be from another worktree.
func (a *Audit) lookForGone(tree map[string]string, seen map[string]bool, f *found) {
	for name := range a.memory.kept {
		if seen[name] {
			continue
		}
		if _, there := tree[name]; tree != nil && !there {
			delete(a.memory.kept, name)
			continue
		}
		f.rest = append(f.rest, change{path: name, gone: true})
	}
}

// lookAtAttachments finds attachments that are not on the branch. Only a comparison from
// scratch needs this function; later attachments are recorded together with their
// message.
func (a *Audit) lookAtAttachments(root *os.Root, tree map[string]string, f *found) error {
	folders, err := list(root, "attach")
	if err != nil {
		return err
	}
	for _, folder := range folders {
		if !folder.IsDir() {
			continue
		}
		entries, err := list(root, "attach/"+folder.Name())
		if err != nil {
			return err
		}
		for _, e := range entries {
			name := "attach/" + folder.Name() + "/" + e.Name()
			if _, there := tree[name]; !there && e.Type().IsRegular() && isAttachment(name) && a.readable(root, name) {
				f.rest = append(f.rest, change{path: name})
			}
		}
	}
	return nil
}

var attachmentFolder = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^attach/[0-9a-f]{64}/$`) })

func isAttachment(name string) bool {
	folder, file := path.Split(name)
	return attachmentFolder().MatchString(folder) && !hidden(file)
}
