package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

const lingering = `  coder:
    role: coder
    linger: 10m
`

// stream reads a client's output. It returns how many turns began, how many ended, and
// the total cost.
func (p *project) stream(path string) (inits, results int, total float64) {
	p.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	for text := range bytes.Lines(data) {
		var l struct {
			Type, Subtype string
			Cost          float64 `json:"total_cost_usd"`
		}
		if err := json.Unmarshal(text, &l); err != nil {
			p.t.Fatalf("%s: %v", text, err)
		}
		switch {
		case l.Subtype == "init":
			inits++
		case l.Type == "result":
			results, total = results+1, l.Cost
		}
	}
	return inits, results, total
}

// warm waits until the agent's client is waiting for a turn, and returns the client's
// status.
func (p *project) warm(agent string) turn.WarmStatus {
	p.t.Helper()
	var st swarm.AgentStatus
	p.until(agent+"'s client waits", func() bool {
		st = p.agent(agent)
		return st.State == swarm.Idle && st.Warm != nil
	})
	return *st.Warm
}

func TestThreeMessagesInOneProcess(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"slow","match":{"last_user_contains":"Second"},"content":[{"tool_use":{"name":"Bash","input":{"command":"sleep 4; echo slept","description":"wait"}}}]},
		{"name":"send","match":{"tool_result_contains":"slept"},"content":[{"tool_use":{"name":"Bash","input":{"command":"claude-swarm send lead 'Half way.' --type status"}}}]},
		{"name":"rest","times":-1,"text":"Done. ({{messages}} messages in the context)"}]}`, lingering)
	p.start()
	began := time.Now()
	var pid int
	var sum float64
	for i, task := range []string{"First task", "Second task", "Third task"} {
		id := p.send("coder", task)
		r := p.receipt("coder", id)
		if r.CostUSD <= 0 || len(r.Attempts) != 1 || r.Tokens.In == 0 || len(r.Denied) != 0 {
			t.Errorf("receipt %d = %+v", i+1, r)
		}
		sum += r.CostUSD
		w := p.warm("coder")
		if pid == 0 {
			pid = w.PID
		}
		mib := w.RSSBytes >> 20
		if w.PID != pid || mib < 100 || mib > 2000 || w.Since.Before(began.Add(-time.Second)) {
			t.Errorf("after message %d waits %+v, want pid %d with the memory of a client", i+1, w, pid)
		}
		if (len(r.Sent) == 1) != (i == 1) {
			t.Errorf("receipt %d: sent = %v, want a message of the second turn alone", i+1, r.Sent)
		} else if tree := p.swarm("trace", id); i == 1 && !strings.Contains(tree, r.Sent[0]) {
			t.Errorf("the trace of the second message lacks what was sent in it:\n%s", tree)
		}
	}
	streams := p.streams()
	if len(streams) != 1 {
		t.Fatalf("streams: %v, want one", streams)
	}
	inits, results, total := p.stream(streams[0])
	if inits != 3 || results != 3 || math.Abs(sum-total) > 1e-6 {
		t.Errorf("%d inits and %d results; the receipts cost %v, the process %v", inits, results, sum, total)
	}
	if st := p.agent("coder"); math.Abs(st.CostUSD.Total-total) > 1e-6 {
		t.Errorf("the status reports %v USD, the process %v", st.CostUSD.Total, total)
	}
	if text := p.swarm("status"); !strings.Contains(text, "warm for ") || !strings.Contains(text, fmt.Sprintf("pid %d", pid)) || !strings.Contains(text, "MiB") {
		t.Errorf("the status does not show the client that waits:\n%s", text)
	}
	if raw := p.swarm("logs", "coder", "--raw", "-n", "1000"); strings.Count(raw, `"type":"result"`) != 1 || !strings.Contains(raw, "Third task") {
		t.Errorf("the raw log has %d results, want that of the last turn alone", strings.Count(raw, `"type":"result"`))
	}
	if out, _, err := p.try("doctor"); err != nil && strings.Contains(out, "left by turns") {
		t.Errorf("doctor takes the client for a leftover:\n%s", out)
	}
	if reqs := p.requests(); !strings.Contains(reqs[len(reqs)-1].All, "First task") {
		t.Error("the conversation has forgotten its first message")
	}
	p.swarm("stop")
	if left := p.marked(); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
}

// The daemon is killed in the middle of the client's second turn, and again while the
// client is waiting.
func TestADaemonThatIsKilledWithAClientThatStays(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"slow","match":{"last_user_contains":"Take your time"},"content":[{"tool_use":{"name":"Bash","input":{"command":"echo yes > began; sleep 2; echo slept"}}}]},
		{"name":"end","match":{"tool_result_contains":"slept"},"text":"Finished on my own."},
		{"name":"rest","times":-1,"text":"Done."}]}`, lingering)
	kill := func() {
		t.Helper()
		daemon, err := os.FindProcess(p.status().Daemon.PID)
		if err != nil {
			t.Fatal(err)
		}
		if err := daemon.Kill(); err != nil {
			t.Fatal(err)
		}
		p.until("the daemon is gone", func() bool { _, _, err := p.try("abort", "coder"); return err != nil && p.status().Daemon == nil })
	}
	p.start()
	first := p.receipt("coder", p.send("coder", "First task"))
	p.warm("coder")
	id := p.send("coder", "Take your time")
	p.until("Bash works", func() bool { return p.read("began") != "" })
	kill()
	p.start()
	r := p.receipt("coder", id)
	if len(r.Attempts) != 1 || r.Text != "Finished on my own." || r.CostUSD <= 0 {
		t.Errorf("receipt = %+v: a turn that went on by itself was run again", r)
	}
	streams := p.streams()
	if len(streams) != 1 {
		t.Fatalf("streams: %v, want one", streams)
	}
	if _, results, total := p.stream(streams[0]); results != 2 || math.Abs(first.CostUSD+r.CostUSD-total) > 1e-6 {
		t.Errorf("%d results; the receipts cost %v and %v, the process %v", results, first.CostUSD, r.CostUSD, total)
	}
	if n := len(p.requests()); n != 3 {
		t.Errorf("the model was asked %d times, want 3", n)
	}

	p.receipt("coder", p.send("coder", "Another task"))
	p.warm("coder")
	kill()
	p.until("the client has ended by itself", func() bool { return len(p.marked()) == 0 })
	p.start()
	p.receipt("coder", p.send("coder", "The last task"))
	if pids, _ := filepath.Glob(filepath.Join(p.dir, ".claude-swarm/pids/*")); len(pids) != 1 {
		t.Errorf("pid files: %v, want that of the client that waits", pids)
	}
}

