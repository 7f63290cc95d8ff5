package swarm

import (
	"context"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

const (
	// The wait after an error begins at firstRetry and doubles up to lastRetry.
	firstRetry = time.Second
	lastRetry  = 5 * time.Minute
)

// startFirst is the longest time for which a listener waits while turns are starting. A start
// takes some milliseconds, and on a busy machine a hundred. A start that hangs, or a client that
// loads its tools for seconds, delays an alert by no more than this, which a person does not
// notice.
const startFirst = 250 * time.Millisecond

// listeners passes the events of the event list to the daemon's listeners. It is safe for
// concurrent use.
type listeners struct {
	notices *notice.Teller
	starts  *starts // the listeners wait while turns are starting
	list    []*listening
}

// openListeners creates the cursor of every listener that is on, and removes the cursors of
// the others.
func openListeners(notices *notice.Teller, starts *starts, more []notice.Listener) (*listeners, error) {
	ls := &listeners{notices: notices, starts: starts}
	for _, l := range append(notices.Listeners(), more...) {
		listener := &listening{Listener: l, wakeup: newWakeup()}
		if _, err := listener.follow(notices.Events); err != nil {
			return nil, err
		}
		ls.list = append(ls.list, listener)
	}
	notices.Wake = func() {
		for _, l := range ls.list {
			l.wakeup.wake()
		}
	}
	notices.Filed = func() {
		for _, l := range ls.list {
			l.filed.Store(true)
			l.wakeup.wake()
		}
	}
	return ls, nil
}

// ListenersChanged is called when the configuration may have turned listeners on or off. A
// listener that was turned on hears the events from now on.
func (s *Swarm) ListenersChanged() { s.listeners.changed() }

func (ls *listeners) changed() {
	for _, l := range ls.list {
		if l.On == nil {
			continue
		}
		l.mu.Lock()
		if _, err := l.follow(ls.notices.Events); err != nil {
			ls.notices.Complain(l.Listener, err)
		}
		l.mu.Unlock()
		l.wakeup.wake() // after an error, listen tries again
	}
}

// hearOthers wakes the listeners if there are events after the number heard, and returns the
// number of the last event. Other processes, such as the hooks of an attached session, add
// events without telling the daemon.
func (s *Swarm) hearOthers(heard int64) int64 {
	last, err := s.notices.Events.Last()
	if err != nil {
		s.log.Warn("the event list could not be read", keyErr, err)
		return heard
	}
	if last > heard {
		s.notices.Wake()
	}
	return last
}

// follow creates the listener's cursor if the listener is on, and removes it otherwise. It
// reports whether the listener is on. The caller holds l.mu.
func (l *listening) follow(events *journal.Events) (on bool, err error) {
	on = l.IsOn()
	if l.begun != nil && *l.begun == on {
		return on, nil
	}
	if on {
		err = events.Begin(l.Name)
	} else {
		err = events.End(l.Name)
	}
	if err == nil {
		l.begun = &on
	}
	return on, err
}

// listen passes events to a listener until ctx is done, and then passes on the events that
// were added before ctx was done. The context does not interrupt a call to Hear.
func (ls *listeners) listen(ctx context.Context, l *listening) {
	for retry, start := firstRetry, true; ; start = false {
		ls.starts.wait(ctx, startFirst)
		last := ctx.Err() != nil
		err := ls.tell(context.WithoutCancel(ctx), l, start)
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

// tell passes to a listener the events that it has not heard. Without any, at the start, and
// after a message was filed, it calls Hear without events.
func (ls *listeners) tell(ctx context.Context, l *listening, start bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	on, err := l.follow(ls.notices.Events)
	if !on || err != nil {
		ls.notices.Complain(l.Listener, err)
		return err
	}
	filed := l.filed.Swap(false)
	any, err := ls.notices.Hear(ctx, l.Listener)
	if err == nil && (start || filed || !any) {
		err = l.Hear(ctx, nil)
		ls.notices.Complain(l.Listener, err)
	}
	if err != nil && filed {
		l.filed.Store(true)
	}
	return err
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
