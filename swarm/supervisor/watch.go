package supervisor

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Watch watches the turns of one agent, one after another. It is safe for concurrent
// use. For each turn, Begin, Event and End must be called in that order.
type Watch struct {
	sup   *Supervisor
	agent string

	mu      sync.Mutex
	turn    Turn
	session string
	part    int              // changes with each message and compaction
	life    int              // changes when the window and the ladder are reset
	steps   int              // number of the agent's complete steps in this turn; part of the ids
	current map[string]*Step // the unfinished step of each sub-agent, and of the agent itself under the key ""
	window  []*Step          // complete and unfinished steps, oldest first
	idle    int              // number of the agent's steps since a file changed
	due     int              // number of steps since the judge was asked, or since the last finding

	ladder ladder
	heard  bool     // the agent has taken a step since the last whisper
	acted  bool     // the agent has taken a step without a finding since the last whisper
	last   *Finding // the finding that led to the last whisper

	after    *aftermath // since the escalation; nil if the ladder has not escalated
	before   *aftermath // of the last escalation from which a person let the agent continue, or nil
	beforeIn string     // the message of before

	out []any // whispers, escalations and overruns that [Watch.give] passes on once mu is unlocked
}

// Begin is called when a turn begins, or when a later daemon starts to follow it. After
// an escalation, no turn begins until a person lets the agent continue. See Resume.
func (w *Watch) Begin(t Turn) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ladder.over {
		w.reset()
	}
	if t.Message != w.turn.Message {
		w.part++
		w.idle = 0
		w.last = nil // the last whisper was about another message
	}
	if t.ID != w.turn.ID {
		w.steps = 0
	}
	w.turn, w.current = t, map[string]*Step{}
}

// Resume is called when a person lets the agent continue after an escalation. It resets
// the ladder, and earlier steps no longer count.
func (w *Watch) Resume() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reset()
}

func (w *Watch) reset() {
	if w.after != nil {
		w.before, w.beforeIn, w.after = w.after, w.turn.Message, nil
	}
	w.ladder, w.heard, w.acted, w.last = ladder{}, false, false, nil
	w.part++
	w.life++
	w.idle, w.due = 0, 0
}

// Event adds an event of the turn. It does not retain any part of ev.
func (w *Watch) Event(ev *streamjson.Event) {
	w.mu.Lock()
	defer w.give()
	defer w.mu.Unlock()
	if w.turn.Tools == nil {
		return
	}
	if ev.Session != "" && ev.Session != w.session {
		w.renew(strings.Clone(ev.Session))
	}
	switch ev.Kind {
	case streamjson.KindAssistant:
		if !ev.Synthetic && ev.Error == "" && ev.Model != streamjson.ModelSynthetic {
			w.says(ev)
		}
	case streamjson.KindUser:
		w.answers(ev)
	case streamjson.KindCompact:
		w.part++ // the agent may have to read everything again
	case streamjson.KindResult:
		w.close()
	}
}

// End is called when the turn has ended. If at least two bad verdicts have been counted,
// the next one escalates, and the agent has taken no good step since the last whisper, the
// end of the turn counts as that verdict, because the next turn would continue in the same
// way. This applies only if the last whisper was about repeated calls or failures of the
// agent itself.
func (w *Watch) End() {
	w.mu.Lock()
	defer w.give()
	defer w.mu.Unlock()
	w.close()
	settings, _ := w.sup.inForce()
	if w.ladder.last(settings.Threshold) && !w.acted && w.last != nil && w.last.retries() > 0 && !w.last.Sub {
		w.bad(settings, *w.last, Verdict{})
	}
}

// renew starts a new session.
func (w *Watch) renew(session string) {
	if w.session != "" {
		w.reset()
		w.window = nil
	}
	w.session = session
	clear(w.current)
}

