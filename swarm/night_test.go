package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// nightFaults are the faults of the night that affect individual messages. Each fault is
// listed with the numbers of the two messages that it affects.
var nightFaults = map[string][2]int{
	"500s": {0, 1}, "no network": {2, 3}, // they begin at the same time and count as one outage
	"stuck": {12, 25}, "loop": {14, 27}, "limit": {18, 45}, "crash": {20, 33}, "dead letter": {22, 35}, "question": {23, 38},
}

// A night simulates the person's absence. Six agents work on many tasks, and each fault
// occurs twice. The person only answers questions.
type night struct {
	*field
	tasks    []string // ids
	faults   map[string]string
	full     atomic.Bool
	begun    sync.Map                    // ids of the tasks that a client has received
	answered map[string]bool             // questions, by id
	inbox    map[string]*dropbox.Message // messages to the person, by file name
}

// TestTheNight checks that, after a night, all work has been done or given up with a
// reason, that the person has exactly one message for each decision, and that the costs
// stayed within the caps. The environment variable NIGHT_TASKS sets the number of tasks
// if its value is above 50. The default is 100.
func TestTheNight(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	inBubble(t, testTheNight)
}

func testTheNight(t *testing.T) {
	most := 100
	if n, err := strconv.Atoi(os.Getenv("NIGHT_TASKS")); err == nil && n > 50 {
		most = n
	}
	agents := []string{"ann", "ben", "cid", "dot", "eve", "fay"}
	n := &night{field: newField(t, agents...), faults: map[string]string{}, answered: map[string]bool{}, inbox: map[string]*dropbox.Message{}}
	f := n.field
	f.announcer = everywhere{}
	f.restart.MaxMessages = 100
	f.plan.Supervisor = &swarm.Supervision{Settings: supervisor.Settings{Window: 20, Interval: 5, Threshold: 3, Rules: supervisor.Rules{SameCall: 3}}}
	for i := range f.plan.Agents {
		f.plan.Agents[i].Client.Stall = 2 * time.Second
	}
	const turn = 0.04
	limit := budget.AgentRules{Day: dollars(0.5 * float64(most) / 100)}
	f.plan.Budget = budget.Rules{Agents: map[string]budget.AgentRules{"eve": limit, "fay": limit}}
	f.backend.Script = func(turnOf runner.Turn) []runnertest.Step { return n.script(turnOf, turn) }
	f.reopen(dropbox.Options{Step: func(dropbox.Step) error {
		if n.full.Load() {
			return syscall.ENOSPC
		}
		return nil
	}})
	for i := range most {
		fault := ""
		for name, at := range nightFaults {
			if i == at[0] || i == at[1] {
				fault = name
			}
		}
		n.tasks = append(n.tasks, f.send(agents[i%len(agents)], "work "+strconv.Itoa(i)+" "+fault))
		if fault != "" {
			n.faults[n.tasks[i]] = fault
		}
	}
	began := time.Now()
	f.start()
	for range 2 { // the disk is full for a while, and the IRC mailbox is lost
		f.until("work goes on", func() bool { n.answerAll(); return len(n.open()) < most-12 || time.Since(began) > time.Minute })
		n.full.Store(true)
		time.Sleep(200 * time.Millisecond)
		n.full.Store(false)
		f.until("the mailbox of IRC is lost", func() bool { return os.RemoveAll(filepath.Join(f.store.Dir(), "irc")) == nil })
	}
	f.until("all work is done or given up", func() bool { n.answerAll(); return len(n.open()) == 0 })
	f.until("all questions are answered, and those of the daemon filed", func() bool {
		n.answerAll()
		return !slices.ContainsFunc(n.look(), func(m *dropbox.Message) bool {
			return m.Type == dropbox.Question && (m.From == dropbox.Swarm || !n.answered[m.ID])
		})
	})
	f.halt()
	n.check(turn, limit)
	t.Logf("%d tasks of %d agents in %s\n%s", most, len(agents), time.Since(began).Round(time.Second), n.table())
}

// script returns the steps for a turn's client.
func (n *night) script(turn runner.Turn, usd float64) []runnertest.Step {
	body := standin.Body(turn.Prompt)
	fault := strings.TrimSpace(strings.TrimLeft(strings.TrimPrefix(body, "work "), "0123456789"))
	done := []runnertest.Step{runnertest.Cost(usd), runnertest.Say("did it")}
	// The number in the turn's id does not show whether this is the first turn, because a
	// claim that fails on the full disk also takes a number.
	task, _, _ := strings.Cut(turn.ID, "-")
	_, again := n.begun.LoadOrStore(task, true)
	first := !again
	switch {
	case fault == "dead letter":
		return []runnertest.Step{runnertest.Say("begun"), runnertest.Fail("no luck")}
	case fault == "loop" && first:
		var steps []runnertest.Step
		for range 6 {
			steps = append(steps, runnertest.Tool("Bash", map[string]string{"command": "cmake --build " + turn.ID}, "no such target"))
		}
		return append(steps, done...)
	case fault == "question" && first:
		return append([]runnertest.Step{runnertest.Do(func(context.Context, runner.Turn) error {
			return n.ask(turn.Agent, "question-"+turn.ID, "Delete 47 files of "+turn.ID+". Proceed?")
		})}, done...)
	case !first:
		return done
	}
	switch fault {
	case "500s":
		return []runnertest.Step{runnertest.Limited(0)}
	case "no network":
		return []runnertest.Step{runnertest.Unknown()}
	case "stuck":
		return []runnertest.Step{runnertest.Say("begun"), runnertest.Hang()}
	case "limit":
		return []runnertest.Step{runnertest.Limited(time.Second)}
	case "crash":
		return []runnertest.Step{runnertest.Say("begun"), runnertest.NoResult()}
	}
	return done
}

