package swarm_test

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// newClientField returns a field whose clients are stand-ins for the CLI. Each turn runs
// one stand-in process. The time limits of a turn are short. The waits after a failure
// are long enough for a test to observe the state between two attempts.
func newClientField(t *testing.T, agents ...string) *field {
	t.Helper()
	home := inMemory(t) // is removed after the daemon has ended
	f := newField(t, agents...)
	f.home = home
	f.environ = os.Environ()
	f.restart = swarm.RestartPolicy{NotBegun: 10 * time.Minute, Disk: 20 * time.Millisecond}
	f.clients = claude.New(clientOptions)
	f.plan.Agents = clientSpecs(t, f.dir, f.home, agents...)
	return f
}

var clientOptions = claude.Options{
	MaxOutput: 64 << 20,
	Timing: runner.Timing{
		Interrupt: time.Second, Terminate: 300 * time.Millisecond, Close: time.Second, PromptNotRun: 5 * time.Second,
		Leftovers: 200 * time.Millisecond, Sample: 500 * time.Millisecond,
	},
}

// clientSpecs returns the settings of agents whose client is this test binary.
func clientSpecs(t interface{ Fatal(...any) }, dir, home string, names ...string) []swarm.Spec {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var specs []swarm.Spec
	for _, name := range names {
		specs = append(specs, swarm.Spec{Name: name, AgentSettings: swarm.AgentSettings{RetryDelay: time.Hour, Settings: turn.Settings{
			Backend: "claude",
			Client: runner.Spec{
				Command: []string{self}, Dir: dir, PermissionMode: "acceptEdits",
				Timeout: 12 * time.Hour, // until the test gives up first
			},
			// Without GORACE, a program that is built with the race detector sleeps for a
			// second before it exits.
			Env: map[string]string{asClient: "1", "HOME": home, "ANTHROPIC_API_KEY": "sk-ant-test", "GORACE": "atexit_sleep_ms=0", "STANDIN_LOG": filepath.Join(home, "turns.log")},
		}}})
	}
	return specs
}

// turns returns the turns that have a record, sorted by name.
func (f *field) turns() []string {
	f.t.Helper()
	names, err := filepath.Glob(filepath.Join(journal.HomeOf(f.dir).Turns(), "*.json"))
	if err != nil {
		f.t.Fatal(err)
	}
	for i, name := range names {
		names[i] = strings.TrimSuffix(filepath.Base(name), ".json")
	}
	return names
}

// noProcesses checks that no process of a turn is still running.
func (f *field) noProcesses() {
	f.t.Helper()
	for _, turn := range f.turns() {
		if left := runner.Leftovers(turn); len(left) > 0 {
			f.t.Errorf("turn %s has left %v", turn, left)
		}
	}
}