// says adds a message from the agent, or a part of one.
func (w *Watch) says(ev *streamjson.Event) {
	if len(ev.Blocks) == 0 {
		return
	}
	s := w.current[ev.Parent]
	switch {
	case s == nil:
	case ev.MessageID != "" && ev.MessageID == s.reply:
	case ev.MessageID == "" && s.reply == "" && !slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Done }):
	default:
		w.complete(s)
		s = nil
	}
	if s == nil {
		s = &Step{Parent: strings.Clone(ev.Parent), reply: strings.Clone(ev.MessageID), part: w.part}
		w.current[s.Parent] = s
		w.push(s)
	}
	for i := range ev.Blocks {
		switch b := &ev.Blocks[i]; b.Kind {
		case streamjson.BlockText:
			if room := mostText - len(s.Text); room > 0 {
				s.Text = strings.TrimSpace(s.Text + " " + screen.Short(b.Text, room))
			}
		case streamjson.BlockToolUse:
			s.Calls = append(s.Calls, newCall(w.turn.Tools, b))
		}
	}
}

// push adds a step to the window. If the window has too many steps of the same agent or
// sub-agent, push drops the oldest of them. If the total number of steps is too large,
// push drops the oldest step in the window.
func (w *Watch) push(s *Step) {
	settings, _ := w.sup.inForce()
	w.window = append(w.window, s)
	mine := 0
	for _, other := range w.window {
		if other.Parent == s.Parent {
			mine++
		}
	}
	i := 0
	if mine > settings.Window {
		i = slices.IndexFunc(w.window, func(other *Step) bool { return other.Parent == s.Parent })
	} else if len(w.window) <= 10*settings.Window { // room for the steps of ten sub-agents
		return
	}
	w.window = slices.Delete(w.window, i, i+1)
}

// answers adds the results of tool calls.
func (w *Watch) answers(ev *streamjson.Event) {
	for i := range ev.Blocks {
		b := &ev.Blocks[i]
		if b.Kind != streamjson.BlockToolResult {
			continue
		}
		for _, s := range w.window {
			for j := range s.Calls {
				if c := &s.Calls[j]; c.id == b.ID && !c.Done {
					c.answer(b)
					c.fresh = w.fresh(s, c)
					if !s.open() {
						w.complete(s)
					}
				}
			}
		}
	}
}

// fresh reports whether no other call in the same part, by the same agent or sub-agent,
// has the same input and result as c. The parameter "of" is the step that contains c.
func (w *Watch) fresh(of *Step, c *Call) bool {
	for _, s := range w.window {
		if s.part != of.part || s.Parent != of.Parent {
			continue
		}
		for i := range s.Calls {
			if d := &s.Calls[i]; d != c && d.Done && d.input == c.input && d.result == c.result {
				return false
			}
		}
	}
	return true
}

// close completes all unfinished steps.
func (w *Watch) close() {
	for _, s := range w.current {
		w.complete(s)
	}
	clear(w.current)
}

// complete judges a complete step. If the client adds another call to a step, the step
// becomes complete a second time but is judged only once.
func (w *Watch) complete(s *Step) {
	if s.seen {
		return
	}
	s.seen = true
	settings, judge := w.sup.inForce()
	own := s.Parent == ""
	f, bad := w.trouble(s, settings)
	if own {
		w.steps++
		w.heard = true
		if !bad && slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Done }) {
			w.acted = true
		}
	}
	stuck := w.stuckWithoutChange(settings)
	switch {
	case w.ladder.over:
		w.goesOn(settings, f, bad)
	case bad && !own && w.ladder.bad > 0 && !w.heard: // the agent cannot have read the last whisper
	case bad && judge != nil:
		w.due = 0
		w.ask(&f)
	case bad:
		w.due = 0
		w.bad(settings, f, Verdict{})
	case !own || len(s.Calls) == 0 && judge == nil || stuck && judge == nil:
	default:
		if w.due++; settings.Interval == 0 || w.due < settings.Interval {
			return
		}
		w.due = 0
		if judge != nil {
			w.ask(nil)
		} else {
			w.ladder.clean()
		}
	}
}

