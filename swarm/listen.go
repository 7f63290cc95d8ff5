package swarm

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

const (
	// The wait after an error begins at firstRetry and doubles up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// openListeners creates the cursor of every listener.
func (s *Swarm) openListeners(more []notice.Listener) error {
	for _, l := range append(s.notices.Listeners(), more...) {
		if err := s.notices.Events.Begin(l.Name); err != nil {
			return err
		}
		s.listeners = append(s.listeners, &listening{l, newWakeup()})
	}
	s.notices.Wake = func() {
		for _, l := range s.listeners {
			l.wakeup.wake()
		}
	}
	return nil
}

// listen passes events to a listener until ctx is done, and then passes on the events that
// were added before ctx was done. The context does not interrupt a call to Hear.
func (s *Swarm) listen(ctx context.Context, l *listening) {
	calm := context.WithoutCancel(ctx)
	for retry, start := firstRetry, true; ; start = false {
		last := ctx.Err() != nil
		any, err := s.notices.Hear(calm, l.Listener)
		if err == nil && (start || !any) {
			err = l.Hear(calm, nil)
			s.notices.Complain(l.Listener, err)
		}
		if last {
			return
		}
		if err == nil {
			retry = firstRetry
			l.wakeup.wait(ctx, forever)
			continue
		}
		l.wakeup.wait(ctx, retry)
		retry = min(2*retry, lastRetry)
	}
}

// hearAnswers sends the daemon's questions to the person, and handles the answers, until
// ctx is done. If one of these steps fails, hearAnswers shows the failure in the status
// and tries again.
func (s *Swarm) hearAnswers(ctx context.Context, w *dropbox.Watcher) {
	const trouble = "questions to the person"
	retry, watched := firstRetry, w == nil
	for ctx.Err() == nil {
		err := s.mail.Questions.Look()
		if !watched && s.store.Known(dropbox.Swarm) == nil { // the first question creates the mailbox
			watched = true
			if err := w.Add(dropbox.Swarm); err != nil {
				s.watches(w.Missing())
			}
			s.answers.wake() // an answer may have arrived before the watch began
		}
		if err == nil {
			s.notices.Trouble.Clear(trouble)
			retry = firstRetry
			s.answers.wait(ctx, forever)
			continue
		}
		s.log.Error("a question to the person, or its answer, was delayed", keyErr, err)
		s.notices.Trouble.Set(trouble, err.Error())
		s.answers.wait(ctx, retry)
		retry = min(2*retry, lastRetry)
	}
}
