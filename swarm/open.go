package swarm

import (
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/hold"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// New creates a swarm from the files in its project's home. It starts no agents.
func New(o Options) (*Swarm, error) {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	home := journal.HomeOf(o.Project).With(o.Files)
	if err := home.Make(); err != nil {
		return nil, err
	}
	for _, spec := range o.Plan.Agents {
		if turn.BackendOf(o.Backends, spec.Backend) == nil {
			return nil, fmt.Errorf("agent %s: no backend %q", spec.Name, spec.Backend)
		}
	}
	folder := projectFolderAt(o.Project)
	home = home.Checked(folder.check)
	s := &Swarm{
		opts: o, home: home, folder: folder, store: o.Store, restart: o.Restart.orDefaults(), log: o.Log,
		whispers: whisper.Open(home), feed: &feed{}, slots: newSlots(o.Plan.maxRunning()), halted: hold.NewHalted(o.Store),
		lost: newWakeup(), answers: newWakeup(), ready: make(chan struct{}),
		current: o.Plan, agents: map[string]*member{}, left: map[string]<-chan struct{}{},
	}
	if err := s.openJournal(o.Plan); err != nil {
		return nil, err
	}
	s.mail = &mail.Service{
		Home: home, Store: o.Store, Ledger: s.ledger, Tokens: s.tokens, Counts: &s.counts, Secrets: home.Secrets(),
		Log: o.Log, Gate: o.Gate, Reach: mail.NewReach(o.Store.Dir(), func() time.Duration { return s.Plan().debounce() }), TurnsAt: s.turnsAt,
		InUse: func(mailbox string) bool {
			_, err := s.member(mailbox)
			return err == nil || mailbox == dropbox.Lead || mailbox == dropbox.Swarm
		},
		PausedFor: func(agent, question string) bool {
			p := s.holds.Of(agent).Paused
			return p.Holds(time.Now()) && slices.ContainsFunc(p.Questions, func(q journal.PauseQuestion) bool { return q.ID == question })
		},
		Names: func() mail.Names { return s.Plan().Names },
	}
	s.accounts = accounts{backends: o.Backends, environ: o.Environ, plan: s.Plan}
	atCap := hold.Budget{Book: s.book, Text: func(b *budget.Block) string { return capText(s.mail.Called, b) }}
	s.tasks = &tasks{book: s.book, store: o.Store, turnsAt: s.turnsAt, members: s.members, depends: mail.NewDependencies(o.Store), note: s.mail.Note}
	waits := hold.List{hold.Draining{Begun: s.tasks.begun}, hold.Depends{On: s.tasks.dependency}}
	s.admission = newAdmission(home, s.holds, &s.counts, s.halted, waits, atCap, s.accounts, s.Plan)
	s.notices = &notice.Teller{
		Home: home, Store: o.Store, Events: home.Events(), Log: o.Log, Announcer: notice.NewAnnouncing(o.Announcer),
		Hide:    func(text string) string { return s.mail.Secrets.Redactor().Text(text) },
		Deliver: s.mail.Deliver, CanWork: s.admission.canWork,
		LeadFor: func(agent string) string { return s.Plan().Names.LeadFor(agent) },
		Alerted: func(at time.Time, agent, subject string) {
			s.feed.publish(FeedEvent{Kind: FeedAlert, At: at, Agent: agent, Text: subject})
		},
	}
	s.mail.Notices = s.notices
	s.limits = &usageLimits{holds: s.holds, notices: s.notices, mail: s.mail, accounts: s.accounts, wake: s.wakeAccount}
	s.strays = &strayFiles{store: o.Store, notices: s.notices, plan: s.Plan, members: s.members, log: s.log}
	s.budget = swarmBudget{book: s.book, home: home, ledger: s.ledger, mail: s.mail, plan: s.Plan, members: s.members, log: s.log}
	s.judging = judgements{
		backends: o.Backends, project: o.Project, environ: o.Environ, home: home, ledger: s.ledger, budget: s.book,
		mail: s.mail, notices: s.notices, log: s.log, settled: s.budget.wake,
	}
	contexts := &contextNotices{member: s.member, backends: o.Backends, holds: s.holds, notices: s.notices}
	s.turnDeps = &turn.Deps{
		Home: home, Project: o.Project, Program: o.Program, Environ: o.Environ, Tools: o.Tools, Backends: o.Backends,
		Sessions: s.sessions, Unsorted: s.unsorted, Waiting: turn.NewWaitingClients(o.Plan.maxWarm()), Streams: turn.NewStreamWatch(), Mailboxes: o.Store.Dir(), Config: o.Config,
		Feed: s.feed, Token: s.tokens.Of, Calls: s.mail.Reach, ContextSized: contexts.sized, ListTree: s.trees.Listed, Note: s.mail.Note,
	}
	var err error
	if s.listeners, err = openListeners(s.notices, &s.starts, o.Listeners); err != nil {
		return nil, err
	}
	if err := s.openQuiet(); err != nil {
		return nil, err
	}
	s.intake = newIntake(o.Store, s.notices, s.strays, s.Plan, s.members, s.log)
	s.leadNews = newLeadAnnouncer(s.mail, func() (running []string) {
		for _, m := range s.members() {
			if turn := m.turns.Runs.Turn(); turn != "" {
				running = append(running, turn)
			}
		}
		return running
	})
	if s.mail.Questions, err = mail.OpenQuestions(s.mail, s.answers.wake); err != nil {
		return nil, err
	}
	s.notices.Question = s.mail.Questions.NoticeOf
	s.openOrders(o.Plan)
	s.mail.Questions.Handle(stuckQuestion, s.escalations.answer)
	s.mail.Questions.Handle(budgetKind, s.budget.answer)
	if lines, err := s.ledger.Amend(home, o.Store, specNames(o.Plan.Agents), time.Now()); err != nil {
		return nil, err
	} else if lines > 0 {
		s.log.Warn("lines were missing from the ledger", "lines", lines)
	}
	if err := errors.Join(s.judging.endLost(), s.budget.restore(o.Plan)); err != nil {
		return nil, err
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

// openOrders connects the supervisor with the agents, and both with people's orders.
func (s *Swarm) openOrders(p Plan) {
	s.escalations = &escalations{
		member: s.member, holds: s.holds, whispers: s.whispers, mail: s.mail, notices: s.notices, plan: s.Plan, log: s.log,
	}
	s.supervisor = supervisor.New(supervisor.Options{
		Settings: p.supervision(), OnWhisper: s.escalations.whisper, OnEscalation: s.escalations.stuck, OnOverrun: s.escalations.overran,
		Judge: s.judging.judge(p), Note: s.escalations.noteJudge,
	})
	s.stuckHolds = &stuckHolds{holds: s.holds, supervisor: s.supervisor, mail: s.mail, known: func(agent string) bool {
		_, err := s.member(agent)
		return err == nil
	}}
	s.Orders = &Orders{
		member: s.member, stopping: s.stopping, store: s.store, holds: s.holds, counts: &s.counts, whispers: s.whispers,
		mail: s.mail, notices: s.notices, limits: s.limits, stuck: s.stuckHolds, answers: s.answers, tasks: s.tasks,
	}
	s.escalations.orders, s.escalations.holding, s.escalations.supervisor = s.Orders, s.stuckHolds, s.supervisor
}

// openJournal opens the daemon's own files. It sets aside a damaged sessions file, list of
// tools or budget file.
func (s *Swarm) openJournal(p Plan) (err error) {
	names := append(dropbox.Bridges(), dropbox.Lead, dropbox.Swarm)
	if s.tokens, err = journal.OpenTokens(s.home, append(names, specNames(p.Agents)...)...); err != nil {
		return err
	}
	if s.holds, err = journal.OpenHolds(s.home); err != nil {
		return err
	}
	s.sessions, err = journal.OpenSessions(s.home)
	if err = s.setAside(err, "the sessions were damaged", "What each agent did is in claude-swarm history AGENT."); err != nil {
		return err
	}
	s.unsorted, err = journal.OpenUnsortedTools(s.home)
	if err = s.setAside(err, "the list of unknown tools is lost", "The next turn of each client shows which tools this version does not know."); err != nil {
		return err
	}
	s.trees, err = worktree.Open(s.opts.Files, s.home.WorktreesFile(), s.opts.Project, s.opts.Environ)
	if err = s.setAside(err, "the list of working trees is lost", "git worktree list shows the folders, and git branch --list 'task/*' 'agent/*' the branches. Nothing in them is lost."); err != nil {
		return err
	}
	s.verified, err = verify.OpenCache(s.opts.Files, s.home.VerifiedFile())
	if err = s.setAside(err, "the list of verified trees is lost", "Each verifier runs again when it is needed."); err != nil {
		return err
	}
	s.verifier = verify.New(verify.Options{Project: s.opts.Project, Home: s.home.Dir(), Environ: s.opts.Environ, Cache: s.verified})
	s.book, err = budget.Open(s.home, p.budget(), nil)
	if err = s.setAside(err, "the budget raises are lost", "The caps are those in the configuration. To raise one again: claude-swarm budget raise SCOPE AMOUNT"); err != nil {
		return err
	}
	s.ledger, err = journal.OpenLedger(s.home, func(line journal.LedgerLine, old bool) {
		s.book.Settle(line)
		if old {
			s.counts.Recall(line, s.holds.Of(line.Agent).Word)
		}
	})
	return err
}

// setAside sets a file aside if err says that it is damaged. The lead is told what was lost
// and what to do next. It returns every other error.
func (s *Swarm) setAside(err error, what, next string) error {
	if e, ok := errors.AsType[*durable.DamagedError](err); ok {
		s.damaged = append(s.damaged, loss{e, what, next})
		return e.SetAside()
	}
	return err
}

// newMember creates an agent and its mailbox.
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
	a := &agent{
		name: spec.Name, wakeup: newWakeup(), log: s.log.With(keyAgent, spec.Name), hidden: turn.NewSecrets(s.mail.Secrets),
		files: projectFiles{home: s.home, folder: s.folder, store: s.store, lost: s.lost},
		holds: s.holds, ledger: s.ledger, notices: s.notices, admission: s.admission, limits: s.limits, restart: s.restart,
		strays: s.strays, slots: s.slots, starts: &s.starts, feed: s.feed, tasks: s.tasks,
		breaker: &breaker{name: spec.Name, holds: s.holds, notices: s.notices, mail: s.mail},
	}
	a.control.spec = spec
	a.client = clientSettings{
		control: &a.control, backends: s.opts.Backends, tools: s.turnDeps.Tools != nil, advise: s.opts.Advise, holds: s.holds,
		unsorted: s.unsorted, plan: s.Plan, mailbox: filepath.Join(s.store.Dir(), spec.Name),
	}
	a.view.s = AgentStatus{Name: spec.Name, Role: spec.Role, Tags: append([]string{}, spec.Tags...), Backend: spec.Backend, Channels: append([]string{}, spec.Channels...), State: Starting, Since: new(time.Now().UTC())}
	a.inbox = &mail.Inbox{
		Service: s.mail, Name: spec.Name, Box: box, Log: a.log, Hidden: a.hidden,
		AgentLog: journal.OpenAgentLog(s.home, spec.Name, p, s.feed.line(spec.Name), s.mail.Note),
		Backend:  func() string { return a.client.kind().Name },
	}
	a.budget = agentBudget{
		book: s.book, slots: s.slots, home: s.home, ledger: s.ledger, mail: s.mail, notices: s.notices, plan: s.Plan,
		name: spec.Name, inbox: a.inbox, wake: s.budget.wake,
	}
	s.whispers.Waiting(spec.Name) // reads the agent's file, which makes Wait include the agent
	a.permits = permitter{
		asker: mail.Asker{Service: s.mail, Agent: spec.Name, Box: box}, store: s.store, holds: s.holds, mail: s.mail,
		plan: s.Plan, canWork: s.admission.canWork, agentLog: a.inbox.AgentLog, log: a.log,
	}
	a.turns = turn.NewTurns(s.turnDeps, spec.Name, a.log, a.inbox.AgentLog, a.hidden, a.wakeup.wake)
	a.tree = agentTree{name: spec.Name, trees: s.trees, control: &a.control, inbox: a.inbox, turns: a.turns, notices: s.notices}
	a.verifiers = agentVerifiers{runner: s.verifier, plan: s.Plan, tree: &a.tree, show: a.show, inbox: a.inbox}
	a.supervision = supervision{
		name: spec.Name, supervisor: s.supervisor, whispers: s.whispers, stuck: s.stuckHolds, holds: s.holds, mail: s.mail,
		plan: s.Plan, hidden: a.hidden, wake: a.wakeup.wake, log: a.log,
	}
	a.drift = treeDrift{
		name: spec.Name, ledger: s.ledger, writes: &s.writes, plan: s.Plan, skip: []string{s.home.Dir(), s.store.Dir()}, log: a.log,
	}
	a.settler = settler{
		writes: &s.writes,
		name:   spec.Name, control: &a.control, inbox: a.inbox, view: &a.turns.View, holds: s.holds, notices: s.notices,
		accounts: s.accounts, limits: a.limits, breaker: a.breaker, restart: s.restart, feed: s.feed, log: a.log,
	}
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
