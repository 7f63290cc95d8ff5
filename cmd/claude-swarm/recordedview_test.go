package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// opened returns the information that the verbs print about a recording before the daemon
// starts, as lines of text. It omits times and other strings that depend on the day.
func (p *recordedProject) opened() string {
	var b strings.Builder
	st := verbJSON[swarm.Status](p, "status")
	fmt.Fprintf(&b, "status: daemon %t, halted %t, unread %d, refused %d, for IRC %d\n", st.Daemon != nil, st.Halted, st.Lead.Unread, st.Gate.Refused.Kept, st.IRC.Waiting)
	for _, a := range st.Agents {
		why := ""
		if a.State == swarm.Paused {
			why = a.Why // only this reason was written by a person; the wording of other reasons depends on the version
		}
		fmt.Fprintf(&b, "%s: %s %q, waiting %d/%d/%d, dead %d, %.7f USD\n", a.Name, a.State, why, a.Waiting.Urgent, a.Waiting.Normal, a.Waiting.Low, a.Dead, a.CostUSD.Total)
	}
	p.writeHalted(&b, st)
	for _, a := range st.Agents {
		p.writeInbox(&b, a.Name)
	}
	p.writeInbox(&b, "lead")
	p.writeDead(&b)
	p.writeRefused(&b)
	p.writeTopics(&b)
	p.writeTrace(&b, p.ids["hops"])
	for _, a := range st.Agents {
		p.writeHistory(&b, a.Name)
	}
	p.writeReceipts(&b, "attached", "long", "steered", "retried", "mine", "cancelled", "normal", "said")
	for _, page := range []string{"decisions", "status"} {
		text, err := os.ReadFile(filepath.Join(p.dir, ".dead-drop", "board", page+".md"))
		if err != nil {
			p.t.Fatal(err)
		}
		fmt.Fprintf(&b, "board %s: %q\n", page, text)
	}
	return b.String()
}

func (p *recordedProject) writeHalted(b *strings.Builder, st swarm.Status) {
	for _, th := range st.Gate.Threads {
		fmt.Fprintf(b, "halted %s: %s\n", th.Thread, th.Why)
	}
}

func (p *recordedProject) writeInbox(b *strings.Builder, mailbox string) {
	in := verbJSON[struct{ Messages []view.Message }](p, "inbox", mailbox)
	if mailbox == "lead" { // open questions come first in the list, and the recording has them in the order of time
		slices.SortStableFunc(in.Messages, func(a, b view.Message) int { return a.Created.Compare(b.Created) })
	}
	for _, m := range in.Messages {
		fmt.Fprintf(b, "mail of %s: %s %s, %s %s from %s, proven %t: %q %q\n", mailbox, p.known(m.ID), m.State, m.Priority, m.Type, m.From, m.Proven, m.Subject, topLine(m.Body))
	}
}

func (p *recordedProject) writeDead(b *strings.Builder) {
	list := verbJSON[struct{ Letters []view.DeadLetter }](p, "dead", "list")
	for _, d := range list.Letters {
		fmt.Fprintf(b, "dead letter of %s: %s %q from %q: %s\n", d.Mailbox, p.known(d.ID), d.Subject, d.From, topLine(d.Reason))
	}
}

func (p *recordedProject) writeRefused(b *strings.Builder) {
	list := verbJSON[struct{ Refused []view.Refusal }](p, "refused")
	for _, r := range list.Refused {
		fmt.Fprintf(b, "refused to %s: %s %s from %s in %s: %s\n", r.To, p.known(r.ID), r.Type, r.From, p.known(r.Thread), topLine(r.Reason))
	}
}

func (p *recordedProject) writeTopics(b *strings.Builder) {
	list := verbJSON[struct {
		Subscriptions map[string][]string
		Open          []client.OpenWork
	}](p, "topics")
	for _, name := range slices.Sorted(maps.Keys(list.Subscriptions)) {
		fmt.Fprintf(b, "%s hears %v\n", name, list.Subscriptions[name])
	}
	for _, w := range list.Open {
		fmt.Fprintf(b, "open work: %s on %s from %s, claimed by %q: %q\n", p.known(w.ID), w.Topic, w.From, w.Claimed, w.Subject)
	}
}

