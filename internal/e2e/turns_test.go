package e2e_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

const pair = `  coder:
    role: coder
  reviewer:
    role: reviewer
    allowed_tools: "Read,Glob,Grep"
`

func TestATaskBecomesFilesAndAnAnswer(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"write","match":{"last_user_contains":"Write hello.txt"},"content":[{"text":"I write it."},
			{"tool_use":{"name":"Write","input":{"file_path":"hello.txt","content":"hello from the coder\n"}}}],"context_tokens":13000},
		{"name":"done","match":{"last_is_tool_result":true},"text":"hello.txt is written.","context_tokens":13100}]}`, pair)
	p.start()
	out := p.swarm("send", "coder", "Write hello.txt", "--subject", "PERF-015", "--wait=60s")
	if !strings.Contains(out, "hello.txt is written.") {
		t.Errorf("send --wait printed %q", out)
	}
	if got := p.read("hello.txt"); got != "hello from the coder\n" {
		t.Errorf("hello.txt = %q", got)
	}
	var found []string
	p.until("a receipt", func() bool { // the answer is sent before the receipt is filed
		found, _ = filepath.Glob(filepath.Join(p.dir, ".dead-drop/coder/done/*/*.receipt.yaml"))
		return len(found) == 1
	})
	id := strings.TrimSuffix(filepath.Base(found[0]), ".receipt.yaml")
	r := p.receipt("coder", id[len(id)-10:])
	if r.Tokens.In+r.Tokens.CacheRead == 0 || r.CostUSD <= 0 || r.ToolCalls != 1 || len(r.Files) != 1 || !r.Proven {
		t.Errorf("receipt = %+v", r)
	}
	if st := p.agent("coder"); st.CostUSD.Today != r.CostUSD || st.Context.Tokens != 13100 || st.Context.Limit != 200_000 {
		t.Errorf("status = %+v", st)
	}
}

func TestAFileCopiedByHandIsDoneLikeAnyOther(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[{"name":"answer","match":{"last_user_contains":"copied by hand"},"text":"I saw it."}]}`, pair)
	p.start()
	p.write(".dead-drop/coder/task.md", "This task was copied by hand.\n")
	p.until("an answer", func() bool { return p.status().Lead.Unread == 1 })
	if inbox := p.swarm("inbox"); !strings.Contains(inbox, "coder") {
		t.Errorf("inbox:\n%s", inbox)
	}
}

func TestARetryAfterAFailedTurnReallyRuns(t *testing.T) {
	t.Parallel()
	// After a 400 without a known cause, 2.1.330 retries up to five times, each time with
	// fewer of the API's beta features.
	p := newProject(t, `{"replies":[
		{"name":"second","match":{"last_user_contains":"begun before"},"text":"Built at the second try."},
		{"name":"refused","times":-1,"match":{"last_user_contains":"Build it"},"status":400,"error_type":"invalid_request_error","error_message":"the script says no"}]}`, pair)
	p.start()
	id := p.send("coder", "Build it")
	r := p.receipt("coder", id)
	if len(r.Attempts) != 2 || r.Attempts[0].Outcome != "failed" || !strings.Contains(r.Attempts[0].Reason, "the script says no") {
		t.Errorf("attempts = %+v", r.Attempts)
	}
	reqs := p.requests()
	if n := len(reqs); n < 2 || n > 7 || reqs[n-1].Reply != "second" || reqs[n-2].Reply != "refused" {
		t.Errorf("the model was asked %d times", n)
	}
}

