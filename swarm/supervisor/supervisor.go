package supervisor

import (
	"context"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Settings determine when an agent is considered stuck. The tags are those of the
// configuration's keys; see package config.
type Settings struct {
	// Window is the number of steps remembered for the agent and for each sub-agent.
	Window int `key:"window_size" most:"200" default:"20" doc:"How many steps are judged. A step is one message of the agent with the results of its tool calls."`
	// Interval is the number of steps after which the judge is asked. Without a judge, this
	// number of steps without a finding counts as a clean verdict.
	Interval int `key:"eval_interval" most:"200" default:"5" doc:"The model judges after this many steps. Without a model, this many steps without a finding are a clean verdict."`
	// Threshold is the number of consecutive bad verdicts that lead to an escalation.
	Threshold int `key:"escalation_threshold" most:"20" default:"3" doc:"How many bad verdicts in a row escalate: you are notified, and the agent is paused. For earlier bad verdicts, the agent only gets a whisper."`

	// InterruptAfter is the number of steps that an agent may take in its turn after an
	// escalation. Then OnOverrun is called. If it is 0, the turn is not interrupted.
	InterruptAfter int `key:"interrupt_after" type:"number or null" zero:"to switch it off" most:"1000" default:"10" doc:"After an escalation, the agent's running turn is interrupted when it has taken this many more steps, or after 2 minutes; the session stays, and the message waits. null: the turn goes on to its end."`

	Rules `key:"rules" default:"{same_call: 3, same_error: 3, steps_without_change: 30}" doc:"When an agent counts as stuck: in how many steps the same call has the same result, or the same failure, or no file is changed; see docs/supervisor.md. 0 switches a rule off; with all of them off and no model, nothing is supervised."`
}

// Rules contains the limits of the rules, in steps. A limit of 0 disables its rule.
type Rules struct {
	SameCall           int `key:"same_call" least:"2" most:"200" zero:"to switch it off" default:"3"`  // with the same call and result, and no file change in between
	SameError          int `key:"same_error" least:"2" most:"200" zero:"to switch it off" default:"3"` // with the same failure
	StepsWithoutChange int `key:"steps_without_change" least:"2" zero:"to switch it off" default:"30"` // in which an agent that may write does not change a file
}

// Options contains the settings and functions of a Supervisor. A Supervisor acts only
// through these functions.
type Options struct {
	Settings Settings
	// OnWhisper is called with each whisper, and OnEscalation with each escalation, in the
	// goroutine of Watch.Event, Watch.End or Run. They must not block, and must not call
	// the Watch of the same agent.
	OnWhisper    func(Whisper)
	OnEscalation func(Escalation)
	// OnOverrun is called once in each turn that goes on for too long after an escalation,
	// under the same conditions. It may be nil.
	OnOverrun func(Overrun)
	// Note is called with a line about the judge for an agent's log, and the id of the
	// message that the agent was working on. It may be nil.
	Note func(agent, message, line string)
	// Judge is the model that judges the steps. If it is nil, only the rules are used.
	Judge *Judge
}

// A Supervisor watches the agents of a swarm, using a [Watch] for each agent. It is safe
// for concurrent use.
type Supervisor struct {
	opts  Options
	cases *docket

	mu       sync.Mutex
	settings Settings
	judge    *Judge
	watches  map[string]*Watch
}

// New returns a Supervisor. The rules are active immediately. The judge is active only
// while Run is running.
func New(o Options) *Supervisor {
	if o.Note == nil {
		o.Note = func(string, string, string) {}
	}
	if o.OnOverrun == nil {
		o.OnOverrun = func(Overrun) {}
	}
	return &Supervisor{opts: o, cases: newDocket(), settings: o.Settings, judge: o.Judge, watches: map[string]*Watch{}}
}

// Run passes one window after another to the judge until ctx is done. It blocks, and no
// call to the judge is in progress when it returns.
func (s *Supervisor) Run(ctx context.Context) {
	for {
		q, ok := s.cases.next(ctx)
		if !ok {
			return
		}
		_, judge := s.inForce()
		if judge == nil { // a reload removed the judge
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

// Watch returns the watch of an agent. It returns the same watch on every call.
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

// A Turn contains the data that a supervisor needs about a new turn.
type Turn struct {
	ID      string
	Message string       // the id of the message that the turn works on
	Task    string       // the work in one line, such as the first line of the message
	Tools   runner.Tools // interprets the client's tool calls
	Writes  bool         // the agent may change files
}
