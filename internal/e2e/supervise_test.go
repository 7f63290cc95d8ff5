package e2e_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/testkit/irctest"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// again is a tool call with a command that takes 0.7 s and always fails in the same way.
const again = `{"tool_use":{"name":"Bash","input":{"command":"timeout 0.7 yes >/dev/null"}}}`

// An agent that keeps running the same command gets a whisper in its turn, then a stronger
// one, and is finally paused until a person responds. The person gets one notice each on
// IRC, by webhook, in the inbox and in the event list. The turn ends normally, and a
// person on IRC resumes the agent.
func TestAnAgentInALoopIsWhisperedToAndThenPaused(t *testing.T) {
	t.Parallel()
	addr, posts := irctest.Ngircd(t, irctest.Unlimited), receive(t)
	p := newProject(t, `{"replies":[
		{"name":"again","match":{"any_contains":"benchmark nemotron"},"times":5,"content":[`+again+`]},
		{"name":"rest","times":-1,"text":"It does not work."}]}`, pair+onIRC(addr)+posts.config("agent_spiraling", "unpaused"))
	p.start()
	ann := sitDown(t, addr, "ann", "#project-x", "#alerts")
	p.until("the bridge is there", func() bool { st := p.status(); return st.IRC != nil && st.IRC.Connected })

	task := p.send("coder", "benchmark nemotron")
	a := p.untilState("coder", swarm.Paused)
	if !strings.HasPrefix(a.Why, "stuck: Retried ") || !strings.HasPrefix(a.Next, "claude-swarm resume coder, ") {
		t.Errorf("status: %q, %q", a.Why, a.Next)
	}
	if r := p.receipt("coder", task); !strings.Contains(r.Text, "It does not work.") {
		t.Errorf("the turn did not end by itself: %+v", r)
	}
	reqs := p.requests()
	if len(reqs) != 6 {
		t.Fatalf("%d requests, want 6: a whisper must cause no request", len(reqs))
	}
	for i, want := range []int{0, 0, 0, 0, 1, 2} {
		if got := strings.Count(reqs[i].All, "[SUPERVISOR/CORRECTION]"); got != want {
			t.Errorf("request %d has %d whispers, want %d", i+1, got, want)
		}
	}
	log := p.swarm("logs", "coder")
	if n := strings.Count(log, "~ [SUPERVISOR/CORRECTION] "); n != 2 {
		t.Errorf("%d whispers in the log, want 2:\n%s", n, log)
	}
	trace := p.swarm("trace", task)
	if strings.Count(trace, "[SUPERVISOR/CORRECTION] ") != 2 || strings.Count(trace, "[SUPERVISOR/ESCALATION] ") != 1 {
		t.Errorf("the trace does not have two whispers and one escalation:\n%s", trace)
	}
	ann.sees("#alerts", `[ESCALATION] Agent coder appears stuck on task "benchmark nemotron". Retried `)
	ann.sees("#alerts", "Awaiting human guidance. Reply @coder resume/abort")
	p.until("the webhook has it", func() bool { return posts.with("[ESCALATION] Agent coder appears stuck") == 1 })
	if n := strings.Count(p.swarm("inbox"), "[ESCALATION]"); n != 1 {
		t.Errorf("the inbox has %d escalations, want 1:\n%s", n, p.swarm("inbox"))
	}

	p.send("coder", "something else")
	ann.types("#project-x", "@coder resume")
	ann.sees("#project-x", "coder works on its mail again")
	p.until("it goes on", func() bool { return p.done("coder") == 2 })
	if n := strings.Count(p.read(".claude-swarm/events.jsonl"), `"word":"agent_spiraling"`); n != 1 {
		t.Errorf("%d escalations on the event list, want 1", n)
	}
	if st := p.status(); st.Lead.Questions != 0 {
		t.Errorf("%d questions wait after the answer", st.Lead.Questions)
	}
	p.until("the webhook hears that it goes on", func() bool { return posts.with("[UNPAUSED] coder") == 1 })
	if all := posts.all(); len(all) != 2 {
		t.Errorf("%d posts, want 2: %q", len(all), all)
	}
	for _, channel := range []string{"#alerts", "#project-x"} {
		said := ann.said(channel)
		if n := strings.Count(said, "[ESCALATION]"); n > 1 || channel == "#alerts" && n == 0 {
			t.Errorf("%s has %d escalations:\n%s", channel, n, said)
		}
		if strings.Contains(said, "SUPERVISOR") {
			t.Errorf("%s has a whisper:\n%s", channel, said)
		}
	}
	if all := p.drops("coder") + p.drops("lead"); strings.Contains(all, "SUPERVISOR") {
		t.Error("a whisper is mail")
	}
}