func TestAReviewerCannotWriteAndTheAnswerSaysSo(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"write","match":{"last_user_contains":"Review it"},"content":[{"tool_use":{"name":"Write","input":{"file_path":"evil.txt","content":"x"}}}]},
		{"name":"bash","match":{"last_is_tool_result":true},"times":1,"content":[{"tool_use":{"name":"Bash","input":{"command":"echo x > evil.txt"}}}]},
		{"name":"read","match":{"last_is_tool_result":true},"times":1,"content":[{"tool_use":{"name":"Read","input":{"file_path":"code.txt"}}}]},
		{"name":"end","match":{"tool_result_contains":"good code"},"text":"It is good."}]}`, pair)
	p.write("code.txt", "good code\n")
	p.start()
	out, _, err := p.try("send", "reviewer", "Review it", "--wait=60s")
	if ended, ok := errors.AsType[*exec.ExitError](err); !ok || ended.ExitCode() != 7 {
		t.Errorf("send ends with %v, want exit status 7: nothing that the reviewer tried to do was permitted", err)
	}
	if p.read("evil.txt") != "" {
		t.Error("the reviewer wrote a file")
	}
	for _, want := range []string{"It is good.", "Not permitted", "Write", "allowed_tools"} {
		if !strings.Contains(out, want) {
			t.Errorf("the answer lacks %q:\n%s", want, out)
		}
	}
}

func TestAnAgentSendsToAnotherAndWakesIt(t *testing.T) {
	t.Parallel()
	for _, agent := range []string{"coder", "reviewer"} { // the reviewer's allowed tools do not include Bash, but it can still send messages
		t.Run(agent, func(t *testing.T) {
			t.Parallel()
			other := map[string]string{"coder": "reviewer", "reviewer": "coder"}[agent]
			p := newProject(t, fmt.Sprintf(`{"replies":[
				{"name":"send","match":{"last_user_contains":"Ask the other"},"content":[{"tool_use":{"name":"Bash","input":{"command":"claude-swarm send %s 'Is it blue?' --type question"}}}]},
				{"name":"sent","match":{"last_is_tool_result":true},"text":"I asked."},
				{"name":"other","match":{"last_user_contains":"Is it blue?"},"text":"It is blue."},
				{"name":"heard","match":{"last_user_contains":"It is blue."},"text":"Now I know."}]}`, other), pair)
			p.start()
			id := p.send(agent, "Ask the other")
			r := p.receipt(agent, id)
			if len(r.Sent) != 1 || len(r.Denied) != 0 {
				t.Fatalf("sent %v, denied %v", r.Sent, r.Denied)
			}
			q := p.receipt(other, r.Sent[0])
			if !q.Proven {
				t.Errorf("the question is not proven to be %s's", agent)
			}
			p.until("the answer was heard", func() bool {
				reqs := p.requests()
				return reqs[len(reqs)-1].Reply == "heard"
			})
			p.until("quiet", func() bool { return p.agent(agent).State == "idle" && p.agent(other).State == "idle" })
			if n := len(p.requests()); n != 4 {
				t.Errorf("the model was asked %d times, want 4: somebody answered an answer", n)
			}
			tree := p.swarm("trace", id)
			for _, want := range []string{id, r.Sent[0], "Is it blue?"} {
				if !strings.Contains(tree, want) {
					t.Errorf("trace lacks %s:\n%s", want, tree)
				}
			}
		})
	}
}

func TestTwoAgentsInOneFolderKeepTheirSessions(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[{"name":"rest","times":-1,"text":"Done. ({{messages}} messages in the context)"}]}`, `  coder: {role: coder}
  tester: {role: tester}
`)
	p.start()
	rounds := 4
	if full {
		rounds = 10
	}
	for n := range rounds {
		a := p.send("coder", fmt.Sprintf("coder's task %d", n))
		b := p.send("tester", fmt.Sprintf("tester's task %d", n))
		p.receipt("coder", a)
		p.receipt("tester", b)
		if n == 1 { // the sessions are also resumed after a restart
			p.swarm("stop")
			p.start()
		}
	}
	sessions := map[string]string{}
	for _, r := range p.requests() {
		who, other := "coder", "tester"
		if strings.Contains(r.LastUser, "turn for tester") {
			who, other = other, who
		}
		if was, ok := sessions[who]; ok && was != r.Session {
			t.Errorf("%s changed from session %s to %s", who, was, r.Session)
		}
		sessions[who] = r.Session
		if strings.Contains(r.All, other+"'s task") {
			t.Errorf("%s's conversation has %s's task", who, other)
		}
	}
	if sessions["coder"] == sessions["tester"] || len(sessions) != 2 {
		t.Errorf("sessions = %v", sessions)
	}
	last := p.requests()[len(p.requests())-1]
	for n := range rounds - 1 {
		if !strings.Contains(last.All, fmt.Sprintf("task %d", n)) {
			t.Errorf("the last conversation has forgotten task %d", n)
		}
	}
}