// ask sends an agent's question to the person, and tries again while the disk is full. The
// key keeps it from being delivered twice if only the last step of a delivery failed.
func (n *night) ask(agent, key, question string) error {
	m := &dropbox.Message{Type: dropbox.Question, From: agent, Priority: dropbox.Normal, Body: []byte(question), Key: key}
	for {
		_, err := n.store.DeliverSigned(dropbox.Lead, m, func(m *dropbox.Message) string {
			return dropbox.Proof(n.tokens[agent], m, dropbox.Lead)
		})
		if !errors.Is(err, syscall.ENOSPC) {
			return err
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// open returns the tasks without an answer.
func (n *night) open() (open []string) {
	answered := map[string]bool{}
	for _, m := range n.look() {
		answered[m.ReplyTo] = true
	}
	for _, id := range n.tasks {
		if !answered[id] {
			open = append(open, id)
		}
	}
	return open
}

// look returns the messages in the person's inbox. It reads each message only once,
// because there are many and the test checks often.
func (n *night) look() (all []*dropbox.Message) {
	box, err := n.store.Mailbox(dropbox.Lead)
	if err != nil {
		n.t.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		n.t.Fatal(err)
	}
	for _, e := range entries {
		m := n.inbox[e.Name]
		if m == nil {
			if m, err = box.Read(e); errors.Is(err, dropbox.ErrGone) {
				continue
			} else if err != nil {
				n.t.Fatal(err)
			}
			n.inbox[e.Name] = m
		}
		all = append(all, m)
	}
	return all
}

// answerAll answers all questions that were sent to the person.
func (n *night) answerAll() {
	for _, m := range n.look() {
		if m.Type != dropbox.Question || n.answered[m.ID] {
			continue
		}
		// A question that is answered before the daemon has seen it needs no notice.
		if m.From != dropbox.Swarm && !n.isNoticed(m) {
			continue
		}
		n.answered[m.ID] = true
		switch {
		case m.From != dropbox.Swarm:
			n.reply(m, "yes")
		case strings.Contains(m.Key, "budget"):
			n.reply(m, "more")
		default:
			n.reply(m, "resume")
		}
	}
}

// isNoticed reports whether a notice tells of an agent's question.
func (n *night) isNoticed(m *dropbox.Message) bool {
	return slices.ContainsFunc(n.notices(), func(ev journal.Event) bool {
		return ev.Word() == journal.AgentQuestion && strings.Contains(ev.Notice.Why, strings.TrimSpace(string(m.Body)))
	})
}

// check examines the results that the person finds in the morning.
func (n *night) check(turn float64, limit budget.AgentRules) {
	t := n.t
	answers := map[string]int{}
	for _, m := range n.mail(dropbox.Lead) {
		answers[m.ReplyTo]++
	}
	for _, id := range n.tasks {
		if answers[id] != 1 {
			t.Errorf("task %s (%s) was answered %d times", id, n.faults[id], answers[id])
		}
	}
	told := map[string]int{}
	for _, m := range n.mail(dropbox.Lead) {
		if !slices.Contains(n.tasks, m.ReplyTo) {
			told[m.Key+" "+m.ReplyTo+" "+m.Subject+" "+string(m.Body)]++
		}
	}
	for what, times := range told {
		if times > 1 {
			t.Errorf("the person was told %d times: %s", times, what)
		}
	}
	words := map[journal.Word]int{}
	for _, ev := range n.notices() {
		words[ev.Word()]++
	}
	for word, want := range map[journal.Word]int{
		journal.AgentSpiraling: 2, journal.AgentQuestion: 2, journal.AgentTimeout: 2, journal.DeadLetter: 2,
	} {
		if words[word] != want {
			t.Errorf("%d notices %s, want %d", words[word], word, want)
		}
	}
	if asked := len(n.answered); asked != 6 { // two questions, two agents that are stuck, two caps
		t.Errorf("the person was asked %d times, want 6", asked)
	}
	spent := map[string]float64{}
	for _, agent := range []string{"eve", "fay"} {
		for _, line := range n.ledgerOf(agent) {
			spent[agent] += line.CostUSD
		}
		if most := 2 * limit.Day.Dollars(); spent[agent] > most+turn {
			t.Errorf("%s spent %.2f US dollars; it may spend %.2f", agent, spent[agent], most)
		}
	}
}

// table returns a table of the night's notices, and the other messages to the person.
func (n *night) table() string {
	var b strings.Builder
	words := map[journal.Word]int{}
	for _, ev := range n.notices() {
		words[ev.Word()]++
	}
	fmt.Fprintf(&b, "%-14s %5s\n", "notices", "times")
	for _, w := range journal.Words() {
		fmt.Fprintf(&b, "%-14s %5d\n", strings.TrimPrefix(string(w), "agent_"), words[w])
	}
	fmt.Fprintf(&b, "messages to the person besides the answers:\n")
	for _, m := range n.mail(dropbox.Lead) {
		if !slices.Contains(n.tasks, m.ReplyTo) {
			fmt.Fprintf(&b, "  %s: %s\n", m.Type, mail.Describe(m))
		}
	}
	return b.String()
}
