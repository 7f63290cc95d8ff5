package swarm

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
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

// A Swarm is the daemon of one project. Its methods are safe for concurrent use.
type Swarm struct {
	*Orders // people's and agents' orders, which are part of the daemon's interface
	opts    Options
	log     *slog.Logger
	restart RestartPolicy
	started time.Time
	ready   chan struct{}

	// The project's files and the mailboxes.
	home    journal.Home
	folder  projectFolder
	store   *dropbox.Store
	halted  *hold.Halted
	damaged []loss // files that were set aside
	lost    wakeup // a watch or a folder was lost; the sweep checks the watches and recreates folders

	// The facts that survive the daemon, in its files.
	ledger   *journal.Ledger
	holds    *journal.Holds
	sessions *journal.Sessions
	unsorted *journal.UnsortedTools
	trees    *worktree.Trees
	verified *verify.Cache
	verifier *verify.Runner
	counts   journal.TurnCounts
	tokens   *journal.Tokens
	whispers *whisper.Store
	book     *budget.Book

	// Mail, and what people are told.
	mail      *mail.Service
	notices   *notice.Teller
	feed      *feed
	listeners *listeners
	intake    *intake
	strays    *strayFiles
	leadNews  *leadAnnouncer
	answers   wakeup // wakes the goroutine that handles people's answers to the daemon's questions

	// Which turns may begin, and how they run.
	accounts    accounts
	admission   *admission
	tasks       *tasks
	limits      *usageLimits
	budget      swarmBudget
	slots       *slots
	starts      starts
	writes      fileWrites
	turnDeps    *turn.Deps // the turns' dependencies
	supervisor  *supervisor.Supervisor
	stuckHolds  *stuckHolds
	escalations *escalations
	judging     judgements

	telling sync.Mutex // locked while TellGone runs

	mu      sync.Mutex
	current Plan
	agents  map[string]*member
	left    map[string]<-chan struct{} // by the name of an agent that a reload removed; closed when the agent has ended
	run     *runContexts               // nil before and after Run
	over    bool                       // Run has ended
}

// A member is an agent, together with the function and channels that the swarm needs to
// end it.
type member struct {
	*agent
	leave context.CancelFunc // prevents the agent from beginning another turn; its goroutine ends after the running turn
	gone  chan struct{}      // closed when the goroutine has ended
	after <-chan struct{}    // closed when an earlier agent of this name has ended; nil if there was none
}

// runContexts contains the arguments and state of Run that agents added by a reload need.
type runContexts struct {
	stop, kill context.Context
	wg         *sync.WaitGroup
	watcher    *dropbox.Watcher // nil if the mailboxes cannot be watched
}

// An UnknownAgentError reports that there is no agent with the given name.
type UnknownAgentError struct {
	Name string
	Near []string // similar existing names, closest match first
}

func (e *UnknownAgentError) Error() string {
	s := fmt.Sprintf("no agent named %q here", e.Name)
	if len(e.Near) > 0 {
		s += "; did you mean " + e.Near[0] + "?"
	}
	return s
}

// Plan returns the plan that is in effect.
func (s *Swarm) Plan() Plan {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.current
}

// A loss is a damaged daemon file that was set aside.
type loss struct {
	*durable.DamagedError
	what, next string // shown to the person
}

// members returns the agents in plan order.
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

// member returns the named agent.
func (s *Swarm) member(name string) (*member, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := s.agents[name]; m != nil {
		return m, nil
	}
	return nil, &UnknownAgentError{Name: name, Near: dropbox.Nearest(name, slices.Sorted(maps.Keys(s.agents)))}
}

// turnsAt returns the records of all agents' turns that were running at the given time.
func (s *Swarm) turnsAt(at time.Time) []*journal.Record {
	var all []*journal.Record
	for _, m := range s.members() {
		if rec := m.turns.Runs.At(at); rec != nil {
			all = append(all, rec)
		}
	}
	return append(all, s.home.AttachedTurns(at)...)
}

// stopping reports whether Run is about to end or has ended.
func (s *Swarm) stopping() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.over || s.run != nil && s.run.stop.Err() != nil
}

// listening is one of the daemon's listeners, together with the channel that wakes its
// goroutine.
type listening struct {
	notice.Listener
	wakeup wakeup

	filed atomic.Bool // a message was filed of whose event the listener may have heard already

	mu    sync.Mutex // locked while the listener hears events, or begins, or ends
	begun *bool      // whether it has a cursor; nil if that is not known yet
}
