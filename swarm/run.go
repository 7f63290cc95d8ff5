package swarm

import (
	"context"
	"fmt"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
)

// Run runs the agents until stop is done and the running turns have ended. When kill is
// done, Run ends those turns. It returns once every goroutine and process that it started
// has ended. Run may be called at most once.
func (s *Swarm) Run(stop, kill context.Context) error {
	defer s.feed.closeAll()
	defer func() { s.mail.Note(s.ledger.Close()) }()
	ground, err := newGround(s.store, s.halted, s.opts.Taken)
	if err != nil {
		return fmt.Errorf("read the mailboxes: %w", err)
	}
	if wrong := ground.check(); wrong != "" { // without the lock's file, a removed HALT would look deleted; see hold.Halted
		s.notices.Trouble.Set("ground", wrong)
	}
	s.started = time.Now().UTC()
	for _, e := range s.damaged {
		s.log.Warn("a damaged file was set aside", "file", e.Path, keyErr, e.Err)
		s.notices.Tell(notice.Damaged{Err: e.DamagedError, What: e.what, Next: e.next, Started: s.started})
	}

	s.mail.Note(s.trees.Reconcile(kill)) // before an agent makes a tree
	s.mail.Note(s.completeMailboxes())   // a folder that is missing cannot be watched
	var watcher *dropbox.Watcher
	if !s.opts.Poll {
		if watcher, err = s.store.Watch(s.changed); err != nil {
			// Without a watcher the daemon still starts and polls the mailboxes.
			s.watches(0, err)
		} else {
			s.watches(watcher.Missing())
		}
	}
	var agents, rest sync.WaitGroup
	serving, done := context.WithCancel(kill)
	defer done()
	if !s.opts.Poll {
		s.turnDeps.Streams.Start(s.home.Turns(), &rest, serving, s.lost.wake)
	}
	rest.Go(func() { s.intake.run(stop) })
	rest.Go(func() { s.sweep(serving, watcher, ground) })
	rest.Go(func() {
		found, err := s.verifier.Sweep(serving)
		if s.mail.Note(err); found > 0 {
			s.log.Warn("removed what verifiers of an earlier daemon had left", "runs", found)
		}
	})
	rest.Go(func() { s.hearAnswers(serving, watcher) })
	if s.notices.Announcer != nil {
		rest.Go(func() { s.leadNews.run(serving) })
	}
	rest.Go(func() { s.supervisor.Run(serving) })
	for _, l := range s.listeners.list {
		rest.Go(func() { s.listeners.listen(serving, l) })
	}

	s.mu.Lock()
	s.run = &runContexts{stop: stop, kill: kill, wg: &agents, watcher: watcher}
	members := slices.Collect(maps.Values(s.agents))
	var taken sync.WaitGroup
	for _, m := range members {
		taken.Add(1)
		s.launch(m, taken.Done)
	}
	s.mu.Unlock()
	rest.Go(func() { s.announce(serving, &taken) })

	<-stop.Done()
	agents.Wait()
	s.mu.Lock()
	s.run, s.over = nil, true
	s.mu.Unlock()
	agents.Wait() // includes agents that were added while the others were ending
	done()
	rest.Wait()
	if watcher != nil {
		return watcher.Close()
	}
	return nil
}

// launch starts an agent's goroutine. The caller holds s.mu, and Run waits for the
// goroutine.
func (s *Swarm) launch(m *member, ready func()) {
	whole := s.run.stop
	stop, leave := context.WithCancel(whole)
	m.leave = leave
	kill := s.run.kill
	s.run.wg.Go(func() {
		defer func() {
			close(m.gone)
			if whole.Err() == nil { // only this agent leaves
				s.TellGone()
			}
		}()
		defer leave()
		if m.after != nil {
			<-m.after // only one turn runs at a time for an agent with this name, even across a reload
		}
		m.agent.run(stop, kill, ready)
	})
}

