package claude

import (
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// tasks are the commands and sub-agents that the client runs in parallel with the
// conversation:
//
//	prompt ─ tool call ─ task started ─┬─ task ends ─ tool result ─ result      in the foreground
//	                                   └─ tool result ─ result 1 ─ task ends ─ init ─ result 2
//	                                                                            in the background
//
// A turn with background tasks is not over at its first result, because the client begins
// another turn on its own when such a task ends. Version 2.1.330 lists the background
// tasks, and when a task starts, it reports whether the tool call waits for it. In
// 2.1.197, a task is in the background if its tool result arrives before the task ends.
type tasks struct {
	known     map[string]*task // tasks that have not ended, by ID
	went      bool             // a task has outlived its tool call, so the client may report the end of the task on its own
	delegated bool             // such a task was a sub-agent
	stopped   bool             // the client has stopped a sub-agent while not in a turn
	speaking  bool             // the client is in a turn, either one for our prompt or one that it has begun on its own
}

// A task is a command or a sub-agent.
type task struct {
	call       string // the tool call that began the task
	agent      bool   // the task is a sub-agent, or asks the model in another way
	foreground bool   // the client has reported that the call waits for the task
	behind     bool   // the task runs in the background
}

// spends reports whether a task of this type asks the model: a sub-agent, a workflow, a
// teammate, and every type that this version does not know. Those that do not are commands,
// and monitors, which wait for events. Version 2.1.197 reports some tasks without a type;
// they are commands.
func spends(kind string) bool {
	switch kind {
	case "", "local_bash", "local_command", "monitor_mcp", "monitor_ws":
		return false
	}
	return true
}

// observe handles the client's events about its tasks.
func (ts *tasks) observe(t *streamjson.Task) {
	if t == nil {
		return
	}
	switch t.Phase {
	case "started":
		one := ts.task(t.ID)
		one.call, one.agent, one.foreground = strings.Clone(t.ToolUse), one.agent || spends(t.Type), t.Foreground
	case "notification":
		one := ts.known[t.ID]
		ts.stopped = ts.stopped || one != nil && one.agent && t.Status == "stopped" && !ts.speaking
		delete(ts.known, t.ID)
	case "background":
		for id, one := range ts.known {
			if one.behind && !slices.ContainsFunc(t.Background, func(b streamjson.Task) bool { return b.ID == id }) {
				delete(ts.known, id)
			}
		}
		for _, b := range t.Background {
			one := ts.task(b.ID)
			one.agent = one.agent || spends(b.Type)
			ts.goesOn(one)
		}
	}
}

// task returns the task with the given ID, and records it if it is new.
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

// answered records that the tasks of answered tool calls continue in the background. The
// task of a failed call has ended, and so has a task whose call waited for it.
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

// agents counts the running sub-agents, whether or not their calls wait for them.
func (ts *tasks) agents() int { return ts.count(func(t *task) bool { return t.agent }) }

func (ts *tasks) count(which func(*task) bool) (n int) {
	for _, t := range ts.known {
		if which(t) {
			n++
		}
	}
	return n
}

// none reports whether the client has no tasks whose end it may report in an unrequested
// turn.
func (ts *tasks) none() bool { return len(ts.known) == 0 && !ts.went }

// unfinished reports whether the client was still waiting for a sub-agent, or was still
// in the turn that follows one. A background command does not count, because it may be a
// server and the client's earlier text is an answer.
func (ts *tasks) unfinished() bool {
	return ts.delegated && (ts.speaking || ts.count(func(t *task) bool { return t.behind && t.agent }) > 0)
}

// judged returns the result that decides the verdict: the result of our prompt, or the last
// result if sub-agents continued after it. It returns nil if there is no such result.
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

// command handles the status of our prompt. The status arrives immediately, whereas the
// line that repeats the prompt arrives with the model's first output. If a prompt is
// reported as completed before any turn has begun, the session already contains it.
func (r *follower) command(c *streamjson.Command, now time.Time) {
	if c == nil || c.UUID != r.turn.UUID {
		return
	}
	r.seen.taken = true
	if c.State == "completed" && !r.seen.replay.IsZero() && !r.seen.init && !r.followed && len(r.run.Account.Results()) == 0 {
		r.run.End(promptNotRun(), now)
	}
}

// promptNotRun returns the verdict on a prompt that the client does not run.
func promptNotRun() follow.Verdict {
	return follow.Verdict{End: runner.PromptNotRun, Reason: "the client has already seen this prompt and does not run it",
		Hint: "nothing has to be done: the next attempt has another name"}
}

// capReached terminates the client if a result shows that it has reached its cap. The
// cost of any work that a sub-agent does after that is not included in any result.
func (r *follower) capReached(result *streamjson.Result, now time.Time) {
	usd := capOf(r.turn)
	if !spentUp(result) && (usd == 0 || r.run.Account.CostUSD() < usd) {
		return
	}
	if r.seen.tasks.agents() > 0 {
		r.seen.cut = true
		r.run.Account.Lost()
	}
	r.run.CloseAtOnce(now)
}

// cut reports whether the turn's cap has stopped a sub-agent. If a background sub-agent
// reaches the cap after a result, the client stops it and prints no further result.
func (r *follower) cut() bool {
	return capOf(r.turn) > 0 && (r.seen.cut || r.seen.tasks.stopped)
}
