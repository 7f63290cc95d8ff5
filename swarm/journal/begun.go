package journal

// TaskBegun reports whether a turn has run, or is running, on a task; its id is the trace of its
// messages. It reads the whole ledger, so it is for processes other than the daemon.
func (h Home) TaskBegun(task string) (begun bool, err error) {
	err = ReadLedger(h.Ledger(), func(l LedgerLine) bool {
		begun = l.Trace == task
		return !begun
	})
	if begun || err != nil {
		return begun, err
	}
	turns, err := h.Recorded()
	for _, turn := range turns {
		if rec, err := ReadRecord(h, turn); err == nil && (rec.Trace == task || rec.Message == task) {
			return true, nil
		}
	}
	return false, err
}
