package supervisor

import (
	"context"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Settings say when an agent counts as stuck. 0 switches a rule off.
type Settings struct {
	Window int // how many steps of the agent, and of each sub-agent, are remembered
	// Interval is the number of steps after which the judge is asked. Without a judge, that
	// many steps without a finding are a clean verdict.
	Interval  int
	Threshold int // how many bad verdicts in a row escalate

	SameCall           int // steps with the same call and result, with no file changed in between
	SameError          int // steps with the same failure
	StepsWithoutChange int // steps in which an agent that may write changes no file
}

// Options are the settings and functions of a Supervisor, which acts only through them.
type Options struct {
	Settings Settings
	// OnWhisper is called with each whisper, OnEscalation with each escalation, in the
	// goroutine of Watch.Event, Watch.End or Run. They must not block, and may not call the
	// Watch of the same agent.
	OnWhisper    func(Whisper)
	OnEscalation func(Escalation)
	// Note gets a line for the log of an agent about what the judge did, and the id of the
	// message that the agent worked on; it may be nil.
	Note func(agent, message, line string)
	// Judge is the model that judges; nil means that only the rules do.
	Judge *Judge
}

// A Supervisor watches the agents of a swarm, each with a [Watch]. It is safe for
// concurrent use.
type Supervisor struct {
	opts  Options
	cases *docket

	mu       sync.Mutex
	settings Settings
	judge    *Judge
	watches  map[string]*Watch
}

// New returns a Supervisor. The rules work at once. The judge works only while Run is
// running.
func New(o Options) *Supervisor {
	if o.Note == nil {
		o.Note = func(string, string, string) {}
	}
	return &Supervisor{opts: o, cases: newDocket(), settings: o.Settings, judge: o.Judge, watches: map[string]*Watch{}}
}

// Run gives the judge one window after another until ctx is done. It blocks, and leaves
// no judgement running when it returns.
func (s *Supervisor) Run(ctx context.Context) {
	for {
		q, ok := s.cases.next(ctx)
		if !ok {
			return
		}
		_, judge := s.inForce()
		if judge == nil { // a reload removed it
			q.watch.judged(q, Verdict{}, false)
			continue
		}
		v, err := judge.ask(ctx, q)
		if ctx.Err() != nil {
			return
		}
		if err != nil {
			s.opts.Note(q.watch.agent, q.message, "the supervisor's model gave no verdict: "+err.Error())
		}
		q.watch.judged(q, v, err == nil)
	}
}

// Configure changes the settings and the judge; nil means no judge.
func (s *Supervisor) Configure(settings Settings, j *Judge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.settings, s.judge = settings, j
}

// inForce returns the current settings and judge.
func (s *Supervisor) inForce() (Settings, *Judge) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.settings, s.judge
}

// Watch returns the watch of an agent, the same one at every call.
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

// A Turn is what a supervisor needs to know about a turn that begins.
type Turn struct {
	ID      string
	Message string       // the id of the message that it works on
	Task    string       // the work in one line, such as the first line of the message
	Tools   runner.Tools // the meaning of the client's tool calls
	Writes  bool         // the agent may change files
}
