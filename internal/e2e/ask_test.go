package e2e_test

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm"
)

// An agent calls its tool to ask the lead a question and gets no answer in time. An
// option in the call determines the next step: the agent continues with its default,
// treats the silence as a no, pauses after the turn until somebody answers, or ends the
// turn.
func TestAskInATurnWithoutAnAnswer(t *testing.T) {
	t.Parallel()
	var replies []string
	for _, how := range []string{"continue", "deny", "pause", "abort"} {
		replies = append(replies,
			fmt.Sprintf(`{"name":"ask","match":{"last_user_contains":"Ask, or else %s"},
				"content":[{"tool_use":{"name":"mcp__dead-drop__ask","input":{"to":"lead","text":"Tabs or spaces?","timeout":1,"on_timeout":%q,"default":"tabs"}}}]}`, how, how),
			fmt.Sprintf(`{"name":"%s","match":{"tool_result_contains":"\"outcome\":\"%s\""},"text":"I went on after %s.","delay_ms":%d}`, how, how, how, map[string]int{"abort": 20_000}[how]))
	}
	p := newProject(t, `{"replies":[`+strings.Join(replies, ",")+`,
		{"name":"answered","match":{"last_user_contains":"Tabs, please."},"text":"Tabs it is."},{"name":"rest","times":-1,"text":"Done."}]}`, "  coder: {allowed_tools: [Read]}\n")
	p.start()
	result := func(reply string) string {
		i := slices.IndexFunc(p.requests(), func(q turnRequest) bool { return q.Reply == reply })
		if i < 0 {
			t.Fatalf("the tool never gave %s", reply)
		}
		return p.requests()[i].LastUser
	}
	for how, want := range map[string]string{"continue": `"text":"tabs"`, "deny": "Treat that as a no"} {
		if r := p.receipt("coder", p.send("coder", "Ask, or else "+how)); r.Text != "I went on after "+how+"." || len(r.Sent) != 1 {
			t.Errorf("%s: receipt = %+v", how, r)
		}
		if got := result(how); !strings.Contains(got, want) {
			t.Errorf("%s: ask gave %s, want %s in it", how, got, want)
		}
	}

	// The turn runs to its normal end, and the next turn starts only after somebody
	// answers.
	r := p.receipt("coder", p.send("coder", "Ask, or else pause"))
	if r.Text != "I went on after pause." {
		t.Errorf("pause: receipt = %+v", r)
	}
	if st := p.untilState("coder", swarm.Paused); !strings.Contains(st.Why, "lead did not answer "+r.Sent[0]+" within 1s: Tabs or spaces?") || !strings.Contains(st.Next, "claude-swarm reply "+r.Sent[0]) {
		t.Errorf("paused, because %q, next %q", st.Why, st.Next)
	}
	id := p.send("coder", "Ask, or else abort")
	if n := p.agent("coder").Waiting.Normal; n != 1 {
		t.Errorf("%d messages wait, want one", n)
	}
	p.swarm("reply", r.Sent[0], "Tabs, please.")
	p.until("the agent goes on with the answer", func() bool { return p.api.Stats().Answered["answered"] == 1 })

	// The turn ends immediately, and its message becomes a dead letter.
	p.until("the message is given up", func() bool { return strings.Contains(p.swarm("dead"), id) })
	if out := p.swarm("dead", "show", id); !strings.Contains(out, "aborted by coder: lead did not answer ") {
		t.Errorf("dead show:\n%s", out)
	}
	p.receipt("coder", p.send("coder", "Go on"))
	for _, q := range []string{"continue", "deny", "pause", "answered"} {
		if n := p.api.Stats().Answered[q]; n != 1 {
			t.Errorf("%s was answered %d times", q, n)
		}
	}
}

// An agent receives even a very late answer as the result of its call: the client neither
// abandons the call nor moves it to the background. SWARM_ASK_SECONDS sets a longer wait;
// at 130, the test passes with Claude Code 2.1.197 and 2.1.330.
func TestALongAskReturnsItsAnswer(t *testing.T) {
	t.Parallel()
	wait := 5 * time.Second
	if s := os.Getenv("SWARM_ASK_SECONDS"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatal(err)
		}
		wait = time.Duration(n) * time.Second
	}
	p := newProject(t, `{"replies":[
		{"name":"ask","match":{"last_user_contains":"Ask the lead"},
		 "content":[{"tool_use":{"name":"mcp__dead-drop__ask","input":{"to":"lead","text":"Tabs or spaces?","timeout":600}}}]},
		{"name":"told","match":{"tool_result_contains":"Tabs, please."},"text":"Tabs it is."},
		{"name":"rest","times":-1,"text":"I was not told."}]}`, "  coder: {allowed_tools: [Read]}\n")
	p.start()
	id := p.send("coder", "Ask the lead")
	p.until("the question", func() bool { return p.status().Lead.Unread == 1 })
	asked := time.Now()
	p.within(wait+time.Minute, "the wait", func() bool { return time.Since(asked) >= wait })
	question := regexp.MustCompile(`(?m)^([a-z2-7]{10}) `).FindStringSubmatch(p.swarm("inbox"))
	if question == nil {
		t.Fatalf("inbox:\n%s", p.swarm("inbox"))
	}
	p.swarm("reply", question[1], "Tabs, please.")
	if r := p.receipt("coder", id); r.Text != "Tabs it is." {
		t.Errorf("receipt = %+v", r)
	}
	for _, q := range p.requests() {
		if q.Reply == "rest" {
			t.Errorf("the model was asked once more, with %s", q.LastUser)
		}
	}
}
