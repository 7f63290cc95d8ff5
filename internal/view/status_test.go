package view_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

// running returns a status with a daemon and these agents.
func running(agents ...swarm.AgentStatus) swarm.Status {
	return swarm.Status{V: 1, Daemon: &swarm.DaemonStatus{PID: 4711}, Agents: agents}
}

func TestNeeds(t *testing.T) {
	limited := func(name string, minute int) swarm.AgentStatus {
		return swarm.AgentStatus{Name: name, State: swarm.Limited, Why: "5-hour limit", Limit: &swarm.LimitStatus{Account: "a", Until: noon.Add(time.Duration(minute) * time.Minute)}}
	}
	busy := running(
		swarm.AgentStatus{Name: "coder", State: swarm.Working, Why: "asks the API again", Dead: 2},
		swarm.AgentStatus{Name: "tester", State: swarm.Asking, Since: &noon, Why: "waits for the answer of lead to k7f3q9m2xd", Next: "claude-swarm reply k7f3q9m2xd \"…\""},
		swarm.AgentStatus{Name: "patient", State: swarm.Asking, Next: "continues with the answer, or without it at 12:05"},
		swarm.AgentStatus{Name: "broken", State: swarm.Stopped, Since: &noon, Why: "the key is wrong", Next: "fix the key, then claude-swarm start broken", CircuitOpen: true},
		swarm.AgentStatus{Name: "resting", State: swarm.Paused, Why: "by lead", Next: "claude-swarm resume resting"},
		swarm.AgentStatus{Name: "mine", State: swarm.Away, Why: "no session is attached to it", Next: "claude-swarm attach mine"},
		limited("a", 9), limited("b", 7),
	)
	busy.Halted, busy.Reason, busy.Trouble = true, "by lead: the disk is full", []swarm.Problem{{Why: "the configuration was not reloaded", Next: "claude-swarm config check"}}
	busy.Gate.Refused = swarm.RefusedCount{Today: 3, Kept: 8}
	busy.Gate.Threads = []swarm.ThreadHalted{{Thread: "it's", Why: "rings: to and fro", Since: noon}, {Thread: "k7f3q9m2xd", Since: noon}}
	busy.IRC = &swarm.IRCStatus{Why: "the server refuses the password", Next: "claude-swarm irc doctor"}
	busy.Lead.Questions, busy.Lead.Unread = 1, 4
	for name, tc := range map[string]struct {
		status swarm.Status
		want   []view.Need
	}{
		"nothing": {running(swarm.AgentStatus{Name: "coder", State: swarm.Idle}), []view.Need{}},
		"no daemon": {swarm.Status{
			Agents: []swarm.AgentStatus{
				{Name: "coder", State: swarm.Stopped, Why: swarm.WhyNoDaemon, Next: view.StartDaemon},
				{Name: "tester", State: swarm.Stopped, Why: "3 failures in 300 s", Next: "claude-swarm start tester"},
			},
			IRC: &swarm.IRCStatus{Why: "no daemon is running", Next: view.StartDaemon},
		}, []view.Need{
			{Kind: view.NeedDaemon, Agents: []string{}, Why: "no daemon is running", Next: "claude-swarm start"},
			{Kind: view.NeedStopped, Agents: []string{"tester"}, Why: "3 failures in 300 s", Next: "claude-swarm start tester"},
		}},
		"all at once": {busy, []view.Need{
			{Kind: view.NeedHalted, Agents: []string{}, Why: "by lead: the disk is full", Next: "claude-swarm unhalt"},
			{Kind: view.NeedTrouble, Agents: []string{}, Why: "the configuration was not reloaded", Next: "claude-swarm config check"},
			{Kind: view.NeedLimit, Agents: []string{"a", "b"}, Why: "5-hour limit", Next: "claude-swarm resume a"},
			{Kind: view.NeedStopped, Agents: []string{"broken"}, Since: &noon, Why: "the key is wrong", Next: "fix the key, then claude-swarm start broken"},
			{Kind: view.NeedAnswer, Agents: []string{"tester"}, Since: &noon, Why: "waits for the answer of lead to k7f3q9m2xd", Next: "claude-swarm reply k7f3q9m2xd \"…\""},
			{Kind: view.NeedSession, Agents: []string{"mine"}, Why: "no session is attached to it", Next: "claude-swarm attach mine"},
			{Kind: view.NeedDead, Agents: []string{"coder"}, Count: 2, Next: "claude-swarm dead list coder"},
			{Kind: view.NeedThread, Agents: []string{}, Thread: "it's", Since: &noon, Why: "rings: to and fro", Next: `claude-swarm unhalt --thread 'it'\''s'`},
			{Kind: view.NeedThread, Agents: []string{}, Thread: "k7f3q9m2xd", Since: &noon, Why: "by hand", Next: "claude-swarm unhalt --thread k7f3q9m2xd"},
			{Kind: view.NeedRefused, Agents: []string{}, Count: 3, Next: "claude-swarm refused list"},
			{Kind: view.NeedIRC, Agents: []string{}, Why: "the server refuses the password", Next: "claude-swarm irc doctor"},
			{Kind: view.NeedQuestion, Agents: []string{}, Count: 1, Next: "claude-swarm inbox"},
			{Kind: view.NeedUnread, Agents: []string{}, Count: 4, Next: "claude-swarm inbox"},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			st := view.StatusOf(tc.status)
			if diff := cmp.Diff(tc.want, st.Needs); diff != "" {
				t.Errorf("needs (-want +got):\n%s", diff)
			}
			for _, n := range st.Needs {
				if n.Next == "" && n.Kind != view.NeedTrouble {
					t.Errorf("%s has no next step", n.Kind)
				}
			}
		})
	}
}