// trouble applies the rules to a complete step.
func (w *Watch) trouble(s *Step, settings Settings) (Finding, bool) {
	if s.changes() {
		w.idle = 0
	} else if s.Parent == "" && s.counts() {
		w.idle++
		if w.stuckWithoutChange(settings) && w.idle%settings.StepsWithoutChange == 0 {
			return Finding{Rule: StepsWithoutChange, Count: w.idle}, true
		}
	}
	i := slices.Index(w.window, s)
	if i < 0 { // the window is full of newer steps
		return Finding{}, false
	}
	return flagged(w.window[:i+1], settings)
}

func (w *Watch) stuckWithoutChange(s Settings) bool {
	return s.StepsWithoutChange > 0 && w.turn.Writes && w.idle >= s.StepsWithoutChange
}

// bad handles a bad verdict from the rules or the judge. v contains the judge's message,
// if there is one.
func (w *Watch) bad(settings Settings, f Finding, v Verdict) {
	if v.Action == Escalate && w.ladder.bad == 0 && settings.Threshold > 2 {
		w.ladder.bad = 1 // the agent gets one whisper as a last warning before a person is asked to decide
	} else if v.Action == Escalate && w.ladder.bad > 0 {
		w.ladder.bad = max(w.ladder.bad, settings.Threshold-1)
	}
	r := w.ladder.down(settings.Threshold)
	w.heard, w.acted, w.last = false, false, &f
	id := fmt.Sprintf("%s-%d-%d", w.turn.ID, w.steps, w.ladder.bad)
	switch r {
	case first, stronger:
		out := Whisper{ID: id, Agent: w.agent, Turn: w.turn.ID, Action: Correction, Message: v.Message, Rung: int(r)}
		if v.Action == ThinkDeeper {
			out.Action = ThinkDeeper
		}
		if v.Message == "" {
			out.Message = f.advice(r == stronger)
		} else if r == stronger {
			out.Message += again
		}
		w.out = append(w.out, out)
	case escalate:
		f.Earlier = w.earlier(f)
		w.after = &aftermath{id: id, finding: f, verdict: v, earlier: f.Earlier}
		w.out = append(w.out, Escalation{ID: id, Agent: w.agent, Turn: w.turn.ID, Task: w.turn.Task, Retries: f.retries(), Why: f.why(v), Details: f.details(v)})
	}
}

// ask adds the window to the judge's docket. f is the finding of the rules, or nil.
func (w *Watch) ask(f *Finding) {
	w.sup.cases.add(&question{watch: w, message: w.turn.Message, life: w.life, finding: f, prompt: describe(w.agent, w.turn, w.window, f)})
}

// judged handles the judge's verdict. If the verdict is unusable, the finding of the rules
// is used instead. A verdict about an earlier message, or about steps before a reset, is
// ignored.
func (w *Watch) judged(q *question, v Verdict, usable bool) {
	w.mu.Lock()
	defer w.give()
	defer w.mu.Unlock()
	settings, _ := w.sup.inForce()
	switch {
	case q.message != w.turn.Message || q.life != w.life:
	case usable && v.Action != OK:
		f := Finding{Rule: ByJudge}
		if q.finding != nil {
			f = *q.finding
		}
		w.bad(settings, f, v)
	case !usable && q.finding != nil:
		w.bad(settings, *q.finding, Verdict{})
	case !usable && w.stuckWithoutChange(settings): // the agent is stuck, although no rule flagged this step
	default:
		w.ladder.clean()
	}
}

// give empties w.out, and passes each whisper, escalation and overrun to its function in the
// options.
func (w *Watch) give() {
	w.mu.Lock()
	out := w.out
	w.out = nil
	w.mu.Unlock()
	for _, o := range out {
		switch o := o.(type) {
		case Whisper:
			w.sup.opts.OnWhisper(o)
		case Escalation:
			w.sup.opts.OnEscalation(o)
		case Overrun:
			w.sup.opts.OnOverrun(o)
		}
	}
}
