package main

import (
	"bytes"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/rivo/uniseg"
	"github.com/rogpeppe/go-internal/testscript"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

func TestWriteStatus(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	ago := func(d time.Duration) time.Time { return now.Add(-d) }
	st := swarm.Status{
		Project: "/home/ann/tts", Halted: true,
		Daemon: &swarm.DaemonStatus{PID: 4711, Since: ago(125 * time.Minute), Version: "1.0"},
		Trouble: []swarm.Problem{{
			Why:  "the configuration was not reloaded; the old one is in force: /home/ann/tts/claude-swarm.yaml:3:1: unknown key",
			Next: "claude-swarm config check",
		}},
		Agents: []swarm.AgentStatus{
			{Name: "coder", State: swarm.Working, Since: new(ago(12 * time.Second)), PID: new(4712), Session: "0f3a1b2c-aaaa",
				Message: &turn.MessageStatus{ID: "k7f3q9m2xd", From: "lead", Subject: "Do PERF-015\nand\x1b[2J do it well, please, before the others come back from lunch"},
				Waiting: mail.Waiting{Urgent: 1, Normal: 2}, Dead: 1, CostUSD: journal.Cost{Today: 0.04, Total: 1.5}, Model: "opus",
				Context: journal.Context{Tokens: 68_000, Limit: 200_000}, Last: &turn.LastText{At: ago(time.Minute), Text: "I look at\tthe parser"}},
			{Name: "reviewer", State: swarm.Paused, Since: new(ago(3 * time.Minute)), Why: "lunch (by lead)", Next: "claude-swarm resume reviewer"},
			{Name: "an-agent-with-a-very-long-name-32", State: swarm.Idle, Since: new(ago(100 * time.Hour)), Drops: 6417, CostUSD: journal.Cost{Today: 0.0012, Total: 0.0012}},
		},
		Lead:    swarm.LeadStatus{Unread: 2, Questions: 1},
		Judge:   journal.Cost{Today: 0.01, Total: 0.25},
		Removed: journal.Cost{Today: 0.5, Total: 2},
	}
	const want = `tts: daemon pid 4711 for 2 h 05 min, version 1.0
HALTED: no new turn begins   next: claude-swarm unhalt
! the configuration was not reloaded; the old one is in force:
  /home/ann/tts/claude-swarm.yaml:3:1: unknown key
  next: claude-swarm config check

AGENT                 STATE    FOR    MAIL    DEAD  USD     TASK
coder                 working  12 s   3 (1!)  1     0.0400
                      k7f3q9m2xd from lead: Do PERF-015 and [2J do it well, ple…
                      pid 4712, session 0f3a1b2c…, context 34 %, opus
                      last 10:29: I look at the parser
                      next: claude-swarm dead list coder
reviewer              paused   3 min  -       -     -       lunch (by lead)
                      next: claude-swarm resume reviewer
an-agent-with-a-ver…  idle     4 d    -       -     0.0012
                      6417 drops, not taken in yet

0.55 USD today, 3.75 USD in all
  of which the supervisor: 0.01 USD today, 0.25 USD in all
  of which removed agents: 0.50 USD today, 2.00 USD in all

1 question for you, 2 unread messages   next: claude-swarm inbox
`
	var out bytes.Buffer
	out.WriteString(draw(st, look{now: now, columns: 80}).String())
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("status (-want +got):\n%s", diff)
	}
	out.Reset()
	out.WriteString(draw(st, look{now: now, paint: true, columns: 80}).String())
	if !bytes.Contains(out.Bytes(), []byte("\x1b[")) || bytes.Contains(out.Bytes(), []byte("\x1b[2J")) {
		t.Errorf("with colors: %q, want colors of ours and none of an agent's", out.String())
	}
}