// A client can misbehave in many ways. After each misbehavior the test checks the agent's
// state, its reason and the next step, and the number of failures. It also checks that no
// process is left and that the agent works on the next message.
func TestClientsThatMisbehave(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	missing := []string{"/no/such/claude"}
	file := filepath.Join(t.TempDir(), "client")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	const tries, starts, comes = "tries again at ", ", then claude-swarm start coder", "continues on its own at "
	for name, c := range map[string]struct {
		body    string
		env     string
		command []string
		stall   time.Duration
		timeout time.Duration

		state     swarm.State // the agent's state afterwards
		why, next string      // parts of the status text
		outcome   string      // in the ledger; "" means done
		counted   int         // number of counted failures of the message
		text      string      // the answer to the message; "" means "ready"
	}{
		"it dies before its first event":           {body: "@unborn", state: swarm.Backoff, why: "status 1 before its first output: standin: unborn", next: tries, outcome: "unborn"},
		"it says nothing at all and dies":          {body: "x", env: "STANDIN_UNBORN", state: swarm.Backoff, why: "before its first output", next: tries, outcome: "unborn"},
		"it ends well without a result":            {body: "@say begun\n@noresult", state: swarm.Backoff, why: "status 0 without a result", next: tries, outcome: "failed", counted: 1},
		"it ends badly without a result":           {body: "@say begun\n@exit 3", state: swarm.Backoff, why: "status 3 without a result", next: tries, outcome: "failed", counted: 1},
		"it is killed":                             {body: "@say begun\n@die", state: swarm.Backoff, why: "a signal (killed) without a result", next: tries, outcome: "failed", counted: 1},
		"an error that is called a success":        {body: "@fail no luck", state: swarm.Backoff, why: "no luck", next: tries, outcome: "failed", counted: 1},
		"a result, and it stays":                   {body: "@say ready\n@linger 10m", state: swarm.Idle},
		"a result, and it stays and hears nothing": {body: "@deaf\n@say ready\n@linger 10m", state: swarm.Idle},
		"two results":                              {body: "@say ready\n@again and more", state: swarm.Idle, text: "ready\n\nand more"},
		"silent and busy":                          {body: "@say begun\n@spin", stall: 2 * time.Second, timeout: 7 * time.Second, state: swarm.Backoff, why: "longer than 7s", next: tries, outcome: "timed-out", counted: 1},
		"silent, with a call open":                 {body: "@pending Task think", stall: 2 * time.Second, timeout: 7 * time.Second, state: swarm.Backoff, why: "longer than 7s", next: tries, outcome: "timed-out", counted: 1},
		"silent, with a command that runs":         {body: "@sh sleep 600", stall: 2 * time.Second, timeout: 7 * time.Second, state: swarm.Backoff, why: "longer than 7s", next: tries, outcome: "timed-out", counted: 1},
		"silent and idle":                          {body: "@say begun\n@sleep 10m", stall: 2 * time.Second, state: swarm.Backoff, why: "no sign of life", next: tries, outcome: "stalled", counted: 1},
		"silent from the first":                    {body: "@sleep 10m", env: "STANDIN_SILENT", stall: 2 * time.Second, state: swarm.Backoff, why: "no sign of life", next: tries, outcome: "stalled", counted: 1},
		"deaf to signals":                          {body: "@say begun\n@hang", stall: 2 * time.Second, state: swarm.Backoff, why: "no sign of life", next: tries, outcome: "stalled", counted: 1},
		"it floods its output and hears nothing":   {body: "@deaf\n@flood", state: swarm.Backoff, why: "more than 64 MiB", next: tries, outcome: "failed", counted: 1},
		"it closes its output and lives":           {body: "@say begun\n@closeout", stall: 2 * time.Second, state: swarm.Backoff, why: "no sign of life", next: tries, outcome: "stalled", counted: 1},
		"a line that is too long":                  {body: "@big 34000000\n@say ready", state: swarm.Idle},
		"a flood on standard error":                {body: "@noise 40000000\n@say ready", state: swarm.Idle},
		"a grandchild holds its output":            {body: "@orphan 10m\n@say ready", state: swarm.Idle},
		"rubbish":                                  {body: "@rubbish\n@say ready\n@rubbish\n@unknown", state: swarm.Idle},
		"not installed":                            {body: "@say ready", command: missing, state: swarm.Stopped, why: "/no/such/claude is not installed", next: "npm install", outcome: "bad-setup"},
		"not executable":                           {body: "@say ready", command: []string{file}, state: swarm.Stopped, why: "is not executable", next: "check command: for agent coder", outcome: "bad-setup"},
		"wrong model":                              {body: "@status 404", state: swarm.Stopped, why: "selected model", next: "set model: for agent coder to one that your account can use", outcome: "bad-setup"},
		"wrong key":                                {body: "@status 401", state: swarm.Stopped, why: "refuses the key", next: "claude /login, or set ANTHROPIC_API_KEY in env: for agent coder", outcome: "bad-setup"},
		"forbidden":                                {body: "@status 403", state: swarm.Limited, why: "403", next: "check the account, log in with claude /login, or use an API key; " + comes, outcome: "limited"},
		"a usage limit with a reset":               {body: "@limited 1h", state: swarm.Limited, why: "hit your 5-hour limit", next: comes, outcome: "limited"},
		"a usage limit without one":                {body: "@status 429 retry-after 3600", state: swarm.Limited, why: "429", next: comes, outcome: "limited"},
		"no credit":                                {body: "@status 402", state: swarm.Limited, why: "402", next: "buy credit for the API key, or use another login; " + comes, outcome: "limited"},
		"an overload":                              {body: "@status 529 retry-after 60", state: swarm.Limited, why: "529 Overloaded", next: comes, outcome: "limited"},
		"a fault of the API":                       {body: "@status 500 retry-after 60", state: swarm.Limited, why: "500", next: comes, outcome: "limited"},
		"a refused login":                          {body: "@status 401", env: "CLAUDE_CODE_OAUTH_TOKEN", state: swarm.Limited, why: "refuses the login", next: "claude /login, or set a new CLAUDE_CODE_OAUTH_TOKEN; " + comes, outcome: "limited"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := newClientField(t, "coder")
			good := f.plan.Agents[0]
			coder := &f.plan.Agents[0]
			coder.Client.Stall, coder.Client.Timeout = c.stall, cmp.Or(c.timeout, coder.Client.Timeout)
			if c.command != nil {
				coder.Client.Command = c.command
			}
			if c.env != "" {
				coder.Env = maps.Clone(coder.Env)
				coder.Env[c.env] = "1"
				if c.env == "CLAUDE_CODE_OAUTH_TOKEN" {
					coder.Env["ANTHROPIC_API_KEY"] = ""
				}
			}
			f.start()
			id := f.send("coder", c.body)
			var st swarm.AgentStatus
			f.until("the end of the turn", func() bool {
				st = f.status("coder")
				return st.TurnCount == 1 && st.State == c.state
			})
			if !strings.Contains(st.Why, c.why) || (c.why == "") != (st.Why == "") {
				t.Errorf("why = %q, want …%s…", st.Why, c.why)
			}
			if !strings.Contains(st.Next, c.next) || (c.next == "") != (st.Next == "") {
				t.Errorf("next = %q, want …%s…", st.Next, c.next)
			}
			if c.state == swarm.Stopped && (!st.CircuitOpen || !strings.HasSuffix(st.Next, starts) || strings.Count(st.Next, "claude-swarm start") != 1) {
				t.Errorf("the breaker is open: %v, next = %q, want …%s, once", st.CircuitOpen, st.Next, starts)
			}
			f.noProcesses()
			turns := f.turns()
			if len(turns) != 1 {
				t.Fatalf("turns = %v, want one", turns)
			}
			for _, file := range []string{".stderr", ".jsonl"} {
				info, err := os.Stat(filepath.Join(journal.HomeOf(f.dir).Turns(), turns[0]+file))
				if c.command == nil && (err != nil || info.Size() > 5<<20 && !strings.Contains(c.body, "@big")) {
					t.Errorf("%s was not bounded: %v, %v", file, info, err)
				}
			}
			f.ledgerSays(id, cmp.Or(c.outcome, "done"))

			if c.state == swarm.Idle {
				if got := strings.TrimSpace(string(f.answer(id).Body)); got != cmp.Or(c.text, "ready") {
					t.Errorf("the answer is %.100q, want %q", got, cmp.Or(c.text, "ready"))
				}
				f.receipt("coder", id)
			} else if got := f.files("coder", "new"); len(got) != 1 || !strings.HasSuffix(got[0], fmt.Sprintf("%s~1.%d.md", id, c.counted)) {
				t.Errorf("new/ = %v, want the message begun once, with %d failures", got, c.counted)
			}
			// Before the next message, a person follows the advice in the status.
			next := f.send("coder", "@say fine", urgent)
			f.plan.Agents = []swarm.Spec{good}
			if _, err := f.daemon.Reload(f.plan); err != nil {
				t.Fatal(err)
			}
			goOn := f.daemon.Resume
			if c.state == swarm.Stopped {
				goOn = f.daemon.StartAgent
			}
			if err := goOn("coder", "lead"); err != nil && !errors.Is(err, swarm.ErrNotPaused) { // the agent may have resumed already
				t.Fatal(err)
			}
			if got := string(f.answer(next).Body); !strings.Contains(got, "fine") {
				t.Errorf("the next message is answered with %q", got)
			}
			f.halt()
			f.noProcesses()
		})
	}
}

