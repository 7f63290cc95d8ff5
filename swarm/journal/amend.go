package journal

import (
	"errors"
	"io/fs"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxAmend is the maximum number of receipts that Amend reads for each agent and day,
// newest first. Amend reads only the receipts of messages that have no line in the
// ledger.
const maxAmend = 500

// Amend appends the missing lines to the ledger, and returns how many it added. A new
// line is not made durable immediately, because each turn would then have to wait for
// another disk write. So a power cut can lose the last lines, and kill -9 between two
// steps can lose the line of a failed turn. Amend reconstructs the missing lines from the
// receipts and the turns' records, which are durable.
func (l *Ledger) Amend(home Home, store *dropbox.Store, agents []string, now time.Time) (added int, err error) {
	var lost []LedgerLine
	for _, agent := range agents {
		lines, err := l.unwritten(store, agent, now)
		if err != nil {
			return 0, err
		}
		lost = append(lost, lines...)
	}
	failed, err := l.unwrittenFailures(home, now)
	if err != nil {
		return 0, err
	}
	lost = append(lost, failed...)
	l.recent = nil
	slices.SortStableFunc(lost, func(a, b LedgerLine) int { return a.At.Compare(b.At) })
	for _, line := range lost {
		if err := l.Add(line); err != nil {
			return added, err
		}
		added++
	}
	return added, nil
}

// unwritten returns the missing lines for an agent's most recent turns that ended well.
func (l *Ledger) unwritten(store *dropbox.Store, agent string, now time.Time) ([]LedgerLine, error) {
	box, err := store.Mailbox(agent)
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return nil, nil
	} else if err != nil {
		return nil, err
	}
	var lost []LedgerLine
	for n := range amendDays {
		day := now.UTC().AddDate(0, 0, -n)
		entries, err := box.Finished(day)
		if err != nil {
			return nil, err
		}
		entries = slices.DeleteFunc(entries, func(e dropbox.Entry) bool { return l.recent[e.ID] })
		// Sort by creation time, because file names begin with the priority. Messages are
		// finished in nearly the order in which they arrive.
		slices.SortFunc(entries, func(a, b dropbox.Entry) int { return b.Created.Compare(a.Created) })
		for _, e := range entries[:min(len(entries), maxAmend)] {
			if line, ok := lineOf(store, box, e, day); ok {
				lost = append(lost, line)
			}
		}
	}
	return lost, nil
}

// lineOf returns the ledger line for a message in done/. It returns false if the message
// had no separate turn, or if its receipt cannot be read.
func lineOf(store *dropbox.Store, box *dropbox.Mailbox, e dropbox.Entry, day time.Time) (LedgerLine, bool) {
	data, err := box.Receipt(e)
	if err != nil {
		return LedgerLine{}, false
	}
	r, err := ParseReceipt(data)
	if err != nil || !EndedWell(r.Outcome) || r.Turn == "" || r.Into != "" {
		return LedgerLine{}, false
	}
	m, err := store.Load(dropbox.Found{
		Mailbox: box.Name(), State: dropbox.Done, Entry: e, Path: box.Name() + "/done/" + utcDay(day) + "/" + e.Name,
	})
	if err != nil {
		m = &dropbox.Message{ID: e.ID} // the message was removed; its cost still counts
	}
	return LineOf(m, r), true
}

// unwrittenFailures returns the missing lines for attempts that ended badly.
func (l *Ledger) unwrittenFailures(home Home, now time.Time) ([]LedgerLine, error) {
	turns, err := home.Recorded()
	if err != nil {
		return nil, err
	}
	var lost []LedgerLine
	for _, turn := range turns {
		rec, err := ReadRecord(home, turn)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil || rec.End == "" || now.Sub(rec.Ended) > amendDays*24*time.Hour || l.recent[rec.Turn] {
			continue
		}
		lost = append(lost, rec.Line())
	}
	return lost, nil
}
