package bridge

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// Intervals and timeouts of the loop.
const (
	sweepEvery = 30 * time.Second       // how often to check the mailbox even if the watcher reports no change
	stateEvery = 250 * time.Millisecond // the minimum time between two writes of the state
	lastWords  = 3 * time.Second        // how long the bridge waits, before it ends, for confirmation that the last messages arrived
)

// A Bridge carries messages between the mailboxes of one project and one network.
type Bridge struct {
	o    Options
	link Link
}

// New makes a bridge that uses a link. It does not access files or the network. It
// returns an error if the options are invalid.
func New(o Options, link Link) (*Bridge, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	return &Bridge{o: o, link: link}, nil
}

// Run runs the bridge until ctx is done, and then returns nil. The link connects, and
// reconnects whenever the connection breaks; the state reports whether it is up. The
// error is [ErrRunning] if another process is the bridge of this project. Otherwise it is
// an error in the link's configuration, or a disk error that prevents all work.
func (b *Bridge) Run(ctx context.Context) (err error) {
	release, err := lock(Folder(b.o.Home, b.o.Name))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	o := b.o
	if err := o.Store.MakeMailbox(o.Name); err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	box, err := o.Store.Mailbox(o.Name)
	if err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	r := newRun(ctx, &o, b.link, box)
	defer func() { err = errors.Join(err, r.rec.close()) }()
	joined, err := r.takeUp()
	if err != nil {
		return fmt.Errorf("%s: %w", o.Name, err)
	}
	return r.serve(joined)
}

// A run is a running bridge. The loop's goroutine owns all of its data.
type run struct {
	o         *Options
	link      Link
	loop      *loop
	rec       *record
	mail      *mail
	questions *questions
	outbox    *poster
	listener  *listener
	threads   map[string]string    // the conversation of each open message, by mailbox and id; see [run.openThreads]
	idle      map[string]time.Time // by channel: when its conversation was first found to have no open message
	resting   map[string]resting   // dropped files, by name
}

func newRun(ctx context.Context, o *Options, link Link, box *dropbox.Mailbox) *run {
	r := &run{
		o: o, link: link, loop: newLoop(ctx), rec: newRecord(o), idle: map[string]time.Time{},
		mail: &mail{store: o.Store, box: box, name: o.Name, title: o.Title, sign: o.Sign},
	}
	r.questions = &questions{mail: r.mail, rec: r.rec, link: link, over: r.o.Over}
	who := permits{allow: o.Allow, link: link}
	call := &callees{permits: who, mail: r.mail, link: link, nicks: map[int]string{}}
	r.outbox = &poster{
		link: link, loop: r.loop, rec: r.rec, mail: r.mail, questions: r.questions, channels: o.Channels, called: o.Called, callees: call,
		flights: map[string]*flight{}, folds: map[string]string{},
	}
	r.outbox.box = outbox.New(box, outbox.Options{Tries: settleTries, Pause: holdFor, Keep: r.questions.isOpen, Tell: r.outbox.bounce})
	r.outbox.plan = newPlan(box, r.outbox.destinationOf)
	told := &acks{open: map[string]bool{}, over: r.outbox.plan.lookAgain}
	r.outbox.plan.waits = told.waits
	rep := &replies{link: link, loop: r.loop, rec: r.rec, mores: map[string]*more{}}
	r.listener = &listener{
		link: link, rec: r.rec, rep: rep, questions: r.questions, mail: r.mail, permits: who, callees: call, channels: o.Channels, called: o.Called, agents: r.Agents, tags: o.Tags,
		orders:   &orders{link: link, loop: r.loop, rec: r.rec, rep: rep, mail: r.mail, questions: r.questions, swarm: o.Swarm, called: o.Called, tags: o.Tags},
		arrivals: &arrivals{loop: r.loop, rec: r.rec, store: o.Store, delivered: make(chan func(), 1)},
		notices: &notices{
			link: link, loop: r.loop, rec: r.rec, rep: rep, mail: r.mail, permits: who, channels: o.Channels, swarm: o.Swarm, acks: told, called: o.Called, most: o.WakesPerMinute,
			wakes: map[string][]time.Time{}, crowds: map[string]*crowd{}, away: map[string]*absence{},
		},
	}
	return r
}

// takeUp repairs the mailbox after a crash, and reads the files of an earlier bridge.
func (r *run) takeUp() (joined []string, err error) {
	if err := r.questions.read(); err != nil {
		return nil, err
	}
	if err := r.outbox.box.Recover(); err != nil {
		return nil, err
	}
	earlier, err := ReadState(r.rec.dir)
	if err != nil {
		r.rec.log.Warn("the state of the earlier bridge was not read", keyErr, err)
	}
	r.rec.state.Heard = earlier.Heard // the link may need this time after it has connected
	r.rec.state.Server, r.rec.state.Since = r.link.Server(), time.Now().UTC()
	return readJoined(r.rec.dir)
}

