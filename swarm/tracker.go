package swarm

import (
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/window"
)

// tracker follows the events of one turn: into the window, the status, the log
// and the feed. It belongs to the goroutine that runs the turn.
type tracker struct {
	agent       *agent
	id          string // message
	memory      *memory
	rec         *record
	compactions compactions
	begun       func() // called once the client runs; nil when it ran before
	heard       bool   // the client has said something: it has the prompt
	unrecorded  error  // why the record could not be made durable; nothing was sent then
}

// started makes the claim and the record durable before the prompt is sent. The
// client starts meanwhile, and without a prompt it does nothing.
func (t *tracker) started(p runner.Process) error {
	t.rec.Process = p
	if t.unrecorded = t.agent.box.SyncClaims(); t.unrecorded == nil {
		t.unrecorded = t.rec.write(t.agent.home)
	}
	if t.unrecorded != nil {
		return t.unrecorded
	}
	t.begun()
	t.agent.view.process(p.PID)
	t.agent.note(writePIDFile(t.agent.home.PIDFile(t.agent.name), p, t.rec.mark()))
	return nil
}

func (t *tracker) event(ev *streamjson.Event) {
	a := t.agent
	ev = a.hidden.event(ev)
	if !t.heard && ev.Kind != streamjson.KindBad {
		t.heard = true
		if t.rec.Reinjected {
			// The prompt carried it: whatever comes of the turn, the session
			// has it now.
			a.note(t.memory.given())
		}
	}
	a.view.asksAgain(againWhy(ev))
	switch ev.Kind {
	case streamjson.KindInit:
		a.view.learn(ev.Session, ev.Model, 0, 0)
		if ev.Session != "" && t.rec.How != string(runner.Continue) {
			a.note(a.sessions.learned(a.name, ev.Session))
		}
	case streamjson.KindAssistant:
		t.assistant(ev)
	case streamjson.KindPartial:
		a.view.streams(true)
		for _, b := range ev.Blocks {
			if b.Kind != streamjson.BlockText || ev.Parent != "" {
				continue // the log has no thoughts, and a sub-agent's text stands apart
			}
			a.feed.publish(FeedEvent{Kind: FeedPartial, At: time.Now().UTC(), Agent: a.name, ID: t.id, Text: b.Text})
		}
	case streamjson.KindHook:
		t.compactions.hook(ev.Hook)
	case streamjson.KindCompact:
		pending, err := t.compactions.boundary(t.memory.win)
		a.note(err)
		a.note(t.memory.setPending(pending))
	case streamjson.KindResult:
		if ev.Result != nil {
			a.view.learn("", "", 0, a.view.limitFor(ev.Result.ContextLimit, t.agent.spec().Client.Model != ""))
		}
	}
	if a.feed.wanted(FeedRaw, a.name) {
		a.feed.publish(FeedEvent{Kind: FeedRaw, At: time.Now().UTC(), Agent: a.name, ID: t.id, Text: string(ev.Raw)})
	}
	logEvent(a.diary, t.id, t.memory.tools, ev)
	t.memory.event(ev)
}

// againWhy says what the client waits for when it is about to ask the API again; "" for
// every other event.
func againWhy(ev *streamjson.Event) string {
	r := ev.Retry
	if ev.Kind != streamjson.KindRetry || r == nil {
		return ""
	}
	says := "does not answer"
	if r.Status != 0 {
		says = "answers " + retryCause(r)
	}
	return fmt.Sprintf("the API %s (retry %d of %d)", says, r.Attempt, r.Max)
}

func (t *tracker) assistant(ev *streamjson.Event) {
	a := t.agent
	if tokens, ok := ev.ContextTokens(); ok {
		a.view.learn("", ev.Model, tokens, 0)
	}
	for _, b := range ev.Blocks {
		switch {
		case b.Kind == streamjson.BlockText && ev.Parent == "":
			a.view.said(time.Now(), b.Text)
		case b.Kind == streamjson.BlockToolUse:
			// A sub-agent's writes are the agent's own too.
			a.wroteFile(b.Name, b.Input)
			a.reach.called(a, b.Input)
		}
	}
}

// end takes the secrets out of what came of the turn, and keeps the window as the turn
// left it. The client may stay.
func (t *tracker) end(out *runner.Outcome, stays bool) {
	a := t.agent
	a.hidden.outcome(out)
	if t.heard {
		a.note(t.memory.save(t.rec.Turn))
	}
	a.view.learn(out.Session, out.Model, out.ContextTokens, 0)
	out.ContextLimit = a.view.limitFor(out.ContextLimit, a.spec().Client.Model != "")
	a.view.learn("", "", 0, out.ContextLimit)
	a.view.process(0)
	if !stays {
		removePIDFile(a.home.PIDFile(a.name))
	}
}

// window40 bounds an agent's window, in bytes.
func window40(s Spec) int { return window.Limit(s.windowTokens(), s.Client.CompactWindow) }

// wroteFile notes a file that a tool is about to write into the mailbox's
// folder: when it comes to rest there it is the agent's work, not its mail.
func (a *agent) wroteFile(tool string, input []byte) {
	path := a.kind().Tools.Changes(tool, input)
	if path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(a.spec().Client.Dir, path)
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if !sameFolder(strings.TrimSuffix(dir, "/"), filepath.Join(a.store.Dir(), a.name)) {
		return
	}
	a.reins.mu.Lock()
	defer a.reins.mu.Unlock()
	if a.reins.wrote == nil {
		a.reins.wrote = map[string]time.Time{}
	}
	a.reins.wrote[name] = time.Now()
}
