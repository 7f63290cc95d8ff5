package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// intake delivers files that were dropped into mailboxes, as soon as the files have
// stopped changing. It runs in one goroutine for the whole swarm, and sleeps while there
// are no such files.
type intake struct {
	store   *dropbox.Store
	notices *notice.Teller
	strays  *strayFiles
	plan    func() Plan
	members func() []*member
	log     *slog.Logger
	wakeup  wakeup
	seen    map[strayKey]strayState // the files that the last check found
	full    map[string]bool         // mailboxes that the status shows as full
	tight   bool                    // whether the status lists files that are waiting for room on the disk
	open    bool                    // whether the status lists files that are not finished
}

type strayKey struct{ mailbox, name string }

// strayState is the state of a dropped file, with the time at which the current wait
// began.
type strayState struct {
	size    int64
	modTime time.Time
	since   time.Time
	first   time.Time     // when a check first found a file with this name
	wait    time.Duration // the wait after a failed delivery, which doubles each time
	full    bool          // the mailbox was full
	tight   bool          // its disk was full
	cut     string        // the reason to set the file aside if a full disk may have truncated it, or ""
}

// These are multiples of the debounce, which is a second by default.
const (
	emptyPatience   = 60 // an empty file waits that long for its writer
	unknownPatience = 3  // a file waits that long if nobody knows whether a program has it open for writing
	longOpen        = 10 // after that time, the status lists a file that is not finished
)

// roomAgain is the time between two attempts to write to a full disk while files are
// waiting for room on it.
const roomAgain = time.Second

// mostPatience is the maximum wait after a failed delivery of a file.
const mostPatience = 30 * time.Second

func newIntake(store *dropbox.Store, notices *notice.Teller, strays *strayFiles, plan func() Plan, members func() []*member, log *slog.Logger) *intake {
	return &intake{
		store: store, notices: notices, strays: strays, plan: plan, members: members, log: log,
		wakeup: newWakeup(), seen: map[strayKey]strayState{}, full: map[string]bool{},
	}
}

func (in *intake) run(stop context.Context) {
	in.wakeup.wake()
	for stop.Err() == nil {
		wait := in.look(time.Now())
		in.wakeup.wait(stop, wait)
	}
}

// look delivers the files that have not changed for long enough, and returns the time
// until the next check.
func (in *intake) look(now time.Time) time.Duration {
	rest := in.plan().debounce()
	again := forever
	still := map[strayKey]strayState{}
	full := map[string][]string{}
	var tight, open []string
	lacksRoom := false // whether this check found that the disk is full
	noRoom := sync.OnceValue(func() bool {
		lacksRoom = dropbox.IsNoRoom(in.store.Room())
		return lacksRoom
	})
	for _, p := range in.places() {
		strays, err := p.box.Drops().List()
		if err != nil {
			in.log.Warn("mailbox could not be read", keyAgent, p.box.Name(), keyErr, err)
			continue
		}
		for _, st := range strays {
			key := strayKey{p.box.Name(), st.Name}
			was, known := in.seen[key]
			if !known || was.size != st.Size || !was.modTime.Equal(st.ModTime) {
				first := now
				if known {
					first = was.first
				}
				was = strayState{size: st.Size, modTime: st.ModTime, since: now, first: first}
			}
			need := max(rest, was.wait)
			if left := need - now.Sub(was.since); left > 0 && left <= need {
				still[key] = was
				again = min(again, left)
				continue
			}
			if wait, why := p.unfinished(st, now, now.Sub(was.since), rest); wait > 0 {
				still[key] = was
				again = min(again, wait)
				if now.Sub(was.first) > longOpen*rest {
					open = append(open, key.mailbox+"/"+screen.Short(st.Name, 100)+" ("+why+", since "+screen.Ahead(was.first, now)+")")
				}
				continue
			}
			waitForRoom := func() {
				was.tight, was.cut = true, cutShort(st)
				still[key] = was
				tight = append(tight, key.mailbox+"/"+screen.Short(st.Name, 100))
				again = min(again, roomAgain)
			}
			mayBeCut := was.cut == "" && cutShort(st) != ""
			if (lacksRoom || was.tight || mayBeCut) && noRoom() {
				waitForRoom()
				continue
			}
			if was.tight { // now that there is room, the program that wrote the file may continue
				was.tight, was.since, was.wait = false, now, 0
				still[key] = was
				again = min(again, rest)
				continue
			}
			if was.full = was.full && isFull(p.box); !was.full && p.takeIn(st, was.cut) {
				continue
			}
			if !was.full && noRoom() {
				waitForRoom()
				continue
			}
			if was.full = isFull(p.box); was.full {
				// A program that makes room in the mailbox wakes the intake. The next
				// folder check also wakes it.
				still[key] = was
				full[key.mailbox] = append(full[key.mailbox], screen.Short(st.Name, 100))
				continue
			}
			was.since, was.wait = now, min(2*need, mostPatience)
			still[key] = was
			again = min(again, was.wait)
		}
	}
	in.seen = still
	in.complain(full)
	in.complainOfDisk(tight)
	in.tellOpen(open)
	return again
}