// ledgerSays checks the outcomes of a message's attempts.
func (f *field) ledgerSays(id string, outcomes ...string) {
	f.t.Helper()
	var got []string
	err := journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
		if l.Message == id {
			got = append(got, l.Outcome)
		}
		return true
	})
	if err != nil || !slices.Equal(got, outcomes) {
		f.t.Errorf("the ledger has %q (%v), want %q", got, err, outcomes)
	}
}

// The agent stops after three clients have died before their first event. These deaths do
// not count as failures of the message.
func TestAClientThatAlwaysDiesAtOnceStopsTheAgent(t *testing.T) {
	f := newClientField(t, "coder")
	f.restart.NotBegun = 20 * time.Millisecond
	f.start()
	id := f.send("coder", "@unborn")
	st := f.untilState("coder", swarm.Stopped)
	if !st.CircuitOpen || !strings.Contains(st.Why, "3 times within 5m0s; last: the client exited with status 1") || !strings.Contains(st.Next, "run it by hand") {
		t.Errorf("circuit open %v, why %q, next %q", st.CircuitOpen, st.Why, st.Next)
	}
	if got := f.files("coder", "new"); len(got) != 1 || !strings.HasSuffix(got[0], id+"~3.0.md") {
		t.Errorf("new/ = %v, want the message begun 3 times, not counted", got)
	}
	f.ledgerSays(id, "unborn", "unborn", "unborn")
	next := f.send("coder", "@say fine", urgent)
	if err := f.daemon.StartAgent("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	f.answer(next)
	f.halt()
	f.noProcesses()
}

// The agent gives up a message whose turn kills the client three times. The sender gets
// one bounce, and the agent works on the next message.
func TestAMessageThatKillsItsClientIsGivenUp(t *testing.T) {
	f := newClientField(t, "coder")
	f.plan.Agents[0].RetryDelay = 20 * time.Millisecond
	f.restart.MaxDelay = 50 * time.Millisecond
	f.start()
	bad := f.send("coder", "@say begun\n@die", subject("poison"))
	good := f.send("coder", "@say fine")
	if b := f.answer(bad); !strings.Contains(string(b.Body), "failed 3 times") || !strings.Contains(string(b.Body), "killed") {
		t.Errorf("the bounce says %q", b.Body)
	}
	f.answer(good)
	f.untilState("coder", swarm.Idle)
	if n := len(f.bounces(bad)); n != 1 {
		t.Errorf("the sender was told %d times", n)
	}
	if st := f.status("coder"); st.Dead != 1 || st.CircuitOpen {
		t.Errorf("dead %d, circuit open %v; want the one message dead, and nothing stopped", st.Dead, st.CircuitOpen)
	}
	f.ledgerSays(bad, "failed", "failed", "failed")
	f.nothingLeft("coder")
	f.noProcesses()
}