func TestStopDuringABashToolLeavesNothingBehind(t *testing.T) {
	t.Parallel()
	p := newProject(t, sleeper, pair)
	p.start()
	id := p.send("coder", "Wait for it")
	p.until("Bash sleeps", func() bool { return p.read("sleeping") != "" })
	p.swarm("stop", "--now")
	if left := p.marked(); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
	if waits, _ := filepath.Glob(filepath.Join(p.dir, ".dead-drop/coder/new/*"+id+"*")); len(waits) != 1 {
		t.Errorf("new/ = %v, want the message", waits)
	}
	p.start()
	r := p.receipt("coder", id)
	if r.Attempts[0].Outcome != "stopped" {
		t.Errorf("attempts = %+v", r.Attempts)
	}
}

func TestADaemonThatIsKilledLosesNothing(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"slow","match":{"last_user_contains":"Take your time"},"content":[{"tool_use":{"name":"Bash","input":{"command":"echo yes > began; sleep 2; echo slept"}}}]},
		{"name":"end","match":{"tool_result_contains":"slept"},"text":"Finished on my own."}]}`, pair)
	p.start()
	id := p.send("coder", "Take your time")
	p.until("Bash works", func() bool { return p.read("began") != "" })
	daemon, err := os.FindProcess(p.status().Daemon.PID)
	if err != nil {
		t.Fatal(err)
	}
	if err := daemon.Kill(); err != nil {
		t.Fatal(err)
	}
	p.until("the daemon is gone", func() bool { _, _, err := p.try("abort", "coder"); return err != nil && p.status().Daemon == nil })
	p.start()
	r := p.receipt("coder", id)
	if len(r.Attempts) != 1 {
		t.Errorf("attempts = %+v: a turn that went on by itself was run again", r.Attempts)
	}
	if n := len(p.requests()); n != 2 {
		t.Errorf("the model was asked %d times, want 2", n)
	}
}

const sleeper = `{"replies":[
	{"name":"sleep","match":{"last_user_contains":"Wait for it","not_contains":"begun before"},"content":[{"tool_use":{"name":"Bash","input":{"command":"echo $$ > sleeping; exec sleep 600","timeout":600000}}}]},
	{"name":"again","match":{"last_user_contains":"begun before"},"text":"Done now."}]}`

// After the first SIGTERM, the daemon waits for the turn to end. The second SIGTERM ends
// the turn, even in the middle of a command: no process remains, and the message stays in
// the mailbox with no failure counted.
func TestSIGTERMDuringABashTool(t *testing.T) {
	t.Parallel()
	p := newProject(t, sleeper, pair)
	p.start()
	id := p.send("coder", "Wait for it")
	p.until("Bash sleeps", func() bool { return p.read("sleeping") != "" })
	daemon := p.status().Daemon.PID
	if err := syscall.Kill(daemon, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until("the daemon says that it is stopping", func() bool { return strings.Contains(p.swarm("status"), "stops when the running turns have ended") })
	waits := p.send("reviewer", "Not any more")
	if st := p.agent("coder"); !st.Running {
		t.Errorf("the turn was ended by the first signal: %s, %s", st.State, st.Why)
	}
	if err := syscall.Kill(daemon, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	p.until("the daemon has ended", func() bool { return p.status().Daemon == nil })
	if left := p.marked(); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
	if got := p.waiting("coder"); len(got) != 1 || got[0] != id+"~1.0.md" {
		t.Errorf("new/ = %v, want the message with no failure counted", got)
	}
	if got := p.waiting("reviewer"); len(got) != 1 || got[0] != waits+".md" {
		t.Errorf("new/ = %v, want the message that was not begun", got)
	}
	p.start()
	if r := p.receipt("coder", id); r.Attempts[0].Outcome != "stopped" {
		t.Errorf("attempts = %+v", r.Attempts)
	}
}

// If only the CLI gets a SIGTERM, its command continues to run in a separate session. The
// daemon kills the command when the turn ends, and the message is retried.
func TestSIGTERMOfTheCLIDuringABashTool(t *testing.T) {
	t.Parallel()
	p := newProject(t, sleeper, pair)
	p.start()
	id := p.send("coder", "Wait for it")
	p.until("Bash sleeps", func() bool { return p.read("sleeping") != "" })
	client := p.agent("coder").PID
	if client == nil {
		t.Fatal("the status has no pid of the turn")
	}
	if err := syscall.Kill(*client, syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	r := p.receipt("coder", id)
	if len(r.Attempts) != 2 || r.Attempts[0].Outcome != "failed" || !strings.Contains(r.Attempts[0].Reason, "143") {
		t.Errorf("attempts = %+v", r.Attempts)
	}
	if left := p.marked(); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
}
