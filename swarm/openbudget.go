package swarm

import (
	"errors"
	"slices"

	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// openBudget makes the book of the budget. It sets aside a damaged file.
func (s *Swarm) openBudget(p Plan) (err error) {
	s.budget, err = budget.Open(s.home, p.budget(), nil)
	if e, ok := errors.AsType[*journal.DamagedError](err); ok {
		s.log.Warn("a damaged file was set aside", "file", e.Path, keyErr, e.Err)
		err = e.SetAside()
	}
	return err
}

// restoreBudget reserves again what was reserved for the turns that an earlier daemon left.
// It is called when the book has the whole ledger.
func (s *Swarm) restoreBudget(p Plan) error {
	open, err := s.home.OpenRecords(s.ledger.Has)
	if err != nil {
		return err
	}
	for _, rec := range open {
		if slices.Contains(specNames(p.Agents), rec.Agent) {
			s.budget.Restore(rec)
		} else if err := s.ledger.Add(lostLine(rec)); err != nil {
			return err
		}
	}
	return nil
}

// wakeParked wakes the agents when the budget has changed: a turn may start that could not.
func (s *Swarm) wakeParked() {
	if s.budget.Bounds() {
		for _, m := range s.members() {
			m.wakeup.wake()
		}
	}
}

// offlineBudget reads the state of the budget from the files; nil where there is no cap.
func offlineBudget(home journal.Home, p Plan) (*budget.Report, error) {
	book, err := budget.Open(home, p.budget(), nil)
	if book == nil || !book.Bounds() {
		return nil, err
	}
	known := map[string]bool{}
	err = journal.ReadLedger(home.Ledger(), func(l journal.LedgerLine) bool {
		if !known[l.Turn] {
			known[l.Turn] = true
			book.Settle(l)
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	open, err := home.OpenRecords(func(turn string) bool { return known[turn] })
	if err != nil {
		return nil, err
	}
	for _, rec := range open {
		book.Restore(rec)
	}
	return book.Report(specNames(p.Agents)), nil
}
