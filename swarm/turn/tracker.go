package turn

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A tracker passes the events of one turn to the window, the status, the log and the
// feed. Only the goroutine that runs the turn uses it.
type tracker struct {
	turns       *Turns
	settings    Settings
	kind        *runner.Kind
	memory      *memory
	rec         *journal.Record
	compactions compactions
	begun       func()   // called after the client has started; may be nil
	observe     Observer // may be nil
	steps       steps
	unsized     bool  // the context was compacted, and no request has shown its size since
	fallen      int   // number of compactions that were detected only by the context size
	bad         int   // number of lines from the client that are not messages
	heard       bool  // the client has printed an event, so it has received the prompt
	unrecorded  error // error if the record could not be made durable; if set, no prompt was sent
}

// track returns the tracker for the turn with this record.
func (t *Turns) track(s Settings, mem *memory, rec *journal.Record, begun func()) *tracker {
	kind := t.kind(s)
	follow := &tracker{
		turns: t, settings: s, kind: kind, memory: mem, rec: rec, begun: begun,
		compactions: compactions{home: t.Home, hooks: kind.Hooks, turn: rec.Turn, reinjected: rec.Reinjected},
	}
	follow.watchSize()
	return follow
}

// started makes the record durable before the prompt is sent. At this point the client is
// starting, but it does nothing without a prompt.
func (t *tracker) started(p runner.Process) error {
	t.rec.Process = p
	t.turns.Runs.started(p) // first, so that Restore does not replace the record with one that lacks the process
	if t.unrecorded = t.rec.Write(t.turns.Home); t.unrecorded != nil {
		return t.unrecorded
	}
	if t.begun != nil {
		t.begun()
	}
	t.turns.View.process(p.PID)
	t.turns.Note(journal.WritePIDFile(t.turns.Home.PIDFile(t.turns.name), p, t.rec.Mark()))
	return nil
}

