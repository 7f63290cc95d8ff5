package ircbridge

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// Times of the loop.
const (
	sweepEvery = 30 * time.Second       // to look at the mailbox whatever the watcher says
	stateEvery = 250 * time.Millisecond // between two writings of the state
	lastWords  = 3 * time.Second        // for the proof of what is on its way when the bridge ends
)

// Keys of the log.
const (
	keyChannel = "channel"
	keyErr     = "err"
	keyMessage = "message"
	keyNick    = "nick"
	keyWhy     = "why"
)

// A run is a bridge that runs. Everything in it belongs to the goroutine of the loop.
// Others that it starts, and waits for at its end, hand their results to later, which
// the loop then calls.
type run struct {
	*Options
	ctx    context.Context // of the loop; done is the order to end
	box    *dropbox.Mailbox
	mask   *irc.Masker
	plan   *plan
	main   *link
	others map[string]*link // by agent, with [StyleNicks]
	rooms  map[string]*room // by folded name
	rings  map[string]*ring // by the name of their file

	flights  map[string]*flight      // messages on their way, by id
	cut      map[*irc.Conn][]*flight // what was on its way when a connection ended
	resume   map[string]resume       // of messages that were put back, by id
	lookups  map[string]*lookup      // histories that are being asked for, by target
	folds    map[string]string       // ids of messages that are not said, to that which is said instead
	filings  []filing                // what is done with, and waits to be filed
	arrivals []arrival               // what waits for an earlier delivery to end
	open     []question              // the oldest first
	asking   int                     // orders that the daemon has not answered yet
	mores    map[string]*more        // by folded nick
	wakes    map[string][]time.Time  // when messages to agents came of a channel
	crowds   map[string]*crowd       // by channel: what was too much of it
	renamed  map[string]string       // folded old nick to new

	delivered  chan func() // the end of the delivery that is under way
	delivering bool

	later     chan func()
	work      sync.WaitGroup // everything that goes on beside the loop
	state     State
	dirty     bool
	written   time.Time
	noRelay   string // why nothing is relayed on this server
	foldedFor int    // the connection for which foldUp has looked
	lineCount int    // lines without a msgid that were delivered
	atFiling  bool   // some of it is being filed
	claiming  bool   // claims are being made durable
	halted    bool
	held      bool // the disk refused a claim just now
	stopping  bool
	spoken    map[string]spoken    // what people said last to agents, by folded channel and nick
	holdups   map[string]holdup    // what people know of agents that do not work, by agent and folded nick
	away      map[string]*absence  // by folded nick: what they said while we were away
	lacking   map[string]time.Time // by folded nick and right: when they were told that they lack it
	deaf      map[string]time.Time // by agent, folded nick and channel: when they were told that it is not heard there
	threads   map[string]string    // of what is open, see [run.openThreads]: by mailbox and id
	resting   map[string]resting   // files laid into irc/ by hand, by name
	broken    error                // ends the loop
}

// Run is the bridge until ctx is done, and then returns nil. It connects, and connects
// again whenever that breaks; the state says how it stands. The error is [ErrRunning]
// when another process is the bridge of this project, and otherwise something on disk
// that nobody can work with.
func (b *Bridge) Run(ctx context.Context) (err error) {
	release, err := lock(b.o.Home)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, release()) }()
	o := b.o
	if err := o.Store.MakeMailbox(dropbox.IRC); err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	box, err := o.Store.Mailbox(dropbox.IRC)
	if err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	r := &run{
		Options: &o, ctx: ctx, box: box, mask: o.masker(),
		others: map[string]*link{}, rooms: map[string]*room{}, rings: map[string]*ring{},
		flights: map[string]*flight{}, cut: map[*irc.Conn][]*flight{}, resume: map[string]resume{}, lookups: map[string]*lookup{}, folds: map[string]string{},
		mores: map[string]*more{}, wakes: map[string][]time.Time{}, crowds: map[string]*crowd{}, away: map[string]*absence{}, renamed: map[string]string{},
		later: make(chan func(), 64), delivered: make(chan func(), 1),
	}
	r.plan = newPlan(box, r.placeOf)
	defer func() {
		for _, ring := range r.rings {
			err = errors.Join(err, ring.close())
		}
	}()
	if err := r.takeUp(); err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	return r.loop()
}

// takeUp puts the mailbox right after a crash, and reads what an earlier bridge left.
func (r *run) takeUp() error {
	if err := r.readQuestions(); err != nil {
		return err
	}
	if err := r.box.Recover(); err != nil {
		return err
	}
	if err := r.takeUpMail(); err != nil {
		return err
	}
	earlier, err := ReadState(r.Home)
	if err != nil {
		r.Log.Warn("the state of the earlier bridge was not read", keyErr, err)
	}
	r.state.Heard = earlier.Heard // the library asks for it when it has connected
	joined, err := readJoined(r.Home)
	if err != nil {
		return err
	}
	for _, name := range r.fixed() {
		r.room(name).wanted = true
	}
	for _, name := range joined {
		rm := r.room(name)
		rm.wanted, rm.entered = true, true
	}
	r.state.Server, r.state.Style, r.state.Since = r.Server.HostPort(), r.Style, time.Now().UTC()
	return nil
}

