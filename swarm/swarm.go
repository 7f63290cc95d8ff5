package swarm

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// A Swarm is the daemon of one project. Its methods are safe for several
// goroutines.
type Swarm struct {
	house
	opts      Options
	started   time.Time
	ready     chan struct{}
	listeners []*listening
	intake    *intake
	leadNews  *leadAnnouncer
	damaged   *journal.DamagedError // the file of sessions, where it was set aside
	lost      doorbell              // a watch is gone: look at the watches before the next sweep
	waits     waits                 // of turns that stop other agents

	telling sync.Mutex // held by TellGone

	mu      sync.Mutex
	current Plan
	agents  map[string]*member
	left    map[string]<-chan struct{} // agents that a reload took out; closed when they have ended
	run     *runContexts               // nil before Run and after it
	over    bool                       // after it
}

// A member is an agent with what its owner, the swarm, needs to end it.
type member struct {
	*agent
	leave context.CancelFunc // no further turn; the goroutine ends after the running one
	gone  chan struct{}      // closed when the goroutine has ended
	after <-chan struct{}    // closed when an earlier agent of this name has ended; nil if none was
}

// runContexts are what Run was called with, for agents that come later.
type runContexts struct {
	stop, kill context.Context
	wg         *sync.WaitGroup
	watcher    *dropbox.Watcher // nil where nothing can be watched
}

// UnknownAgentError says that there is no agent of that name.
type UnknownAgentError struct {
	Name string
	Near []string // names that are there and look alike, nearest first
}

func (e *UnknownAgentError) Error() string {
	s := fmt.Sprintf("no agent named %q here", e.Name)
	if len(e.Near) > 0 {
		s += "; did you mean " + e.Near[0] + "?"
	}
	return s
}

// New makes a swarm from what its project's home remembers. It starts nothing.
func New(o Options) (*Swarm, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	home := journal.HomeOf(o.Project)
	if err := home.Make(); err != nil {
		return nil, err
	}
	for _, spec := range o.Plan.Agents {
		if turn.BackendOf(o.Backends, spec.Backend) == nil {
			return nil, fmt.Errorf("agent %s: no backend %q", spec.Name, spec.Backend)
		}
	}
	s := &Swarm{opts: o, ready: make(chan struct{}), current: o.Plan, lost: newDoorbell(), agents: map[string]*member{}, left: map[string]<-chan struct{}{}}
	s.house = house{
		home: home, environ: o.Environ, store: o.Store,
		feed: &feed{}, slots: newSlots(o.Plan.maxRunning()), restart: o.Restart.orDefaults(),
		log: o.Log, advise: o.Advise, plan: s.Plan, wakeAll: s.wakeAccount,
	}
	if err := s.openJournal(o.Plan); err != nil {
		return nil, err
	}
	s.mail = &mail.Service{
		Home: home, Store: o.Store, Ledger: s.ledger, Tokens: s.tokens, Counts: &s.counts, Secrets: home.Secrets(), Events: home.Events(),
		Log: o.Log, Gate: o.Gate, Trouble: new(mail.Trouble), Reach: mail.NewReach(o.Store.Dir()), TurnsAt: s.turnsAt, CanWork: s.canWork,
		Names: func() mail.Names { return s.Plan().Names },
		Alerted: func(at time.Time, agent, subject string) {
			s.feed.publish(FeedEvent{Kind: FeedAlert, At: at, Agent: agent, Text: subject})
		},
	}
	s.deps = &turn.Deps{
		Home: home, Project: o.Project, Program: o.Program, Environ: o.Environ, Tools: o.Tools, Backends: o.Backends,
		Sessions: s.sessions, Waiting: turn.NewWaitingClients(o.Plan.maxWarm()), Streams: turn.NewStreamWatch(), Mailboxes: o.Store.Dir(),
		Feed: s.feed, Token: s.tokens.Of, Called: s.mail.Reach.Called, Note: s.mail.Note,
	}
	if o.Announcer != nil {
		s.mail.Announcer = &mail.Announcing{Announcer: o.Announcer}
	}
	if err := s.openListeners(o.Listeners); err != nil {
		return nil, err
	}
	s.intake, s.leadNews = newIntake(s), newLeadAnnouncer(&s.house)
	if lines, err := s.ledger.Amend(home, o.Store, specNames(o.Plan.Agents), time.Now()); err != nil {
		return nil, err
	} else if lines > 0 {
		s.log.Warn("lines were missing in the ledger", "lines", lines)
	}
	for _, spec := range o.Plan.Agents {
		m, err := s.newMember(spec, o.Plan.Log)
		if err != nil {
			return nil, err
		}
		s.agents[spec.Name] = m
	}
	return s, nil
}