// The daemon is killed after a whisper that was too late to be read in the turn. The next
// daemon shows the whisper once, at the beginning of the next prompt.
func TestAWhisperSurvivesTheDaemon(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[
		{"name":"again","match":{"any_contains":"benchmark nemotron"},"times":3,"content":[`+again+`]},
		{"name":"rest","times":-1,"text":"Done."}]}`, "  coder: {session: fresh}\n")
	p.start()
	p.send("coder", "benchmark nemotron")
	p.until("the turn is done", func() bool { return p.done("coder") == 1 })
	if !strings.Contains(p.swarm("logs", "coder"), "~ [SUPERVISOR/CORRECTION] ") {
		t.Fatalf("no whisper:\n%s", p.swarm("logs", "coder"))
	}
	for i := range 2 {
		if err := syscall.Kill(p.status().Daemon.PID, syscall.SIGKILL); err != nil {
			t.Fatal(err)
		}
		p.start()
		asked := len(p.requests())
		p.send("coder", "something else")
		p.until("the next turn is done", func() bool { return p.done("coder") == 2+i })
		reqs := p.requests()[asked:]
		if got, want := strings.Count(reqs[0].LastUser, "[SUPERVISOR/CORRECTION]"), 1-i; got != want {
			t.Errorf("the prompt has %d whispers, want %d:\n%s", got, want, reqs[0].LastUser)
		}
	}
}

// A receiver stores the posts that it gets from webhooks.
type receiver struct {
	url string

	mu     sync.Mutex
	bodies []string
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, err := io.ReadAll(req.Body)
		if err != nil {
			t.Error(err)
		}
		r.mu.Lock()
		defer r.mu.Unlock()
		r.bodies = append(r.bodies, string(body))
	}))
	t.Cleanup(server.Close)
	r.url = server.URL
	return r
}

// config returns the webhooks section for a project that posts these events to the
// receiver.
func (r *receiver) config(events ...string) string {
	return fmt.Sprintf("webhooks: [{name: ops, url: %q, private: true, events: [%s]}]\n", r.url, strings.Join(events, ", "))
}

func (r *receiver) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.bodies)
}

// with counts the posts that contain the given text.
func (r *receiver) with(text string) int {
	return len(slices.DeleteFunc(r.all(), func(body string) bool { return !strings.Contains(body, text) }))
}

// A whisper is stored for an agent whose session is run by a person. The session gets the
// whisper once, with its next prompt.
func TestAWhisperReachesAnAttachedSession(t *testing.T) {
	t.Parallel()
	p := newProject(t, `{"replies":[{"name":"hello","times":-1,"text":"Hello to you."}]}`, pair)
	p.swarm("attach", "--as", "ada", "--way", "plugin")
	p.write(".claude-swarm/whispers/ada.json", `{"v": 1, "whispers": [{"key": "w1", "at": "2026-01-01T00:00:00Z", "type": "CORRECTION", "text": "Ask for help."}]}`)
	p.start()
	for i := range 2 {
		asked := len(p.requests())
		p.client("--model", "claude-sonnet-4-6", "--plugin-dir", filepath.Join(p.dir, ".claude-swarm/attach/ada"), "-p", "Hello")
		said := 0
		for _, r := range p.requests()[asked:] {
			said += strings.Count(r.All, "[SUPERVISOR/CORRECTION] Ask for help.")
		}
		if want := 1 - i; said != want {
			t.Errorf("prompt %d came with %d whispers, want %d", i+1, said, want)
		}
	}
}

// said returns all text that a person has seen in a channel.
func (p *person) said(channel string) string {
	p.t.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, channel, "out"))
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}
