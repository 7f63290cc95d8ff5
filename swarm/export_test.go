package swarm

import (
	"os"
	"time"
)

// RefuseLedger lets the ledger of a running daemon take no line until heal is called.
func (s *Swarm) RefuseLedger() (heal func()) {
	l := s.books.ledger
	l.mu.Lock()
	defer l.mu.Unlock()
	whole := l.file
	refuses, err := os.Open(whole.Name()) // not for writing
	if err != nil {
		panic(err)
	}
	l.file = refuses
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		refuses.Close()
		l.file = whole
	}
}

// Waits is when an agent failed last, and until when it waits for that.
func (s *Swarm) Waits(agent string) (failed, until time.Time) {
	st := s.books.standings.of(agent)
	if n := len(st.Failures); n > 0 {
		failed = st.Failures[n-1].At
	}
	return failed, st.Until
}
