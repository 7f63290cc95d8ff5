package claude

import (
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// Commands and sub-agents that the client minds beside the conversation:
//
//	prompt ─ tool call ─ task started ─┬─ task ends ─ tool result ─ result      in the foreground
//	                                   └─ tool result ─ result 1 ─ task ends ─ init ─ result 2
//	                                                                            in the background
//
// A turn with tasks in the background is not over at its first result: the client
// begins a turn by itself when one ends. Version 2.1.330 lists the tasks that are in the
// background, and says of each whether its call waits for it; of 2.1.197 it is known by
// the tool result that comes before the task ends.
type tasks struct {
	known     map[string]*task // those that have not ended, by their ID
	went      bool             // one went on behind its tool call: the client may speak of it by itself
	delegated bool             // that was a sub-agent
	speaking  bool             // the client is in a turn, its own or that of our prompt
}

// A task is a command or a sub-agent.
type task struct {
	call       string // the tool call that began it
	agent      bool   // it is a sub-agent
	foreground bool   // the client says that the call waits for it
	behind     bool   // it runs in the background
}

const agentTask = "local_agent"

// observe handles the client's events about its tasks.
func (ts *tasks) observe(t *streamjson.Task) {
	if t == nil {
		return
	}
	switch t.Phase {
	case "started":
		one := ts.task(t.ID)
		one.call, one.agent, one.foreground = strings.Clone(t.ToolUse), one.agent || t.Type == agentTask, t.Foreground
	case "notification":
		delete(ts.known, t.ID)
	case "background":
		for id, one := range ts.known {
			if one.behind && !slices.ContainsFunc(t.Background, func(b streamjson.Task) bool { return b.ID == id }) {
				delete(ts.known, id)
			}
		}
		for _, b := range t.Background {
			one := ts.task(b.ID)
			one.agent = one.agent || b.Type == agentTask
			ts.goesOn(one)
		}
	}
}

// task is the task with this ID.
func (ts *tasks) task(id string) *task {
	if ts.known == nil {
		ts.known = make(map[string]*task)
	}
	one := ts.known[id]
	if one == nil {
		one = new(task)
		ts.known[strings.Clone(id)] = one
	}
	return one
}

func (ts *tasks) goesOn(one *task) {
	one.behind, ts.went = true, true
	ts.delegated = ts.delegated || one.agent
}

// answered notes tool calls that were answered while their tasks go on. A call that
// failed has no task any more, nor has one that waited for it.
func (ts *tasks) answered(blocks []streamjson.Block) {
	for _, b := range blocks {
		if b.Kind != streamjson.BlockToolResult {
			continue
		}
		for id, one := range ts.known {
			switch {
			case one.call != b.ID || one.behind:
			case b.Failed || one.foreground:
				delete(ts.known, id)
			default:
				ts.goesOn(one)
			}
		}
	}
}

// behind counts the tasks that run in the background.
func (ts *tasks) behind() int { return ts.count(func(t *task) bool { return t.behind }) }

func (ts *tasks) count(which func(*task) bool) (n int) {
	for _, t := range ts.known {
		if which(t) {
			n++
		}
	}
	return n
}

// none reports whether the client has nothing of which it may speak by itself.
func (ts *tasks) none() bool { return len(ts.known) == 0 && !ts.went }

// unfinished reports whether the client still had to hear of a sub-agent. A command in
// the background is not waited for in the same way: it may be a server, and what the
// client said before is an answer.
func (ts *tasks) unfinished() bool {
	return ts.delegated && (ts.speaking || ts.count(func(t *task) bool { return t.behind && t.agent }) > 0)
}

// judged is the result by which the turn is judged: its own; the last one, where
// sub-agents went on behind that; nil, where the client has ended without one of these.
func (r *follower) judged() *streamjson.Result {
	own := r.own()
	switch {
	case own == nil || r.seen.tasks.unfinished():
		return nil
	case !r.seen.tasks.delegated:
		return own
	}
	results := r.run.Account.Results()
	return &results[len(results)-1]
}

// command takes in what became of our prompt. It comes at once, where the line that
// repeats the prompt waits for the first that the model says. A prompt that is completed
// before any turn has begun is one that the session knows.
func (r *follower) command(c *streamjson.Command, now time.Time) {
	if c == nil || c.UUID != r.turn.UUID {
		return
	}
	r.seen.taken = true
	if c.State == "completed" && !r.seen.replay.IsZero() && !r.seen.init && !r.followed && len(r.run.Account.Results()) == 0 {
		r.run.End(promptNotRun(), now)
	}
}

// promptNotRun is the verdict on a prompt that the client does not run.
func promptNotRun() follow.Verdict {
	return follow.Verdict{End: runner.PromptNotRun, Reason: "the client knows this prompt already and does not run it",
		Hint: "nothing has to be done: the next attempt has another name"}
}