// A tracedHop contains the fields of a traced message that the test compares.
type tracedHop struct {
	ID, From, To, State, Parent, Reason string
	Type                                string
	Hops                                int
	Attempts                            []journal.Attempt
	Receipt                             *journal.Receipt
}

type tracedTask struct {
	Messages []tracedHop
	Turns    int
	CostUSD  float64 `json:"cost_usd"`
}

func (p *recordedProject) writeTrace(b *strings.Builder, id string) {
	tr := verbJSON[tracedTask](p, "trace", id)
	fmt.Fprintf(b, "trace: %d messages, %d turns, %.7f USD\n", len(tr.Messages), tr.Turns, tr.CostUSD)
	for _, m := range tr.Messages {
		fmt.Fprintf(b, "  %s %s from %s to %s, %d hops, %s, from %q\n", p.known(m.ID), m.Type, m.From, m.To, m.Hops, m.State, p.known(m.Parent))
	}
}

// writeHistory lists an agent's turns. For a turn that runs during the test, the stand-in
// estimates the cost from the wording of this version's prompt. Therefore, writeHistory omits
// the cost of such turns, except for the two whose messages specify the cost.
func (p *recordedProject) writeHistory(b *strings.Builder, agent string) {
	h := verbJSON[view.History](p, "history", agent)
	ledger := p.read(filepath.Join(p.source, "recording", "files", "claude-swarm", "ledger.jsonl"))
	fmt.Fprintf(b, "history of %s: %d turns, %d failed\n", agent, len(h.Turns), h.Failed)
	for _, turn := range h.Turns {
		attempts, into, steered := 0, "", []string(nil)
		if r := turn.Receipt; r != nil {
			attempts, into, steered = len(r.Attempts), r.Into, r.Steered
		}
		cost, reason := "", ""
		before := strings.Contains(ledger, fmt.Sprintf("%q:%q", "turn", turn.Turn))
		if before || turn.Message == p.ids["finished"] || turn.Message == p.ids["broken"] {
			cost = fmt.Sprintf(", %.7f USD", turn.CostUSD)
		}
		if before {
			reason = turn.Reason
		}
		fmt.Fprintf(b, "  %s from %s: %s%s, %d attempts, into %q, steered %q: %q %q\n", p.known(turn.Message), turn.From, turn.Outcome, cost, attempts, into, steered, turn.Subject, reason)
	}
}

// writeReceipts writes the attachments of each named message and the receipts in its
// trace.
func (p *recordedProject) writeReceipts(b *strings.Builder, names ...string) {
	for _, name := range names {
		m := verbJSON[view.Message](p, "read", p.ids[name])
		fmt.Fprintf(b, "%s: %s is %s, to %s\n", name, m.ID, m.State, m.Mailbox)
		for _, a := range m.Attachments {
			text, err := os.ReadFile(a.Path)
			if err != nil {
				p.t.Error(err)
			}
			fmt.Fprintf(b, "  with %s of %d bytes, %s: %q\n", a.Name, a.Size, a.SHA256, text)
		}
		for _, m := range verbJSON[tracedTask](p, "trace", m.ID).Messages {
			if r := m.Receipt; r != nil {
				fmt.Fprintf(b, "  receipt of %s: %s, into %q, steered %q\n", p.known(m.ID), r.Outcome, r.Into, r.Steered)
			}
		}
	}
}

// known returns the id of a recorded message unchanged. For any other id, it returns "new",
// because such ids are different in each run.
func (p *recordedProject) known(id string) string {
	if id == "" || p.recorded[id] != "" {
		return id
	}
	return "new"
}

// topLine returns the first line of a string.
func topLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}