func TestStatusFitsTheScreenAndLosesNoNextStep(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	ago := func(d time.Duration) *time.Time { return new(now.Add(-d)) }
	st := swarm.Status{
		Project: "/home/ann/a-project-with-a-long-name", Halted: true,
		Daemon:  &swarm.DaemonStatus{PID: 4711, Since: *ago(time.Hour), Version: "1.0", Stopping: true},
		Trouble: []swarm.Problem{{Why: "/home/ann/tts/" + strings.Repeat("folder/", 20) + "claude-swarm.yaml:3:1: unknown key", Next: "claude-swarm config check"}},
		Agents: []swarm.AgentStatus{
			{Name: "coder", State: swarm.Working, Since: ago(125 * time.Minute), Waiting: mail.Waiting{Urgent: 1, Normal: 20}, Dead: 12,
				CostUSD: journal.Cost{Today: 1234.01}, Message: &turn.MessageStatus{ID: "k7f3q9m2xd", From: "lead", Subject: strings.Repeat("word ", 50)},
				Why: "it stops when this turn has ended, and starts again on its own after claude-swarm resume coder"},
			{Name: "an-agent-with-a-very-long-name-32", State: swarm.Stopped, Since: ago(100 * time.Hour), Dead: 1, CostUSD: journal.Cost{Today: 0.01},
				Why:   "the key of its account is refused: put ANTHROPIC_API_KEY in env: of agents: in claude-swarm.yaml",
				Next:  "claude-swarm start an-agent-with-a-very-long-name-32 (after the key is right)",
				Model: "claudex", Last: &turn.LastText{At: now, Text: strings.Repeat("last ", 50)}},
			{Name: "wide", State: swarm.Working, Since: ago(time.Minute), Message: &turn.MessageStatus{ID: "m4x9k2q7fd", From: "日本", Subject: strings.Repeat("言葉", 60)},
				Why: strings.Repeat("理由", 60), Last: &turn.LastText{At: now, Text: strings.Repeat("👍", 60)}},
		},
		Gate: swarm.GateStatus{Threads: []swarm.ThreadHalted{{Thread: "k7f3q9m2xd", Why: "the same answers went to and fro eight times"}}},
		Lead: swarm.LeadStatus{Unread: 2},
	}
	commands := []string{
		st.Agents[0].Why, st.Agents[1].Why, "next: " + st.Agents[1].Next, "next: claude-swarm stop --now",
		"next: claude-swarm unhalt --thread k7f3q9m2xd", "next: claude-swarm inbox", "next: claude-swarm dead list coder", "next: claude-swarm config check",
		"k7f3q9m2xd from lead", "1234.01", "0.01",
	}
	for _, columns := range []int{0, 40, 60, 71, 72, 80, 120} {
		for _, colours := range []palette{false, true} {
			var out bytes.Buffer
			out.WriteString(draw(st, look{now: now, paint: colours, columns: columns}).String())
			text := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out.String(), "")
			for line := range strings.Lines(text) {
				if n := uniseg.StringWidth(strings.TrimSuffix(line, "\n")); columns > 0 && n > columns {
					t.Errorf("at %d columns a line has %d: %q", columns, n, line)
				}
				if columns > 0 && strings.TrimRight(line, " \n") != strings.TrimRight(line, "\n") {
					t.Errorf("at %d columns a line ends in spaces: %q", columns, line)
				}
			}
			if columns > 0 {
				text = strings.Join(strings.Fields(text), " ") // the status can break lines at spaces
			}
			for _, want := range commands {
				if !strings.Contains(text, want) {
					t.Errorf("at %d columns %q is missing:\n%s", columns, want, out.String())
				}
			}
		}
	}
}

func TestSpan(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0 s", 0: "0 ms", 850 * time.Millisecond: "850 ms", 12 * time.Second: "12 s", 200 * time.Second: "3 min",
		125 * time.Minute: "2 h 05 min", 100 * time.Hour: "4 d",
	} {
		if got := screen.Span(d); got != want {
			t.Errorf("span(%v) = %q, want %q", d, got, want)
		}
	}
}

// demandKeys implements the script command keys.
func demandKeys(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: keys FILE FILE…")
	}
	first := statusKeys(ts, args[0])
	for _, line := range []string{
		"status: v project daemon agents lead",
		"agent: name role backend state since why next message waiting drops dead pid session model context cost_usd last running paused circuit_open turn_count last_activation activity description",
		"waiting: urgent normal low", "context: tokens limit", "cost_usd: today total", "lead: unread",
	} {
		object, keys, _ := strings.Cut(line, ": ")
		for key := range strings.FieldsSeq(keys) {
			if !slices.Contains(first[object], key) {
				ts.Fatalf("%s: %s has no %s, only %q", args[0], object, key, first[object])
			}
		}
	}
	for _, file := range args[1:] {
		if diff := cmp.Diff(first, statusKeys(ts, file)); diff != "" {
			ts.Fatalf("keys of -%s +%s:\n%s", args[0], file, diff)
		}
	}
}

// statusKeys returns the keys of a status with one agent and the keys of its parts.
func statusKeys(ts *testscript.TestScript, file string) map[string][]string {
	data := []byte(ts.ReadFile(file))
	var st struct {
		Agents []json.RawMessage
		Lead   json.RawMessage
	}
	ts.Check(json.Unmarshal(data, &st))
	if len(st.Agents) != 1 {
		ts.Fatalf("%s has %d agents", file, len(st.Agents))
	}
	var agent map[string]json.RawMessage
	ts.Check(json.Unmarshal(st.Agents[0], &agent))
	keys := map[string][]string{"status": names(data), "agent": names(st.Agents[0]), "lead": names(st.Lead)}
	for _, part := range []string{"waiting", "context", "cost_usd"} {
		keys[part] = names(agent[part])
	}
	return keys
}

// names returns the keys of a JSON object.
func names(object []byte) []string {
	var keys []string
	dec := json.NewDecoder(bytes.NewReader(object))
	_, _ = dec.Token() // {
	for dec.More() {
		key, err := dec.Token()
		var value json.RawMessage
		if err != nil || dec.Decode(&value) != nil {
			return nil
		}
		keys = append(keys, key.(string))
	}
	return keys
}

func TestWhatWaitsForThePerson(t *testing.T) {
	for lead, want := range map[swarm.LeadStatus]string{
		{}:                        "",
		{Unread: 1}:               "1 unread message for you   next: claude-swarm inbox",
		{Questions: 2}:            "2 questions for you   next: claude-swarm inbox",
		{Unread: 3, Questions: 1}: "1 question for you, 3 unread messages   next: claude-swarm inbox",
	} {
		if got := forYou(view.StatusOf(swarm.Status{Lead: lead})); got != want {
			t.Errorf("forYou(%+v) = %q, want %q", lead, got, want)
		}
	}
}