// openJournal opens the daemon's own files. Sessions that are damaged are set aside.
func (s *Swarm) openJournal(p Plan) (err error) {
	names := append(dropbox.Bridges(), dropbox.Lead, dropbox.Swarm)
	if s.tokens, err = journal.OpenTokens(s.home, append(names, specNames(p.Agents)...)...); err != nil {
		return err
	}
	if s.holds, err = journal.OpenHolds(s.home); err != nil {
		return err
	}
	s.sessions, err = journal.OpenSessions(s.home)
	if e, ok := errors.AsType[*journal.DamagedError](err); ok {
		s.damaged, err = e, e.SetAside()
	}
	if err != nil {
		return err
	}
	s.ledger, err = journal.OpenLedger(s.home, func(line journal.LedgerLine) { s.counts.Recall(line, s.holds.Of(line.Agent).Word) })
	return err
}

// newMember makes an agent's mailbox and the agent.
func (s *Swarm) newMember(spec Spec, p journal.LogPolicy) (*member, error) {
	if err := s.store.MakeMailbox(spec.Name); err != nil {
		return nil, err
	}
	if err := s.home.IsBack(spec.Name); err != nil {
		return nil, err
	}
	box, err := s.store.Mailbox(spec.Name)
	if err != nil {
		return nil, err
	}
	a := &agent{house: &s.house, name: spec.Name, bell: newDoorbell(), log: s.log.With(keyAgent, spec.Name), hidden: turn.NewSecrets(s.mail.Secrets)}
	a.control.spec = spec
	a.view.s = AgentStatus{Name: spec.Name, Role: spec.Role, Backend: spec.Backend, Channels: append([]string{}, spec.Channels...), State: Starting, Since: new(time.Now().UTC())}
	a.inbox = &mail.Inbox{
		Service: s.mail, Name: spec.Name, Box: box, Log: a.log, Hidden: a.hidden,
		AgentLog: journal.OpenAgentLog(s.home, spec.Name, p, s.feed.line(spec.Name), s.mail.Note),
		Backend:  func() string { return a.kind().Name },
	}
	a.turns = turn.NewTurns(s.deps, spec.Name, a.log, a.inbox.AgentLog, a.hidden, a.bell.ring)
	var known turn.Picture
	if l, ok := s.ledger.Last(spec.Name); ok {
		known = turn.Recalled(l, s.ledger.Turns(spec.Name))
	}
	if se, ok := s.sessions.Get(spec.Name); ok {
		known.Session = se.ID
	}
	a.turns.View.Recall(known)
	return &member{agent: a, gone: make(chan struct{})}, nil
}

// Plan is the plan that is in force.
func (s *Swarm) Plan() Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// Ready is closed when the watches are set and every agent has taken up what an
// earlier daemon left, or follows a client that outlived it.
func (s *Swarm) Ready() <-chan struct{} { return s.ready }