// finish lets the daemon do the pending work, first in the recorded state, and then also
// for the agents that were stopped, paused or limited.
func (p *recordedProject) finish() {
	p.run("start")
	p.await("the claimed mail and the dropped file are done", func() bool {
		return p.working() == 0 && p.files("coder", "done", "Dropped by hand") == 1 && p.files("breaker", "cur", "")+p.files("finisher", "cur", "") == 0
	})
	p.demandStates("with a daemon", map[string]swarm.State{"waiter": swarm.Paused, "sleeper": swarm.Stopped, "parked": swarm.Limited})
	var halted strings.Builder
	p.writeHalted(&halted, verbJSON[swarm.Status](p, "status"))
	if want := "halted " + p.ids["halted"] + ": by lead: look at this first\n"; halted.String() != want {
		p.t.Errorf("with a daemon the status says %q of halted conversations, want %q", halted.String(), want)
	}
	if len(p.scratch()) > 0 {
		p.t.Error("a message that was never accepted is still in tmp/")
	}

	// The next prompt contains the pending window and belongs to the same session.
	session := p.sessionFile("keeper")
	before := p.read(session)
	p.run("send", "keeper", "@say I go on.", "--wait=60s")
	added := strings.TrimPrefix(p.read(session), before)
	if !strings.Contains(added, "prior-context") || !strings.Contains(added, "I remember BLUE") {
		p.t.Errorf("the next prompt in session %s has no window: %.2000s", session, added)
	}
	if n := p.files("keeper", "done", "I remember GREEN"); n != 1 {
		p.t.Errorf("%d messages of keeper have GREEN in them, want 1", n)
	}

	p.run("unhalt", "--thread", p.ids["halted"])
	p.run("resume", "waiter")
	p.run("start", "sleeper")
	p.run("resume", "parked")
	p.await("everything that waits is done", func() bool {
		st := verbJSON[swarm.Status](p, "status")
		for _, a := range st.Agents {
			if a.State != swarm.Idle || a.Waiting.Total() > 0 {
				return false
			}
		}
		return true
	})
	p.demandStates("in the end", nil)
	for _, a := range verbJSON[swarm.Status](p, "status").Agents {
		if was := p.session(a.Name); was != "" && a.Session != was {
			p.t.Errorf("%s goes on with session %q, want %q as it was recorded", a.Name, a.Session, was)
		}
	}
	if runs := p.read(filepath.Join(p.dir, "runs.txt")); runs != "run\n" {
		p.t.Errorf("the work that was done without a daemon ran %d times, want once", strings.Count(runs, "run"))
	}
}

// demandKey sends a message again with a key from the recording. For seven days after the
// first message with that key, send prints the id of that message and delivers nothing.
func (p *recordedProject) demandKey() {
	id := strings.TrimSpace(string(p.run("send", "waiter", "This is normal", "--key", "recorded-key")))
	age := time.Since(p.created(p.ids["normal"]))
	if young := age < 7*24*time.Hour; young != (id == p.ids["normal"]) {
		p.t.Errorf("the key of %s, which is %v old, names %s", p.ids["normal"], age, id)
	}
}

// finished returns the outcome of each message in the recording, one per line, followed
// by each agent's history, the dead letters, the refused messages and the topics.
func (p *recordedProject) finished() string {
	var b strings.Builder
	for _, id := range slices.Sorted(maps.Keys(p.recorded)) {
		found := 0
		for _, m := range verbJSON[tracedTask](p, "trace", id).Messages {
			if m.ID == id {
				fmt.Fprintf(&b, "%s: was in %s; %s of %s, %d attempts\n", id, p.recorded[id], m.State, m.To, len(m.Attempts))
				found++
			}
		}
		if found != 1 {
			p.t.Errorf("the trace of %s, which was in %s, has it %d times, want once", id, p.recorded[id], found)
		}
	}
	for _, name := range []string{"planner", "coder", "reviewer", "finisher", "breaker", "keeper", "waiter", "sleeper", "parked"} {
		p.writeHistory(&b, name)
	}
	p.writeDead(&b)
	p.writeRefused(&b)
	p.writeTopics(&b)
	return b.String()
}
