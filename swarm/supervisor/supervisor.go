package supervisor

import (
	"context"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Settings say when an agent is stuck. 0 switches a rule off.
type Settings struct {
	Window    int // how many steps are remembered of the agent, and of each sub-agent
	Interval  int // the judge looks after that many steps; without a judge that many steps without a trouble are a clean verdict
	Threshold int // the bad verdict in a row that escalates

	SameCall           int // steps with the same call and result, with no file changed between
	SameError          int // steps with the same failure
	StepsWithoutChange int // steps in which an agent that may write changes no file
}

// Options are what a Supervisor is given. It can do nothing else.
type Options struct {
	Settings Settings
	// OnWhisper is called with each whisper, OnEscalation with each escalation, in the
	// goroutine of Watch.Event, Watch.End or Run. They must not block, and may not call the
	// Watch of the same agent.
	OnWhisper    func(Whisper)
	OnEscalation func(Escalation)
	// Note gets a line for the log of an agent about what the judge did; it may be nil.
	Note func(agent, line string)
	// Judge is the model that judges; nil: the rules alone.
	Judge *Judge
}

// A Supervisor watches the agents of a swarm, each by a [Watch]. It is safe for several
// goroutines.
type Supervisor struct {
	opts  Options
	cases *docket

	mu       sync.Mutex
	settings Settings
	judge    *Judge
	watches  map[string]*Watch
}

// New returns a Supervisor. The rules work at once, and the judge while Run runs.
func New(o Options) *Supervisor {
	if o.Note == nil {
		o.Note = func(string, string) {}
	}
	return &Supervisor{opts: o, cases: newDocket(), settings: o.Settings, judge: o.Judge, watches: map[string]*Watch{}}
}

// Run lets the judge judge, one window after the other, until ctx is done. It blocks, and
// leaves no judgement running when it returns.
func (s *Supervisor) Run(ctx context.Context) {
	for {
		q, ok := s.cases.next(ctx)
		if !ok {
			return
		}
		_, judge := s.inForce()
		if judge == nil { // a reload took it away
			q.watch.judged(q, Verdict{}, false)
			continue
		}
		v, err := judge.ask(ctx, q)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.opts.Note(q.watch.agent, "the supervisor's model gave no verdict: "+err.Error())
		}
		q.watch.judged(q, v, err == nil)
	}
}

// Configure changes the settings and the judge, as after a reload. nil is no judge.
func (s *Supervisor) Configure(settings Settings, j *Judge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.judge = settings, j
}

// inForce returns the settings and the judge of now.
func (s *Supervisor) inForce() (Settings, *Judge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings, s.judge
}

// Watch returns the watch of an agent, which is the same at every call.
func (s *Supervisor) Watch(agent string) *Watch {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := s.watches[agent]
	if w == nil {
		w = &Watch{sup: s, agent: agent}
		s.watches[agent] = w
	}
	return w
}

// Forget drops the watch of an agent that is no longer in the configuration.
func (s *Supervisor) Forget(agent string) {
	s.mu.Lock()
	w := s.watches[agent]
	delete(s.watches, agent)
	s.mu.Unlock()
	s.cases.drop(w)
}

// A Turn is a turn that begins, as far as its supervisor needs to know it.
type Turn struct {
	ID      string
	Message string       // the id of the message that it works on
	Task    string       // what a person would call the work, such as the first line of the message
	Tools   runner.Tools // the meaning of the client's tool calls
	Writes  bool         // the agent may change files
}