// Run serves until stop is done and the running turns have ended; when kill is
// done it ends them. It returns when every goroutine and process that it
// started has ended. A swarm runs once.
func (s *Swarm) Run(stop, kill context.Context) error {
	defer s.feed.closeAll()
	s.started = time.Now().UTC()
	if e := s.damaged; e != nil {
		s.log.Warn("a damaged file was set aside", "file", e.Path, keyErr, e.Err)
		s.mail.TellLead("", "damaged:"+s.started.Format(time.DateOnly), "the sessions were damaged", fmt.Sprintf(
			"%v.\n\nThe file is kept as %s. What each agent did is in claude-swarm history AGENT.\n", e, e.Aside()))
	}

	watcher, err := s.store.Watch(s.ring)
	if err != nil {
		// Slow looking is better than not starting at all.
		s.watches(0, err)
	} else {
		s.watches(watcher.Missing())
	}
	var agents, rest sync.WaitGroup
	serving, done := context.WithCancel(kill)
	defer done()
	s.deps.Streams.Start(s.home.Turns(), &rest, serving)
	rest.Go(func() { s.intake.run(stop) })
	rest.Go(func() { s.sweep(serving, watcher) })
	if s.mail.Announcer != nil {
		rest.Go(func() { s.leadNews.run(serving) })
	}
	for _, l := range s.listeners {
		rest.Go(func() { s.listen(serving, l) })
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
	agents.Wait() // an agent that was added while the others ended
	done()
	rest.Wait()
	if watcher != nil {
		return watcher.Close()
	}
	return nil
}

// launch starts an agent's goroutine. s.mu is held, and Run waits for the
// goroutine.
func (s *Swarm) launch(m *member, ready func()) {
	whole := s.run.stop
	stop, leave := context.WithCancel(whole)
	m.leave = leave
	kill := s.run.kill
	s.run.wg.Go(func() {
		defer func() {
			close(m.gone)
			if whole.Err() == nil { // it left, and the others go on
				s.TellGone()
			}
		}()
		defer leave()
		if m.after != nil {
			<-m.after // one turn at a time, also across a reload
		}
		m.agent.run(stop, kill, ready)
	})
}

// announce closes ready when the agents have taken up what was left, or after a
// while: a client that outlived its daemon may work for hours. What nobody takes
// up is ended first.
func (s *Swarm) announce(ctx context.Context, taken *sync.WaitGroup) {
	s.endOrphans()
	all := make(chan struct{})
	go func() { taken.Wait(); close(all) }() // ends with the agents, which Run waits for
	t := time.NewTimer(2 * time.Second)
	defer t.Stop()
	select {
	case <-all:
	case <-t.C:
	case <-ctx.Done():
	}
	close(s.ready)
	// The stacks and buffers of the start are many times what a swarm needs that
	// waits, and a process without work collects no garbage for minutes. The agents
	// that have nothing to do are at rest a moment later.
	t.Reset(time.Second)
	select {
	case <-t.C:
		debug.FreeOSMemory()
	case <-ctx.Done():
	}
}

// ring passes what the watcher heard to whom it concerns. It must not block.
func (s *Swarm) ring(r dropbox.Change) {
	s.mu.Lock()
	m := s.agents[r.Mailbox]
	s.mu.Unlock()
	switch {
	case r.All || r.Halt || r.Lost || r.Mailbox == "":
		s.ringAll()
		if r.Lost {
			s.lost.ring()
		}
	case r.Stray:
		s.intake.bell.ring()
	case r.Mailbox == dropbox.Lead:
		s.leadNews.bell.ring()
	case m == nil:
	default:
		m.inbox.Queue.Changed(r.Name)
		m.bell.ring()
	}
}

func (s *Swarm) ringAll() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.agents {
		m.inbox.Queue.Changed("")
		m.bell.ring()
	}
	s.intake.bell.ring()
	s.leadNews.bell.ring()
}

// wakeAccount rings every agent of an account.
func (s *Swarm) wakeAccount(account string) {
	for _, m := range s.members() {
		if m.account() == account {
			m.bell.ring()
		}
	}
}

// members lists the agents in the order of the plan.
func (s *Swarm) members() []*member {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := make([]*member, 0, len(s.agents))
	for i := range s.current.Agents {
		if m := s.agents[s.current.Agents[i].Name]; m != nil {
			out = append(out, m)
		}
	}
	return out
}

// member finds an agent.
func (s *Swarm) member(name string) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.agents[name]; m != nil {
		return m, nil
	}
	return nil, &UnknownAgentError{Name: name, Near: dropbox.Nearest(name, slices.Sorted(maps.Keys(s.agents)))}
}
