package dropbox

import (
	"fmt"
	"slices"
	"strings"
)

// Recover repairs a mailbox after a power cut on a disk that writes the two halves of a
// rename separately. Such a cut may leave a message in both its old and its new location.
// Recover keeps the message only in its newest location. After an ordinary crash, and on
// most disks, there is nothing to repair, and the call costs four listings.
//
// Call it once before the first claim while holding [Store.Lock], and then continue as
// after any crash. It is safe to call Recover again.
func (b *Mailbox) Recover() error {
	return b.wrap("recover", recovery{b}.run())
}

// A recovery repairs a mailbox.
type recovery struct{ box *Mailbox }

// places lists the folders that contain the files of one message.
type places struct {
	e              Entry
	fresh, claimed []Entry // in the order of their names
	dead, given    bool    // the message is in dead/; its reason is in dead/
	refused, told  bool    // the message is in refused/; its reason is in refused/
}

func (r recovery) run() error {
	all := make(map[string]*places)
	placesOf := func(e Entry) *places {
		base := e.Base()
		if all[base] == nil {
			all[base] = &places{e: e}
		}
		return all[base]
	}
	for _, folder := range []string{curFolder, deadFolder} {
		names, err := r.box.disk.names(r.box.dir(folder))
		if err != nil {
			return err
		}
		slices.Sort(names)
		for _, name := range names {
			if e, ok := parseName(name); ok && folder == curFolder {
				w := placesOf(e)
				w.claimed = append(w.claimed, e)
			} else if ok {
				placesOf(e).dead = true
			} else if base, ok := strings.CutSuffix(name, receiptEnd); ok && folder == curFolder {
				if e, ok := parseBase(base); ok {
					placesOf(e) // Finish may have moved the message from new/ to done/
				}
			} else if base, ok := strings.CutSuffix(name, reasonEnd); ok && folder == deadFolder {
				if e, ok := parseBase(base); ok {
					placesOf(e).given = true
				}
			}
		}
	}
	names, err := r.box.disk.names(refusedDir + "/" + r.box.name)
	if err != nil {
		return err
	}
	for _, name := range names {
		if e, ok := parseName(name); ok {
			placesOf(e).refused = true
		} else if base, ok := strings.CutSuffix(name, reasonEnd); ok {
			if e, ok := parseBase(base); ok {
				placesOf(e).told = true
			}
		}
	}
	fresh, _, err := r.box.list(newFolder)
	if err != nil {
		return err
	}
	for i, e := range fresh {
		// Most messages have only one name and do not need to be recorded.
		if all[e.Base()] != nil || i+1 < len(fresh) && fresh[i+1].ID == e.ID {
			w := placesOf(e)
			w.fresh = append(w.fresh, e)
		}
	}
	for _, w := range all {
		if err := r.separate(w); err != nil {
			return err
		}
	}
	return nil
}

// separate keeps one name of a message. It always keeps a name in done/. A reason is
// durable before its message moves, so it shows that the message was moved to dead/ or
// refused/. In all other cases it keeps the newest name in cur/ or new/, because a dead
// letter without a reason was being cancelled or retried, and a refused message without a
// reason was being readmitted.
func (r recovery) separate(w *places) error {
	if len(w.claimed)+len(w.fresh) == 0 && (w.given && !w.refused || w.told && !w.dead) {
		return nil // an ordinary dead letter or refused message
	}
	file := w.e.Base() + ".md"
	var paths []string // the path to keep comes first
	day, err := r.box.store.doneDay(r.box.name, w.e, file)
	if err != nil {
		return err
	}
	if day != "" {
		paths = append(paths, r.box.at(doneFolder, day+"/"+file))
	}
	if w.dead && w.given {
		paths = append(paths, r.box.at(deadFolder, file))
	}
	if w.refused && w.told {
		paths = append(paths, r.box.Refusals().path(file))
	}
	for _, e := range slices.Backward(w.claimed) {
		paths = append(paths, r.box.at(curFolder, e.Name))
	}
	for _, e := range slices.Backward(w.fresh) {
		paths = append(paths, r.box.at(newFolder, e.Name))
	}
	if w.dead && !w.given {
		paths = append(paths, r.box.at(deadFolder, file))
	}
	if w.refused && !w.told {
		paths = append(paths, r.box.Refusals().path(file))
	}
	for _, other := range paths[min(1, len(paths)):] {
		if err := r.dropDuplicate(other, paths[0]); err != nil {
			return err
		}
	}
	return nil
}

// dropDuplicate removes other if other and keep are two names for the same file. It first
// renames other and checks again. If keep no longer exists, other was the file's only
// name, and dropDuplicate renames the file back.
func (r recovery) dropDuplicate(other, keep string) error {
	one, err := r.box.disk.stat(other)
	if err != nil {
		return ignoreMissing(err)
	}
	if same, err := r.box.disk.isFile(keep, one.Ino); !same || err != nil {
		// If other is a different file with the same id, the caller that claims it decides
		// how to handle it.
		return err
	}
	aside := r.box.at(tmpFolder, "twin-"+NewID())
	if err := r.box.disk.move(other, aside); err != nil {
		return ignoreMissing(err)
	}
	same, err := r.box.disk.isFile(keep, one.Ino)
	if err == nil && same {
		return r.box.disk.remove(aside)
	}
	if back := r.box.disk.move(aside, other); back != nil {
		return fmt.Errorf("%s is left as %s: %w", other, aside, back)
	}
	return err
}