// takeUpMail goes on with what lies in cur/ and nobody works on: after a crash, and where
// the disk refused the last step of it.
func (r *run) takeUpMail() error {
	receipts, err := r.box.Receipts()
	if err != nil {
		return err
	}
	for _, e := range receipts {
		if r.flights[e.ID] != nil {
			continue // it is being filed
		}
		if err := r.box.Finish(e); err != nil {
			return err
		}
	}
	reasons, err := r.box.Reasons()
	if err != nil {
		return err
	}
	for _, e := range reasons {
		if r.flights[e.ID] != nil {
			continue
		}
		if err := r.finishBurial(e); err != nil {
			return err
		}
	}
	claimed, err := r.box.Claimed()
	if err != nil {
		return err
	}
	for _, e := range claimed {
		if r.flights[e.ID] != nil || r.isOpen(e.ID) {
			continue // on its way, or said and waiting for its answer
		}
		if _, err := r.box.PutBack(e, false); err != nil && !errors.Is(err, dropbox.ErrGone) {
			return err
		}
	}
	return nil
}

// loop runs until the order to end, and a little longer for what is on its way.
func (r *run) loop() error {
	bell, handBell := make(chan struct{}, 1), make(chan struct{}, 1)
	watcher, err := r.Store.Watch(func(ring dropbox.Ring) {
		at := bell
		if ring.Stray {
			at = handBell
		}
		select {
		case at <- struct{}{}:
		default: // somebody rang already
		}
	}, dropbox.IRC)
	if err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	defer watcher.Close()

	links, stopLinks := context.WithCancel(context.WithoutCancel(r.ctx))
	defer r.work.Wait()
	defer stopLinks()
	if r.main, err = r.newLink(links, "", r.Server.Nick); err != nil {
		return fmt.Errorf("irc: %w", err)
	}
	r.hire(links)

	sweep := time.NewTicker(sweepEvery)
	defer sweep.Stop()
	saving := time.NewTimer(0)
	defer saving.Stop()
	again := time.NewTimer(time.Hour)
	defer again.Stop()
	hand := time.NewTimer(0)
	defer hand.Stop()
	ended := r.ctx.Done()
	var patience <-chan time.Time
	for over := false; !over && r.broken == nil; {
		r.takeOff()
		if r.dirty {
			saving.Reset(time.Until(r.written.Add(stateEvery)))
		}
		if r.plan.suspects > 0 { // their time comes without any other event
			again.Reset(standFirst * cmp.Or(r.Server.RetryMin, time.Second))
		} else if stood := time.Since(r.main.since); stood < lingerPatience && len(r.plan.entries) > 0 {
			again.Reset(lingerPatience - stood)
		}
		if r.stopping && len(r.flights) == 0 {
			break
		}
		select {
		case <-bell:
			r.halted = false // look again
			r.plan.ring()
			r.dirty = true
		case <-handBell:
			hand.Reset(debounce / 4)
		case <-hand.C:
			if r.takeIn(time.Now()) {
				hand.Reset(debounce)
			}
		case e, ok := <-r.main.events:
			r.take(r.main, e, ok)
		case f := <-r.later:
			f()
			r.catchUp()
		case f := <-r.delivered:
			f()
		case <-sweep.C:
			r.halted = false
			r.plan.ring()
			if _, err := watcher.Rewatch(); err != nil {
				r.Log.Debug("mailbox is not watched", keyErr, err)
			}
			r.hire(links)
			r.sweep(time.Now())
			hand.Reset(0)
		case <-again.C:
		case <-saving.C:
			if r.dirty {
				r.save()
			}
		case <-ended:
			ended, r.stopping, patience = nil, true, time.After(lastWords)
			for _, rm := range r.rooms {
				r.releaseJoiners(rm)
			}
		case <-patience:
			over = true // what is on its way is put back
		}
	}
	r.noteHeard()
	stopLinks()
	r.settleRest()
	r.state.Connected, r.state.Since, r.state.Why, r.state.NextTry = false, time.Now().UTC(), "the bridge was ended", time.Time{}
	if r.broken != nil {
		r.state.Why = r.broken.Error()
	}
	r.save()
	return r.broken
}

// trouble notes an error of the disk or of the network that a person should see.
func (r *run) trouble(what string, err error) {
	r.Log.Error(what, keyErr, err)
	r.state.LastError, r.state.LastAt, r.dirty = what+": "+r.mask.Mask(err.Error()), time.Now().UTC(), true
}

// ring returns the buffer of a channel or a person; nil where the disk refuses it.
func (r *run) ring(channel string) *ring {
	name := fileName(channel)
	if ring := r.rings[name]; ring != nil {
		return ring
	}
	if len(r.rings) >= 512 { // open files are few
		for name, ring := range r.rings {
			ring.close()
			delete(r.rings, name)
		}
	}
	ring, err := openRing(r.Home, channel, r.BufferSize)
	if err != nil {
		r.trouble("buffer was not opened", err)
		return nil
	}
	r.rings[name] = ring
	return ring
}

// keep puts a line into the buffer of its channel.
func (r *run) keep(l Line) {
	ring := r.ring(l.Channel)
	if ring == nil {
		return
	}
	if _, err := ring.add(l); err != nil {
		r.trouble("line was not kept", err)
	}
}

// agents are the names of the agents as they are now.
func (r *run) agents() []string {
	if r.Agents != nil {
		return r.Agents()
	}
	names, err := r.Store.Mailboxes()
	if err != nil {
		r.trouble("mailboxes were not listed", err)
	}
	return slices.DeleteFunc(names, func(n string) bool { return n == dropbox.Lead || n == dropbox.IRC })
}

func (r *run) fold() irc.CaseMapping { return r.main.fold }

// sameChannel says whether two names are one channel.
func (r *run) sameChannel(a, b string) bool { return r.fold().Same(a, b) || strings.EqualFold(a, b) }