// announce closes s.ready when the agents have taken up the messages that an earlier daemon
// left. It waits only for a short time, because a client that outlived its daemon may work
// for hours. First it ends the processes that no agent takes up.
func (s *Swarm) announce(ctx context.Context, taken *sync.WaitGroup) {
	s.endOrphans()
	all := make(chan struct{})
	go func() { taken.Wait(); close(all) }() // ends when every agent has called ready; Run waits for the agents
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-all:
	case <-t.C:
	case <-ctx.Done():
	}
	close(s.ready)
	// The stacks and buffers that are allocated at startup occupy many times the memory
	// that a waiting swarm needs, and an idle process does not run the garbage collector
	// for minutes. The wait lets agents without work become idle first.
	t.Reset(time.Second)
	select {
	case <-t.C:
		debug.FreeOSMemory()
	case <-ctx.Done():
	}
}

// changed notifies the agent or other goroutine that is affected by a change that the
// watcher reported. It must not block.
func (s *Swarm) changed(r dropbox.Change) {
	s.mu.Lock()
	m := s.agents[r.Mailbox]
	s.mu.Unlock()
	switch {
	case r.All || r.Halt || r.Lost || r.Mailbox == "":
		s.wakeAgents()
		if r.Lost {
			s.lost.wake()
		}
	case r.Stray:
		s.intake.wakeup.wake()
	case r.Mailbox == dropbox.Lead, dropbox.IsBridge(r.Mailbox): // the message may be a question from an agent
		s.leadNews.wakeup.wake()
	case r.Mailbox == dropbox.Swarm:
		s.answers.wake()
	case m == nil:
	default:
		m.inbox.Queue.Changed(r.Name)
		m.wakeup.wake()
		m.permits.asker.Wake()
	}
}

func (s *Swarm) wakeAgents() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.agents {
		m.inbox.Queue.Changed("")
		m.wakeup.wake()
		m.permits.asker.Wake()
	}
	s.intake.wakeup.wake()
	s.leadNews.wakeup.wake()
	s.answers.wake()
}

// wakeAccount wakes every agent that uses an account.
func (s *Swarm) wakeAccount(account string) {
	for _, m := range s.members() {
		if s.accounts.of(m.spec()) == account {
			m.wakeup.wake()
		}
	}
}

// Ready returns a channel that is closed when the watches are set and every agent has taken
// up the messages that an earlier daemon left. The channel is closed after two seconds even
// if an agent needs longer, for example because it follows a client that outlived that
// daemon.
func (s *Swarm) Ready() <-chan struct{} { return s.ready }

// endOrphans ends the processes of turns that no agent will take up, for example because
// a mailbox was deleted while its client was working, or because an agent was removed
// from the configuration.
func (s *Swarm) endOrphans() {
	turns, err := s.home.Recorded()
	if err != nil {
		s.log.Warn("turn records could not be read", keyErr, err)
		return
	}
	for _, turn := range turns {
		rec, err := journal.ReadRecord(s.home, turn)
		// The order of the checks matters, because the agents are already working, and a
		// turn counts as running before its record contains the process.
		if err != nil || rec.End != "" || !rec.Process.Alive() || s.hasClaimed(rec) || s.has(rec.Mark()) {
			continue
		}
		endLeft(s.log, rec.Mark())
	}
}

// hasClaimed reports whether the message of a turn, or of a later turn of the same client, is
// in its agent's cur/. If it is, the agent takes up the message, or has already done so.
func (s *Swarm) hasClaimed(rec *journal.Record) bool {
	m, err := s.member(rec.Agent)
	if err != nil {
		return false
	}
	claimed, err := m.inbox.Box.Claimed()
	return err != nil || slices.ContainsFunc(claimed, func(e dropbox.Entry) bool {
		if e.ID == rec.Message {
			return true
		}
		last, err := mail.LastRecord(s.home, e)
		return err != nil || last != nil && last.Mark() == rec.Mark()
	})
}

// has reports whether any agent has a client with the given mark.
func (s *Swarm) has(mark string) bool {
	return slices.ContainsFunc(s.members(), func(m *member) bool { return m.turns.Runs.HasMark(mark) })
}
