package notice

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Stopped: the daemon stopped an agent, which waits for a person.
type Stopped struct {
	Agent, Why string
	Hint       string // what lets the agent continue
	Since      time.Time
}

func (f Stopped) told() told {
	return told{
		Event: journal.Event{
			Key: "stopped:" + f.Agent + ":" + f.Since.Format(time.RFC3339), Agent: f.Agent,
			Notice: &journal.Notice{Why: "is stopped: " + f.Why, Next: "To continue: " + f.Hint, Held: true},
		},
		subject: f.Agent + " is stopped",
		body:    fmt.Sprintf("%s is stopped: %s.\n\nIts mail waits. To continue: %s\n", f.Agent, f.Why, f.Hint),
	}
}

// TooManyTurns: the daemon paused an agent that began too many turns without a person.
type TooManyTurns struct {
	Agent, Why           string
	Since                time.Time
	Message, From, Title string // the message that waits: its id, its sender, and what it is, on one line
}

func (f TooManyTurns) told() told {
	return told{
		Event: journal.Event{
			Key: "turns:" + f.Agent + ":" + f.Since.Format(time.RFC3339Nano), Agent: f.Agent,
			Notice: &journal.Notice{Why: "is paused: " + f.Why, Next: "To let it continue: claude-swarm resume " + f.Agent, Held: true},
		},
		subject: f.Agent + " is paused: too many turns",
		body: fmt.Sprintf(
			"%s is paused: %s.\n\nIts mail waits. The next message would have been %s from %s: %s\n\nWhat it did: claude-swarm history %s\nTo let it continue: claude-swarm resume %s\n",
			f.Agent, f.Why, f.Message, f.From, f.Title, f.Agent, f.Agent),
	}
}

// Limited: the agents of an account wait until its usage limit, or an outage, ends.
type Limited struct {
	Agent   string // the one that found the limit
	Agents  []string
	Account string
	Limit   journal.Limit
	Until   time.Time
}

func (f Limited) told() told {
	l, all := f.Limit, strings.Join(f.Agents, ", ")
	how := "until " + screen.Ahead(f.Until, time.Now())
	if l.Open {
		how = fmt.Sprintf("for %s at first, then for longer each time, up to %s", screen.Took(journal.FirstWait), screen.Took(journal.LongestWait))
	}
	todo := ""
	if l.Hint != "" {
		todo = "\nWhat to do: " + l.Hint + ".\n"
	}
	wait := "wait "
	if len(f.Agents) == 1 {
		wait = "waits "
	}
	why := strings.TrimRight(l.Why, ".")
	return told{
		Event: journal.Event{
			Key: fmt.Sprintf("limited:%s:%s:%d", f.Account, l.Since.UTC().Format(time.RFC3339Nano), len(l.Hints)), Agent: f.Agent,
			Notice: &journal.Notice{Agent: all, Why: wait + how + ": " + why, Next: l.Hint},
		},
		subject: "parked: " + l.Why,
		body: fmt.Sprintf(
			"%s: %s.\n\nAll agents on that account (%s) are parked %s, and continue on their own. You will be told this only once; claude-swarm status shows when they were parked, and when the next try is.\n%s\nTo try now: claude-swarm resume %s\n",
			f.Agent, why, all, how, todo, f.Agent),
	}
}

// WaitsAlone: an agent waits because of errors of the service that only it meets.
type WaitsAlone struct {
	Agent, Why   string
	Since, Again time.Time // when the errors began, and when it tries again
}

func (f WaitsAlone) told() told {
	next, again := "claude-swarm logs "+f.Agent, screen.Ahead(f.Again, time.Now())
	return told{
		Event: journal.Event{
			Key: fmt.Sprintf("alone:%s:%s", f.Agent, f.Since.UTC().Format(time.RFC3339Nano)), Agent: f.Agent,
			Notice: &journal.Notice{Why: "waits until " + again + ", and then for longer each time: " + f.Why, Next: next},
		},
		subject: "waits alone: " + f.Why,
		body: fmt.Sprintf(
			"%s: %s.\n\nThe other agents go on. %s tries again at %s, and then after longer waits, with its message. You will be told this only once.\n\nTo see its last turns: %s\nTo try now: claude-swarm resume %s\n",
			f.Agent, f.Why, f.Agent, again, next, f.Agent),
	}
}

// Unpaused: an agent can start turns again, or the agents of an account can. The caller ends
// the hold afterwards. If the daemon crashes between the two steps and repeats both, the
// notice has the same key as before.
type Unpaused struct {
	Agent   string // or several, separated by ", "
	Account string // set if a limit of the account is over
	Since   time.Time
	Why, By string
}

func (f Unpaused) told() told {
	return told{Event: journal.Event{
		Key: fmt.Sprintf("unpaused:%s:%s", cmp.Or(f.Account, f.Agent), f.Since.UTC().Format(time.RFC3339Nano)), Agent: f.Agent,
		Notice: &journal.Notice{Why: f.Why, By: f.By},
	}}
}

// ContextFull: the context of an agent is nearly full.
type ContextFull struct {
	Agent, Turn string
	Context     journal.Context
	Commands    []string // what makes room, the mildest first
}

func (f ContextFull) told() told {
	c := f.Context
	return told{Event: journal.Event{
		Key: fmt.Sprintf("context:%s:%s:%d", f.Agent, f.Turn, c.Tokens), Agent: f.Agent,
		Notice: &journal.Notice{
			Why:  fmt.Sprintf("has used %d %% of its context: %s of %s tokens", c.Percent(), screen.Thousands(c.Tokens), screen.Thousands(c.Limit)),
			Next: "To make room: " + strings.Join(f.Commands, ", or "),
		},
	}}
}

// Stuck: an agent repeats itself, and is paused until a person decides.
type Stuck struct {
	Agent, Task, Why string
	Escalation       string // its id
	Message          string // id of the message that the agent works on
	Details          string
}

func (f Stuck) told() told {
	return told{
		Event: journal.Event{Key: "spiraling:" + f.Escalation, Agent: f.Agent, Notice: &journal.Notice{Task: f.Task, Why: f.Why, Held: true}},
		of:    f.Message, details: f.Details,
	}
}

// NearCap: a budget is nearly spent. Of a daily budget, the lead gets mail.
type NearCap struct {
	Agent string // "" if it is the swarm's budget
	Scope string // as a person types it
	Key   string // of the question about this budget
	Used  string // how much of how much
	Task  string // the task, in quotation marks, if it is the budget of a task
}

func (f NearCap) told() told {
	n := &journal.Notice{Why: f.Used + " (" + f.Scope + ")", Next: "To raise the cap: claude-swarm budget raise " + f.Scope + " AMOUNT"}
	out := told{Event: journal.Event{Key: "budget warning " + f.Key, Agent: f.Agent, Notice: n}}
	if f.Task != "" {
		n.Why = f.Used + " for the task " + f.Task
		return out
	}
	out.subject = "budget: " + f.Scope + " " + f.Used
	out.body = fmt.Sprintf(
		"%s %s. When it reaches its cap, its mail waits, and you are asked what to do.\n\nTo raise it now: claude-swarm budget raise %s AMOUNT\nAll budgets: claude-swarm budget\n", f.Scope, f.Used, f.Scope)
	return out
}