func (t *tracker) event(ev *streamjson.Event) {
	ev = t.turns.secrets.event(t.kind, ev)
	if t.observe != nil {
		t.observe(ev)
	}
	if !t.heard && ev.Kind != streamjson.KindBad {
		t.heard = true
		if t.rec.Reinjected {
			// The prompt contained the window, so the session now contains it, regardless
			// of how the turn ends.
			t.turns.Note(t.memory.given())
		}
	}
	t.turns.View.retries(retryWhy(ev))
	if t.steps.event(ev) {
		t.turns.View.steps(t.steps.n)
	}
	switch ev.Kind {
	case streamjson.KindInit:
		t.turns.View.learn(ev.Session, "", 0, 0)
		if ev.Init != nil {
			t.turns.View.client(journal.ClientName(t.kind.Name, ev.Init.Version), ev.Init.Model)
			t.turns.Note(t.turns.Unsorted.Add(t.kind, ev.Init.Tools))
		}
		if ev.Session != "" && t.rec.How != string(runner.Continue) {
			t.turns.Note(t.turns.Sessions.Learned(t.turns.name, ev.Session))
		}
	case streamjson.KindAssistant:
		t.assistant(ev)
	case streamjson.KindUser:
		for _, b := range ev.Blocks {
			if b.Kind == streamjson.BlockToolResult {
				t.turns.Calls.Ended(t.turns.name, b.ID)
			}
		}
	case streamjson.KindPartial:
		t.turns.View.streams(true)
		for _, b := range ev.Blocks {
			if b.Kind != streamjson.BlockText || ev.Parent != "" {
				continue // the log does not contain thinking, and a sub-agent's text is a separate entry
			}
			t.turns.Feed.Partial(t.turns.name, t.rec.Message, b.Text)
		}
	case streamjson.KindBad:
		t.logBad(ev)
	case streamjson.KindHook:
		t.compactions.hook(ev)
	case streamjson.KindCompact:
		pending, err := t.compactions.boundary(t.memory.win)
		t.turns.Note(err)
		t.turns.Note(t.memory.setPending(pending))
		t.unsized = true
		t.turns.View.compacted()
		t.turns.ContextSized(t.turns.name, t.rec.Turn, journal.Context{})
	case streamjson.KindResult:
		if ev.Result != nil {
			t.turns.View.learn("", "", 0, t.turns.View.limitFor(ev.Result.ContextLimit, t.settings.Client.Model != ""))
			t.sized()
		}
	}
	if _, raw := t.turns.Feed.Wants(t.turns.name); raw {
		t.turns.Feed.Raw(t.turns.name, t.rec.Message, string(ev.Raw))
	}
	logEvent(t.turns.agentLog, t.rec.Message, t.memory.tools, ev)
	t.memory.event(ev)
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

func (t *tracker) assistant(ev *streamjson.Event) {
	t.contextSeen(ev)
	if tokens, ok := ev.ContextTokens(); ok {
		t.turns.View.learn("", ev.Model, tokens, 0)
		t.unsized = false
		t.sized()
	}
	for _, b := range ev.Blocks {
		switch {
		case b.Kind == streamjson.BlockText && ev.Parent == "":
			t.turns.View.said(time.Now(), b.Text)
		case b.Kind == streamjson.BlockToolUse:
			// A file written by a sub-agent counts as written by the agent.
			t.noteFile(b.Name, b.Input)
			if !t.memory.tools.Looks(b.Name, b.Input) {
				t.turns.Calls.Began(t.rec, b.ID, b.Input, outlives(t.memory.tools.Runs(b.Name, b.Input), b.Input))
			}
		}
	}
}

// sized reports the size of the context, if both the size and the limit are known.
func (t *tracker) sized() {
	if c := t.turns.View.Picture().Context; c.Percent() >= 0 {
		t.turns.ContextSized(t.turns.name, t.rec.Turn, c)
	}
}

// end removes the secrets from the outcome of the turn, saves the window, and updates the
// status. The parameter stays reports whether the client is kept for the next turn.
func (t *tracker) end(out *runner.Outcome, stays bool) {
	t.turns.Calls.TurnEnded(t.turns.name)
	t.turns.secrets.outcome(out)
	out.Compactions += t.fallen
	if t.heard {
		t.turns.Note(t.memory.save(t.rec.Turn))
	}
	tokens := out.ContextTokens
	if t.unsized {
		tokens = 0 // the size before the compaction
	}
	t.turns.View.learn(out.Session, out.Model, tokens, 0)
	t.turns.View.billing(out.Billing)
	out.ContextLimit = t.turns.View.limitFor(out.ContextLimit, t.settings.Client.Model != "")
	t.turns.View.learn("", "", 0, out.ContextLimit)
	t.sized()
	t.turns.View.process(0)
	if !stays {
		journal.RemovePIDFile(t.turns.Home.PIDFile(t.turns.name))
	}
}

// background matches a command line that leaves a program running.
var background = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(^|[^&>|])&([^&>]|$)|\b(nohup|setsid|disown)\b`)
})

// outlives reports whether a call may leave a program running when it has ended.
func outlives(command string, input []byte) bool {
	return bytes.Contains(input, []byte(`"run_in_background":true`)) || background().MatchString(command)
}

// noteFile records the file that a tool call is about to write, if it is in the mailbox's
// folder.
func (t *tracker) noteFile(tool string, input []byte) {
	path := t.memory.tools.Changes(tool, input)
	if path == "" {
		return
	}
	if !filepath.IsAbs(path) {
		path = filepath.Join(t.settings.Client.Dir, path)
	}
	dir, name := filepath.Split(filepath.Clean(path))
	if sameFolder(strings.TrimSuffix(dir, "/"), filepath.Join(t.turns.Mailboxes, t.turns.name)) {
		t.turns.Runs.noteFile(name)
	}
}

// sameFolder reports whether two paths refer to the same folder, even if one of them
// contains a symlink.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	x, err1 := os.Stat(a)
	y, err2 := os.Stat(b)
	return err1 == nil && err2 == nil && os.SameFile(x, y)
}