// serve runs until the loop's context is done, and then waits briefly for the messages in
// flight.
func (r *run) serve(joined []string) error {
	mailCame, handCame := make(chan struct{}, 1), make(chan struct{}, 1)
	watcher, err := r.mail.store.Watch(func(what dropbox.Change) {
		came := mailCame
		if what.Stray {
			came = handCame
		}
		select {
		case came <- struct{}{}:
		default: // the loop has not handled the last change yet
		}
	}, r.mail.name)
	if err != nil {
		return fmt.Errorf("%s: %w", r.mail.name, err)
	}
	defer watcher.Close()

	links, stopLinks := context.WithCancel(context.WithoutCancel(r.loop.ctx))
	defer r.loop.close()
	defer stopLinks()
	if err := r.link.Open(r.loop.ctx, links, r, joined); err != nil {
		return fmt.Errorf("%s: %w", r.mail.name, err)
	}

	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	saving := time.NewTimer(0)
	defer saving.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	hand := time.NewTimer(0)
	defer hand.Stop()
	r.rec.changed() // the state of an earlier bridge may say that it is connected
	out := r.outbox
	ended := r.loop.ctx.Done()
	patience, end := outbox.Patience(r.loop.ctx, lastWords)
	defer end()
	for over := false; !over; {
		out.takeOff()
		if r.rec.dirty {
			saving.Reset(time.Until(r.rec.written.Add(stateEvery)))
		}
		if out.plan.suspects > 0 || len(out.plan.entries) > 0 { // these messages may become ready without an event
			if after := r.link.LookAgain(out.plan.suspects > 0); after > 0 {
				again.Reset(after)
			}
		}
		if out.stopping && len(out.flights) == 0 {
			break
		}
		select {
		case <-mailCame:
			out.lookAgain()
			r.rec.changed()
		case <-handCame:
			hand.Reset(debounce / 4)
		case <-hand.C:
			if r.takeIn(time.Now()) {
				hand.Reset(debounce)
			}
		case f := <-r.loop.events:
			f()
		case f := <-r.loop.later:
			f()
			r.loop.catchUp()
		case f := <-r.listener.arrivals.delivered:
			f()
		case <-sweep.C:
			out.plan.lookAgain()
			if _, err := watcher.Rewatch(); err != nil {
				r.rec.log.Debug("mailbox could not be watched", keyErr, err)
			}
			now := time.Now()
			r.link.Sweep(now)
			r.sweep(now)
			hand.Reset(0)
		case <-again.C:
		case <-saving.C:
			if r.rec.dirty {
				r.save()
			}
		case <-ended:
			ended, out.stopping = nil, true
			r.link.Stop()
		case <-patience.Done():
			over = true // settleRest puts back the messages in flight
		}
	}
	r.link.Describe(&r.rec.state) // some of the state is known only while the link is connected
	stopLinks()
	r.settleRest()
	r.describe()
	s := &r.rec.state
	s.Connected, s.Since, s.Why, s.NextTry = false, time.Now().UTC(), "the bridge was stopped", time.Time{}
	r.rec.write()
	return nil
}

// save writes the state.
func (r *run) save() {
	r.describe()
	r.rec.write()
}

// describe fills in the state.
func (r *run) describe() {
	s := &r.rec.state
	if err := r.outbox.plan.list(); err != nil { // while there is no connection, no other code lists the mailbox
		r.rec.trouble("mailbox was not listed", err)
	}
	s.Waiting, s.Unproven = len(r.outbox.plan.entries), r.outbox.unproven()
	s.Halted = r.outbox.box.Halted()
	s.Questions = nil
	for _, q := range r.questions.open {
		if !q.sending {
			s.Questions = append(s.Questions, q.OpenQuestion)
		}
	}
	s.Channels, s.Warnings = nil, nil
	r.link.Describe(s)
}

// sweep does the bridge's periodic work.
func (r *run) sweep(now time.Time) {
	r.rec.changed()
	r.leaveDone(now)
	if err := r.outbox.box.TakeUp(); err != nil {
		r.rec.trouble("messages that the disk refused were not taken up", err)
	}
	r.listener.notices.sweep(now)
	r.questions.sweep(now)
}

// settleRest waits for the link to end, and puts back the messages that were in flight.
func (r *run) settleRest() {
	r.loop.end()
	done := make(chan struct{})
	// This goroutine ends when all parallel work has ended; the loop below waits for it.
	go func() {
		defer close(done)
		r.loop.work.Wait()
	}()
	for {
		select {
		case f := <-r.loop.later:
			f()
		case f := <-r.listener.arrivals.delivered:
			f()
		case <-done:
			for _, f := range r.outbox.flights {
				r.outbox.putBack(f, false)
			}
			return
		}
	}
}