func isFull(box *dropbox.Mailbox) bool {
	full, err := box.Full()
	return err == nil && full
}

// complain shows in the status which files are waiting for room in a full mailbox.
func (in *intake) complain(full map[string][]string) {
	for name := range in.full {
		if len(full[name]) == 0 {
			in.notices.Trouble.Clear("full " + name)
			delete(in.full, name)
		}
	}
	for name, files := range full {
		in.notices.Trouble.Set("full "+name, fmt.Sprintf("not taken in yet, because the mailbox of %s is full (max_waiting): %s", name, named(files)))
		in.full[name] = true
	}
}

// complainOfDisk shows in the status which files are waiting for room on the disk.
func (in *intake) complainOfDisk(files []string) {
	const key = "drops are waiting for disk space"
	if len(files) > 0 {
		slices.Sort(files)
		in.notices.Trouble.Set(key, "not taken in yet, because the disk is full: "+named(files))
	} else if in.tight {
		in.notices.Trouble.Clear(key)
	}
	in.tight = len(files) > 0
}

// tellOpen shows in the status which files are not finished, and why.
func (in *intake) tellOpen(files []string) {
	const key = "drops are being written"
	if len(files) > 0 {
		slices.Sort(files)
		in.notices.Trouble.Set(key, "not taken in yet: "+named(files))
	} else if in.open {
		in.notices.Trouble.Clear(key)
	}
	in.open = len(files) > 0
}

// A place is a mailbox into whose folder files may be dropped.
type place struct {
	box    *dropbox.Mailbox
	takeIn func(st dropbox.Stray, cut string) bool // false means that the file must wait
}

// unfinished returns the time until the next look at a file that may not be finished although
// it has not changed for quiet, and the reason; or 0. A program may have it open for writing,
// an editor may save it again, and an empty file waits for its writer.
func (p place) unfinished(st dropbox.Stray, now time.Time, quiet, rest time.Duration) (wait time.Duration, why string) {
	writing := p.box.Drops().Writing(st)
	later := min(max(rest, quiet/4), 10*rest)
	switch {
	case st.Kind != dropbox.KindFile:
		return 0, ""
	case writing == dropbox.BeingWritten:
		return later, "a program is still writing"
	case p.box.Drops().Edited(st, now):
		return later, "an editor has it open"
	case st.Size == 0 && quiet < emptyPatience*rest:
		return min(later, emptyPatience*rest-quiet), "it is empty, and waits a minute for its writer"
	case writing == dropbox.WritersUnknown && quiet < unknownPatience*rest:
		return unknownPatience*rest - quiet, "a program may still be writing"
	}
	return 0, ""
}

// places returns the mailboxes of the agents, the lead and IRC.
func (in *intake) places() []place {
	var out []place
	for _, m := range in.members() {
		out = append(out, place{m.inbox.Box, m.takeIn})
	}
	if box, err := in.store.Mailbox(dropbox.Lead); err == nil {
		out = append(out, place{box, func(st dropbox.Stray, cut string) bool { return in.takeInFor(box, st, cut) }})
	}
	if in.notices.Announcer != nil {
		if box, err := in.store.Mailbox(in.notices.Announcer.Bridge()); err == nil {
			out = append(out, place{box, func(st dropbox.Stray, cut string) bool { return in.takeInFor(box, st, cut) }})
		}
	}
	return out
}

