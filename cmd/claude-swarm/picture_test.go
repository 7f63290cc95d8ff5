package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// parkedSwarm returns the status of a swarm with four agents, three of which are parked by
// one account's limit.
func parkedSwarm(now time.Time) swarm.Status {
	limited := func(name, account string, until time.Time) swarm.AgentStatus {
		return swarm.AgentStatus{
			Name: name, State: swarm.Limited, Since: new(now.Add(-time.Minute)), Why: "You've hit your 5-hour limit",
			Next:    "continues on its own at 12:01, or immediately after claude-swarm resume " + name,
			Limit:   &swarm.LimitStatus{Account: account, Until: until},
			Waiting: mail.Waiting{Normal: 1}, Session: "0f3a1b2c-aaaa", Model: "opus", Last: &turn.LastText{At: now, Text: "so far " + name},
		}
	}
	noon := time.Date(now.Year(), now.Month(), now.Day(), 12, 0, 0, 0, time.Local)
	return swarm.Status{
		Project: "/home/ann/tts", Daemon: &swarm.DaemonStatus{PID: 4711, Since: now.Add(-time.Hour), Version: "1.0"},
		Agents: []swarm.AgentStatus{
			limited("coder", "a", noon.Add(2*time.Minute)), limited("docs", "a", noon.Add(time.Minute)), limited("other", "b", noon),
			limited("reviewer", "a", noon.Add(3*time.Minute)),
		},
		Lead: swarm.LeadStatus{Unread: 2},
	}
}

// The amounts in the column USD all have the same number of decimals.
func TestTheColumnOfCostsHasOneNumberOfDecimals(t *testing.T) {
	st := parkedSwarm(time.Now())
	st.Agents[0].CostUSD, st.Agents[1].CostUSD = journal.Cost{Today: 0.27}, journal.Cost{Today: 0.0024, TodayUnknown: 1}
	got := draw(st, look{now: time.Now(), columns: 80, short: true}).String()
	if !strings.Contains(got, "0.2700") || !strings.Contains(got, "≥0.0024") {
		t.Errorf("status --short:\n%s\nwant 0.2700 and ≥0.0024", got)
	}
}

// A context that is nearly full has a mark, with the command to type, and a color if the
// screen has colors.
func TestAFullContextHasAMark(t *testing.T) {
	st := parkedSwarm(time.Now())
	st.Agents[1].Context, st.Agents[1].ContextNext = journal.Context{Tokens: 170_000, Limit: 200_000}, "claude-swarm compact docs"
	const mark = "! the context is nearly full   next: claude-swarm compact docs"
	plain := draw(st, look{now: time.Now(), columns: 80}).String()
	if strings.Count(plain, mark) != 1 || !strings.Contains(plain, "context 85 %") || strings.Contains(plain, "\x1b") {
		t.Errorf("status:\n%s\nwant %q once, and no color", plain, mark)
	}
	if colored := draw(st, look{now: time.Now(), columns: 80, paint: true}).String(); !strings.Contains(colored, "\x1b[33m"+mark+"\x1b[0m\n") {
		t.Errorf("status:\n%q\nwant the mark in yellow", colored)
	}
}

// An account's limit is shown only once for all agents that use the account.
func TestALimitIsSaidOnce(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	st := parkedSwarm(now)
	const want = `tts: daemon pid 4711 for 1 h 00 min, version 1.0
limited: You've hit your 5-hour limit (coder, docs, reviewer)
next: work continues at 12:01, or claude-swarm resume coder for all of them

AGENT     STATE    FOR    MAIL  DEAD  USD  TASK
coder     limited  1 min  1     -     -
docs      limited  1 min  1     -     -
other     limited  1 min  1     -     -    You've hit your 5-hour limit
reviewer  limited  1 min  1     -     -

2 unread messages for you   next: claude-swarm inbox
`
	got := draw(st, look{now: now, columns: 80, short: true}).String()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("status --short (-want +got):\n%s", diff)
	}
	if st.Agents[0].Why == "" {
		t.Error("draw has changed the status that it was given")
	}
	if n := strings.Count(draw(st, look{now: now, columns: 80}).String(), "resume"); n != 2 {
		t.Errorf("the whole status says %d times how to continue, want 2, once for each account", n)
	}
}

// Even on a screen that is too small, the status shows what the person must do.
func TestASmallScreenKeepsWhatWaitsForYou(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	st := parkedSwarm(now)
	for i := range 10 {
		st.Agents = append(st.Agents, swarm.AgentStatus{Name: fmt.Sprintf("a%d", i), State: swarm.Idle, Since: new(now), Session: "0f3a1b2c-aaaa"})
	}
	for _, columns := range []int{40, 80} {
		for rows := 3; rows < 40; rows++ {
			lines := smaller(st, look{now: now, columns: columns}, rows)
			text := strings.Join(lines, "\n")
			if len(lines) > rows {
				t.Errorf("%d lines on a screen of %d:\n%s", len(lines), rows, text)
			}
			for _, want := range []string{"tts: daemon", "2 unread messages for you", "next: claude-swarm inbox"} {
				if rows > 3 && !strings.Contains(text, want) {
					t.Errorf("on %d rows of %d columns %q is missing:\n%s", rows, columns, want, text)
				}
			}
			if n := strings.Count(text, "idle"); rows >= 12 && n+strings.Count(text, " limited ") == 0 {
				t.Errorf("on %d rows of %d columns there is no agent:\n%s", rows, columns, text)
			}
		}
	}
	lines := smaller(st, look{now: now, columns: 80}, 12)
	if len(lines) != 12 {
		t.Errorf("%d lines on a screen of 12, want all of it used:\n%s", len(lines), strings.Join(lines, "\n"))
	}
	if got := smaller(st, look{now: now, columns: 80}, 0); strings.Join(got, "\n")+"\n" != draw(st, look{now: now, columns: 80}).String() {
		t.Errorf("without a limit something is left out:\n%s", strings.Join(got, "\n"))
	}
}

// If the agents use different kinds of clients, the status names each agent's client, and
// its lines still fit the screen.
func TestTheStatusNamesTheClientsOfAMixedSwarm(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.Local)
	st := parkedSwarm(now)
	for i, client := range []string{"claude 2.1.330", "codex 2.6.0", "opencode", "acp 0.0.1-20261121"} {
		a := &st.Agents[i]
		a.Client, a.PID, a.Model, a.Context = client, new(4711000), "a-provider/a-model-with-a-very-long-name-20261121", journal.Context{Tokens: 100, Limit: 200}
	}
	for _, columns := range []int{40, 80} {
		for _, mixed := range []bool{false, true} {
			st.Mixed = mixed
			text := draw(st, look{now: now, columns: columns}).String()
			for _, a := range st.Agents {
				if got := strings.Contains(strings.Join(strings.Fields(text), " "), "context 50 %, "+a.Client+","); got != mixed {
					t.Errorf("in %d columns, mixed %t: it names %s: %t\n%s", columns, mixed, a.Client, got, text)
				}
			}
			for line := range strings.Lines(text) {
				if n := screen.Columns(strings.TrimSuffix(line, "\n")); n > columns && strings.Contains(strings.TrimSpace(line), " ") {
					t.Errorf("a line has %d columns of %d: %s", n, columns, line)
				}
			}
		}
	}
}