// A client with a background job does not wait for the next turn, because the CLI would
// start a separate turn when the job ends.
func TestAClientWithAJobInTheBackgroundDoesNotStay(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"job","match":{"last_user_contains":"Build it"},"content":[{"tool_use":{"name":"Bash","input":{"command":"sleep 2; echo built","description":"Build","run_in_background":true}}}]},
		{"name":"began","match":{"last_is_tool_result":true},"times":1,"text":"It is being built."},
		{"name":"rest","times":-1,"text":"Done."}]}`, lingering+"    background: true\n")
	p.start()
	r := p.receipt("coder", p.send("coder", "Build it"))
	if !strings.Contains(r.Text, "It is being built.") {
		t.Errorf("receipt = %+v", r)
	}
	p.until("the agent is idle", func() bool { return p.agent("coder").State == swarm.Idle })
	if w := p.agent("coder").Warm; w != nil {
		t.Errorf("%+v waits", w)
	}
	if left := p.marked(); len(left) != 0 {
		t.Errorf("processes left: %v", left)
	}
}

// The daemon keeps a client that waited between turns, even if the model is slow to
// answer in the next turn. Such a client does not echo the prompt until it has received
// the first word of the answer.
func TestAClientThatWaitedForASlowModelIsNotGivenUp(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"slow","match":{"last_user_contains":"Second task"},"times":-1,"delay_ms":16000,"text":"Thought it over."},
		{"name":"rest","times":-1,"text":"Done."}]}`, lingering)
	p.start()
	p.receipt("coder", p.send("coder", "First task"))
	pid := p.warm("coder").PID
	r := p.receipt("coder", p.send("coder", "Second task"))
	if r.Text != "Thought it over." || len(r.Attempts) != 1 {
		t.Errorf("receipt = %+v", r)
	}
	if n := p.api.Stats().Answered["slow"]; n != 1 {
		t.Errorf("the model was asked %d times for the second task, want once", n)
	}
	if again := p.warm("coder").PID; again != pid {
		t.Errorf("the client that waited, %d, is gone; %d waits", pid, again)
	}
}
