package ircbridge

// What runs beside the loop: it hands its results to the loop, and at the end the loop
// waits for it.

// do runs f in a separate goroutine; what f returns is run by the loop. The work is
// over after that, so what it returns may call do.
func (r *run) do(f func() func()) {
	r.work.Go(func() {
		if then := f(); then != nil {
			hand(r.later, then)
		}
	})
}

// hand lets the loop run f, and returns after that. Anyone who is part of the work hands in
// what may make more work in this way: while it runs, the work is not over.
func hand(loop chan<- func(), f func()) {
	over := make(chan struct{})
	loop <- func() {
		defer close(over)
		f()
	}
	<-over
}

// catchUp runs what others have handed in already, so that all of it is known before
// the next messages are claimed: those are claimed together.
func (r *run) catchUp() {
	for range cap(r.later) {
		select {
		case f := <-r.later:
			f()
		default:
			return
		}
	}
}

// settleRest waits for the links to end and for what was on its way, and puts it back.
func (r *run) settleRest() {
	done := make(chan struct{})
	// Ends when everything has ended; the loop below waits for it.
	go func() {
		defer close(done)
		r.work.Wait()
	}()
	for {
		select {
		case f := <-r.later:
			f()
		case f := <-r.delivered:
			f()
		case _, ok := <-r.main.events:
			if !ok {
				r.main.events = nil
			}
		case <-done:
			for _, f := range r.flights {
				r.putBack(f, false)
			}
			return
		}
	}
}