// takeInFor delivers a file that was dropped into the lead's mailbox or the IRC mailbox.
// The file becomes a note unless it specifies another type. takeInFor sets aside a file
// that is not a message or was truncated by a full disk.
func (in *intake) takeInFor(box *dropbox.Mailbox, st dropbox.Stray, cut string) bool {
	log := in.log.With("file", st.Name)
	err := setCutAside(box, st, cut)
	if cut == "" {
		var d dropbox.Delivery
		if d, err = box.Drops().TakeIn(st, dropbox.Defaults{From: dropbox.Lead, Type: dropbox.Note}); d.Late != "" && err == nil {
			err = &dropbox.InvalidError{Reason: d.Late}
		}
	}
	bad, isBad := errors.AsType[*dropbox.InvalidError](err)
	if err != nil && !isBad {
		if !errors.Is(err, dropbox.ErrChanged) && !errors.Is(err, dropbox.ErrGone) {
			log.Warn("file could not be taken in", keyAgent, box.Name(), keyErr, err)
		}
		return false
	}
	log.Info("file was taken in", keyAgent, box.Name(), "set_aside", isBad)
	if isBad {
		in.strays.tellNotTaken(box.Name(), st, bad)
	}
	return true
}

// setCutAside sets aside a file that was truncated by a full disk. It stores the reason
// with the file and returns it as an [*dropbox.InvalidError]. If the reason is "", it
// does nothing.
func setCutAside(box *dropbox.Mailbox, st dropbox.Stray, cut string) error {
	if cut == "" {
		return nil
	}
	if err := box.Drops().SetAside(st, cut); err != nil {
		return err
	}
	return &dropbox.InvalidError{Reason: cut}
}

// takeIn delivers one finished file in the agent's folder, and sets aside a file that was
// truncated by a full disk. It returns false if the file must wait.
func (a *agent) takeIn(st dropbox.Stray, cut string) bool {
	log := a.log.With("file", st.Name)
	if a.turns.Runs.WroteFile(st.Name) {
		if err := a.inbox.Box.Drops().MoveToWork(st); err != nil {
			log.Warn("file could not be moved to work/", keyErr, err)
			return false
		}
		a.turns.Runs.ForgetFile(st.Name)
		log.Info("the agent's own file was moved to work/")
		return true
	}
	err, late := setCutAside(a.inbox.Box, st, cut), ""
	if cut == "" {
		o := a.inbox.OriginOf(st.Name, st.Changed)
		err = a.inbox.Arrivals.TakeIn(o, func() (d dropbox.Delivery, err error) {
			d, err = a.inbox.Box.Drops().TakeIn(st, o.Inherited())
			late = d.Late
			return d, err
		})
	}
	switch {
	case err == nil:
		log.Info("dropped file was taken in")
		if late != "" {
			a.strays.tellNotTaken(a.name, st, &dropbox.InvalidError{Reason: late})
		}
		return true
	case errors.Is(err, dropbox.ErrChanged), errors.Is(err, dropbox.ErrGone):
		return false
	}
	if bad, ok := errors.AsType[*dropbox.InvalidError](err); ok {
		log.Warn("dropped file was set aside", keyErr, err)
		a.strays.tellNotTaken(a.name, st, bad)
		return true
	}
	log.Warn("dropped file could not be taken in", keyErr, err)
	return false
}

// cutShort returns the reason to set aside a file that a full disk may have truncated, or "".
// A full disk truncates a file after a whole block, and the minimum block size is 512 bytes.
// A file whose length is not a multiple of 512 bytes is therefore complete.
func cutShort(st dropbox.Stray) string {
	const block, why = 512, "; the disk was full, which may have cut it off"
	switch {
	case st.Kind != dropbox.KindFile || st.Size%block != 0:
		return ""
	case st.Size == 0:
		return "the file is empty" + why
	}
	return fmt.Sprintf("the file ends after %d bytes, a whole number of blocks%s", st.Size, why)
}

// maxNamed is the maximum number of files that an alert names.
const maxNamed = 10

// named returns a list of the names. If there are many, it contains only the first few
// and the number of the remaining ones.
func named(names []string) string {
	more := len(names) - maxNamed
	if more <= 0 {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(names[:maxNamed], ", "), more)
}

// list lists the agent's mail, and tells the lead about entries that are not messages.
func (a *agent) list() ([]dropbox.Entry, error) {
	entries, aside, err := a.inbox.Box.ListAside()
	a.strays.tellAside(a.inbox.Box, aside)
	return entries, err
}