// A reason that several agents share appears only once, not next to each of them. The
// status that was passed in does not change.
func TestWhatIsSaidOnce(t *testing.T) {
	limit := func(account string, minute int) *swarm.LimitStatus {
		return &swarm.LimitStatus{Account: account, Until: noon.Add(time.Duration(minute) * time.Minute), Hint: "nothing has to be done"}
	}
	st := view.StatusOf(running(
		swarm.AgentStatus{Name: "a", State: swarm.Limited, Why: "weekly limit", Next: "continues on its own", Limit: limit("x", 9)},
		swarm.AgentStatus{Name: "b", State: swarm.Limited, Why: "no credit", Next: "claude-swarm resume b", Limit: limit("y", 1)},
		swarm.AgentStatus{Name: "c", State: swarm.Limited, Why: "weekly limit", Next: "continues on its own", Limit: limit("x", 7), Dead: 1},
		swarm.AgentStatus{Name: "d", State: swarm.Idle, CostUSD: journal.Cost{Today: 0.25, Total: 1}, Context: journal.Context{Tokens: 68_000, Limit: 200_000}, Dead: 3},
		swarm.AgentStatus{Name: "e", State: swarm.Paused, CostUSD: journal.Cost{Today: 0.5, Total: 2}, Next: "claude-swarm resume e", Context: journal.Context{Limit: 200_000}, Dead: 1},
	))
	want := []view.Limit{
		{Agents: []string{"a", "c"}, Why: "weekly limit", Until: noon.Add(7 * time.Minute), Hint: "nothing has to be done"},
		{Agents: []string{"b"}, Why: "no credit", Until: noon.Add(time.Minute), Hint: "nothing has to be done"},
	}
	if diff := cmp.Diff(want, st.Limits()); diff != "" {
		t.Errorf("limits (-want +got):\n%s", diff)
	}
	type row struct {
		Why, Next string
		Context   int
	}
	got := map[string]row{}
	for _, a := range st.List() {
		got[a.Name] = row{a.Why, a.Next, a.ContextPercent}
	}
	rows := map[string]row{
		"a": {"", "", -1}, "b": {"no credit", "claude-swarm resume b", -1}, "c": {"", "claude-swarm dead list c", -1},
		"d": {"", "claude-swarm dead list d", 34}, "e": {"", "claude-swarm resume e", -1},
	}
	if diff := cmp.Diff(rows, got); diff != "" {
		t.Errorf("agents (-want +got):\n%s", diff)
	}
	if got := st.Cost(); got != (journal.Cost{Today: 0.75, Total: 3}) {
		t.Errorf("all agents have cost %+v", got)
	}
	st.Judge = journal.Cost{Today: 0.25, Total: 0.5}
	if got := st.Cost(); got != (journal.Cost{Today: 1, Total: 3.5}) {
		t.Errorf("all agents and the supervisor have cost %+v", got)
	}
	if st.Agents[0].Why == "" || st.Agents[3].Next != "" {
		t.Error("List has changed the status that it is made from")
	}
	without := view.StatusOf(swarm.Status{Agents: []swarm.AgentStatus{{Name: "a", State: swarm.Stopped, Why: swarm.WhyNoDaemon + "; k7f3q9m2xd was started before the daemon exited", Next: view.StartDaemon}}})
	if a := without.List()[0]; a.Next != "" || !strings.Contains(a.Why, "was started") {
		t.Errorf("without a daemon: %q, next %q", a.Why, a.Next)
	}
}

// A program that can read the daemon's answer can also read status --json, because the
// latter only adds a field at the end.
func TestStatusAsJSON(t *testing.T) {
	plain, err := json.Marshal(running())
	if err != nil {
		t.Fatal(err)
	}
	full, err := json.Marshal(view.StatusOf(running()))
	if err != nil {
		t.Fatal(err)
	}
	if want := strings.TrimSuffix(string(plain), "}") + `,"needs_you":[]}`; string(full) != want {
		t.Errorf("the status is\n%s\nwant\n%s", full, want)
	}
}
