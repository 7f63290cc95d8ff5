package turn

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// observed is the sink for the turn's [Observer], which may be nil.
type observed struct{ observe Observer }

func (o observed) event(ev *streamjson.Event) {
	if o.observe != nil {
		o.observe(ev)
	}
}

// promptTaken notices that the client has the prompt, because it has printed an event.
type promptTaken struct {
	turns      *Turns
	memory     *memory
	reinjected bool // the prompt contained the window
	taken      bool
}

func (p *promptTaken) event(ev *streamjson.Event) {
	if p.taken || ev.Kind == streamjson.KindBad {
		return
	}
	p.taken = true
	if p.reinjected {
		// The session now contains the window, regardless of how the turn ends.
		p.turns.Note(p.memory.given())
	}
}

// progress is the sink for what the status says while the model works: that the client waits
// for the API, and how often the model has responded.
type progress struct {
	view  *View
	steps steps
}

func (p *progress) event(ev *streamjson.Event) {
	p.view.retries(retryWhy(ev))
	if p.steps.event(ev) {
		p.view.steps(p.steps.n)
	}
}

// retryWhy returns the reason why the client is waiting before it calls the API again. It
// returns "" if the event is not about a retry.
func retryWhy(ev *streamjson.Event) string {
	r := ev.Retry
	if ev.Kind != streamjson.KindRetry || r == nil {
		return ""
	}
	says := "is not answering"
	if r.Status != 0 {
		says = "answers " + retryCause(r)
	}
	return fmt.Sprintf("the API %s (retry %d of %d)", says, r.Attempt, r.Max)
}

// status is the sink for what the status says about the conversation: the client, its model,
// the size of the context and the last text.
type status struct {
	turns   *Turns
	kind    *runner.Kind
	turn    string
	named   bool // the settings name the model
	unsized bool // the context was compacted, and no request has shown its size since
}

func (s *status) event(ev *streamjson.Event) {
	view := &s.turns.View
	switch ev.Kind {
	case streamjson.KindInit:
		view.learn(ev.Session, "", 0, 0)
		if ev.Init != nil {
			view.client(journal.ClientName(s.kind.Name, ev.Init.Version), ev.Init.Model)
		}
	case streamjson.KindAssistant:
		if tokens, ok := ev.ContextTokens(); ok {
			view.learn("", ev.Model, tokens, 0)
			s.unsized = false
			s.sized()
		}
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockText && ev.Parent == "" {
				view.said(time.Now(), b.Text)
			}
		}
	case streamjson.KindPartial:
		view.streams(true)
	case streamjson.KindCompact:
		s.unsized = true
		view.compacted()
		s.turns.ContextSized(s.turns.name, s.turn, journal.Context{})
	case streamjson.KindResult:
		if ev.Result != nil {
			view.learn("", "", 0, view.limitFor(ev.Result.ContextLimit, s.named))
			s.sized()
		}
	}
}

// sized reports the size of the context, if both the size and the limit are known.
func (s *status) sized() {
	if c := s.turns.View.Picture().Context; c.Percent() >= 0 {
		s.turns.ContextSized(s.turns.name, s.turn, c)
	}
}

// learned is the sink for what the daemon remembers about a client: tools that this version
// does not know, and its session.
type learned struct {
	turns *Turns
	kind  *runner.Kind
	how   string // how the client got its session, as in the record
}

func (l learned) event(ev *streamjson.Event) {
	if ev.Kind != streamjson.KindInit {
		return
	}
	if ev.Init != nil {
		l.turns.Note(l.turns.Unsorted.Add(l.kind, ev.Init.Tools))
	}
	if ev.Session != "" && l.how != string(runner.Continue) {
		l.turns.Note(l.turns.Sessions.Learned(l.turns.name, ev.Session))
	}
}

// fed is the sink for people who follow the turn.
type fed struct {
	feed           Feed
	agent, message string
}

func (f fed) event(ev *streamjson.Event) {
	if ev.Kind == streamjson.KindPartial {
		for _, b := range ev.Blocks {
			if b.Kind != streamjson.BlockText || ev.Parent != "" {
				continue // the log does not contain thinking, and a sub-agent's text is a separate entry
			}
			f.feed.Partial(f.agent, f.message, b.Text)
		}
	}
	if _, raw := f.feed.Wants(f.agent); raw {
		f.feed.Raw(f.agent, f.message, string(ev.Raw))
	}
}
