package swarm_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/permission"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// permitting is a backend of scripted clients whose scripts call Permit. The outcome of a
// turn lists the decisions.
type permitting struct{ *runnertest.Scripted }

func (b permitting) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	var mu sync.Mutex
	var all []runner.Decision
	permit := t.Permit
	t.Permit = func(ctx context.Context, r runner.PermissionRequest) runner.Decision {
		d := permit(ctx, r)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, d)
		return d
	}
	out := b.Scripted.Run(ctx, t)
	out.Decisions = all
	return out
}

// newPermitField returns a field with the agents coder and boss. The turns of the agent
// coder ask for permission and then say that they have ended. All requests are made at
// the same time.
func newPermitField(t *testing.T, r permission.Rules, requests ...runner.PermissionRequest) *field {
	t.Helper()
	f := newField(t, "coder", "boss")
	f.clients = permitting{f.backend}
	f.plan.Agents[0].Backend, f.plan.Agents[0].Permissions = "claude", r
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent != "coder" || !strings.Contains(turn.Prompt, "do it") {
			return []runnertest.Step{runnertest.Say(leadWord)}
		}
		return []runnertest.Step{runnertest.Do(func(ctx context.Context, turn runner.Turn) error {
			var all sync.WaitGroup
			for _, r := range requests {
				all.Go(func() { turn.Permit(ctx, r) })
			}
			all.Wait()
			return nil
		}), runnertest.Say("it ended")}
	}
	return f
}

// leadWord is the final text of an agent that makes no requests. This text is its answer
// to a question.
const leadWord = "Allow, of course."

var npmTest = runner.PermissionRequest{Kind: "execute", Command: "npm test"}

func entry(kind, pattern string) []permission.Entry {
	return []permission.Entry{{Kind: kind, Pattern: pattern}}
}

// question waits until the given mailbox contains a question whose id is not in seen, and
// returns that question.
func (f *field) question(to string, seen ...string) *dropbox.Message {
	f.t.Helper()
	var got *dropbox.Message
	f.until("a question to "+to, func() bool {
		for _, m := range f.mail(to) {
			if m.Type == dropbox.Question && !slices.Contains(seen, m.ID) {
				got = m
				return true
			}
		}
		return false
	})
	return got
}

// asked waits for the first question of a turn, and returns its id. The question may
// already be over.
func (f *field) asked(turn string) string {
	f.t.Helper()
	var first journal.Asked
	f.until("a question", func() bool {
		data, err := os.ReadFile(journal.HomeOf(f.dir).TurnFile(turn, ".asks"))
		line, _, ok := bytes.Cut(data, []byte("\n"))
		return err == nil && ok && json.Unmarshal(line, &first) == nil
	})
	return first.ID
}

// reply answers a question.
func (f *field) reply(q *dropbox.Message, text string, set ...func(*dropbox.Message)) string {
	f.t.Helper()
	return f.send(q.From, text, append([]func(*dropbox.Message){typed(dropbox.Result), subject("Re: " + q.Subject), func(m *dropbox.Message) {
		m.ReplyTo, m.Thread, m.Trace = q.ID, q.Thread, q.Trace
	}}, set...)...)
}

// decided returns the text of each permission event since its last call.
func (f *field) decided() (all []string) {
	f.t.Helper()
	events := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil)
	err := events.Tell("permissions", nil, func(list []journal.Event, _ int64) error {
		for _, ev := range list {
			if ev.Kind == journal.Permission {
				all = append(all, strings.TrimSpace(ev.Message.Body))
			}
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return all
}

// one returns the only decision in the receipt of a message.
func one(t *testing.T, r *journal.Receipt) journal.Decision {
	t.Helper()
	if len(r.Decisions) != 1 {
		t.Fatalf("the receipt has the decisions %+v, want one", r.Decisions)
	}
	return r.Decisions[0]
}

func TestRulesDecideAtOnce(t *testing.T) {
	for name, c := range map[string]struct {
		rules   permission.Rules
		allowed bool
		rule    string
		denied  string
	}{
		"allowed": {rules: permission.Rules{Allow: entry("execute", "npm *")}, allowed: true, rule: "execute npm *"},
		"denied":  {rules: permission.Rules{Deny: entry("execute", "npm *")}, rule: "execute npm *", denied: `execute npm test; denied by the entry "execute npm *"`},
		"unnamed": {denied: `execute npm test; denied: no entry allows it; permissions: allow: ["execute npm test"] allows it`},
	} {
		t.Run(name, func(t *testing.T) {
			f := newPermitField(t, c.rules, npmTest)
			f.start()
			id := f.send("coder", "do it")
			r := f.receipt("coder", id)
			d := one(t, r)
			if d.Allowed != c.allowed || d.Rule != c.rule || d.Kind != "execute" || d.Command != "npm test" || d.By != "" || d.At.IsZero() {
				t.Errorf("decided %+v", d)
			}
			if got := strings.Join(r.Denied, "\n"); got != c.denied {
				t.Errorf("denied %q, want %q", got, c.denied)
			}
			answer := string(f.answer(id).Body)
			if c.denied != "" != strings.Contains(answer, "Not permitted in this turn:\n- "+c.denied) {
				t.Errorf("the answer is %q", answer)
			}
			want := 1
			if c.allowed {
				want = 0
			}
			if got := f.decided(); len(got) != want {
				t.Errorf("%d events %q, want %d", len(got), got, want)
			}
			if n := len(f.mail(dropbox.Lead)); n != 1 {
				t.Errorf("the lead has %d messages, want the answer", n)
			}
		})
	}
}

func TestTheLeadIsAsked(t *testing.T) {
	for reply, allowed := range map[string]bool{"allow": true, "Allow.": true, "ALLOW, but quickly": true, "deny": false, "**Deny**: too slow": false} {
		t.Run(reply, func(t *testing.T) {
			f := newPermitField(t, permission.Rules{Ask: entry("execute", "npm *"), Timeout: time.Hour}, npmTest)
			f.start()
			id := f.send("coder", "do it")
			q := f.question(dropbox.Lead)
			if body := string(q.Body); !strings.Contains(body, "execute\n\n```\nnpm test\n```") || q.Subject != "permission: execute npm test" || q.From != "coder" || q.Trace != id {
				t.Errorf("the question is %+v\n%s", q, body)
			}
			st := f.untilState("coder", swarm.Asking)
			if !strings.Contains(st.Why, "asks lead in "+q.ID+" whether it may: execute npm test") || st.Next != "claude-swarm reply "+q.ID+" allow" || st.Since == nil {
				t.Errorf("status %q %q", st.Why, st.Next)
			}
			f.reply(q, reply)
			d := one(t, f.receipt("coder", id))
			if d.Allowed != allowed || d.By != dropbox.Lead || d.Rule != "execute npm *" || d.Why != "" {
				t.Errorf("decided %+v", d)
			}
			f.untilState("coder", swarm.Idle)
			if n := len(f.backend.Runs()); n != 1 {
				t.Errorf("%d turns, want 1: the reply begins none", n)
			}
			if got := f.decided(); len(got) != 1 || !strings.Contains(got[0], "by lead: execute npm test") {
				t.Errorf("events %q", got)
			}
		})
	}
}

// The daemon handles an urgent reply and does not pass it to the client.
func TestAnUrgentReplyIsNotBroughtToTheTurn(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
	f.start()
	id := f.send("coder", "do it")
	f.reply(f.question(dropbox.Lead), "allow", urgent)
	if r := f.receipt("coder", id); !one(t, r).Allowed || len(r.Steered) > 0 {
		t.Errorf("the receipt is %+v", r)
	}
}

// On IRC the bridge checks who may answer, and signs their answers.
func TestSomebodyOnIRCAnswers(t *testing.T) {
	for text, allowed := range map[string]bool{
		"allow": true, "[IRC @mention in #project-x] <ann> coder: allow": true, "[IRC @mention in #project-x] <ann> @coder, Deny": false,
		"[IRC private message] <ann> Allow!": true, "[IRC private message] <allow> deny": false,
	} {
		f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
		f.start()
		tokens, err := journal.HomeOf(f.dir).Tokens()
		if err != nil {
			t.Fatal(err)
		}
		id := f.send("coder", "do it")
		q := f.question(dropbox.Lead)
		bridge := dropbox.Bridges()[0]
		f.tokens[bridge] = tokens[bridge]
		f.reply(q, text, from(bridge))
		if d := one(t, f.receipt("coder", id)); d.Allowed != allowed || d.By != bridge || d.Why != "" {
			t.Errorf("%q decided %+v", text, d)
		}
	}
}

// If the answer is neither allow nor deny, the daemon asks the question a second time.
func TestAnUnclearAnswerIsAskedAgainOnce(t *testing.T) {
	for second, allowed := range map[string]bool{"allow": true, "what?": false} {
		f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
		f.start()
		id := f.send("coder", "do it")
		q := f.question(dropbox.Lead)
		f.reply(q, "why not")
		again := f.question(dropbox.Lead, q.ID)
		if !strings.Contains(string(again.Body), "asked again") {
			t.Errorf("the second question is %q", again.Body)
		}
		f.reply(again, second)
		d := one(t, f.receipt("coder", id))
		if d.Allowed != allowed || d.By != dropbox.Lead || allowed != (d.Why == "") {
			t.Errorf("decided %+v", d)
		}
	}
}

// Only an answer from an authorized sender counts. An answer from another agent, or one
// without a proof, is ordinary mail.
func TestWhoMayAnswer(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newPermitField(t, permission.Rules{Ask: entry("execute", ""), Timeout: time.Hour}, npmTest)
		f.start()
		id := f.send("coder", "do it")
		q := f.question(dropbox.Lead)
		f.reply(q, "allow", from("boss"))
		if _, err := f.store.Deliver("coder", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Result, ReplyTo: q.ID, Subject: "Re: " + q.Subject, Body: []byte("allow")}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // the daemon looks at both answers
		if st := f.status("coder"); st.State != swarm.Asking {
			t.Fatalf("coder is %s, want asking", st.State)
		}
		f.reply(q, "deny")
		if d := one(t, f.receipt("coder", id)); d.Allowed || d.By != dropbox.Lead {
			t.Errorf("decided %+v", d)
		}
	})
}

func TestTheAgentThatLeadsIsAsked(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
	f.plan.Lead = "boss"
	f.start()
	id := f.send("coder", "do it")
	if d := one(t, f.receipt("coder", id)); !d.Allowed || d.By != "boss" {
		t.Errorf("decided %+v", d)
	}
	f.untilState("coder", swarm.Idle)
	f.nothingLeft("coder")
	if n := len(f.backend.Runs()); n != 2 {
		t.Errorf("%d turns, want 2", n)
	}
}

// The person is asked if the lead agent is paused.
func TestThePersonIsAskedWhereTheLeadCannotWork(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
	f.plan.Lead = "boss"
	f.start()
	if err := f.daemon.Pause("boss", swarm.PauseOrder{By: dropbox.Lead}); err != nil {
		t.Fatal(err)
	}
	id := f.send("coder", "do it")
	f.reply(f.question(dropbox.Lead), "allow")
	if d := one(t, f.receipt("coder", id)); !d.Allowed || d.By != dropbox.Lead {
		t.Errorf("decided %+v", d)
	}
}

// The person is asked if the lead agent gives up the question.
func TestThePersonIsAskedWhereTheLeadFails(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
	f.plan.Lead, f.plan.Agents[1].MaxFailures = "boss", 1
	script := f.backend.Script
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		if turn.Agent == "boss" {
			return []runnertest.Step{runnertest.Say("let me see"), runnertest.Fail("no idea")}
		}
		return script(turn)
	}
	f.start()
	id := f.send("coder", "do it")
	q := f.question(dropbox.Lead)
	if strings.Contains(string(q.Body), "answer began") {
		t.Errorf("nobody has answered, but the question is %q", q.Body)
	}
	f.reply(q, "allow")
	if d := one(t, f.receipt("coder", id)); !d.Allowed || d.By != dropbox.Lead {
		t.Errorf("decided %+v", d)
	}
}

// A question ends when it times out or when its turn must stop. After that the question
// is no longer in the lead's mailbox, and the turn does not wait for an answer.
func TestQuestionsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		patience time.Duration
		end      func(f *field, id string)
		why      string
		turn     bool // the turn succeeds
	}{
		"time":   {50 * time.Millisecond, func(*field, string) {}, "nobody answered within 50ms", true},
		"halt":   {time.Hour, func(f *field, _ string) { _ = f.store.Halt("stop it") }, "everything is halted", true},
		"thread": {time.Hour, func(f *field, id string) { _ = f.store.Threads().Halt(id, "by lead: enough") }, "the conversation is halted: by lead: enough", true},
		"agent": {time.Hour, func(f *field, _ string) {
			if _, err := f.daemon.StopAgent(f.t.Context(), "coder", dropbox.Lead, false); err != nil {
				f.t.Error(err)
			}
		}, "the agent is stopped", true},
		"daemon":    {time.Hour, func(f *field, _ string) { f.stop() }, "the daemon is stopping", true},
		"interrupt": {time.Hour, func(f *field, _ string) { _, _ = f.daemon.Interrupt(f.t.Context(), "coder", dropbox.Lead, "") }, "", false},
		"abort":     {time.Hour, func(f *field, _ string) { _, _ = f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "") }, "", false},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newPermitField(t, permission.Rules{Ask: entry("execute", ""), Timeout: c.patience}, npmTest)
				f.start()
				id := f.send("coder", "do it")
				asked := f.asked(id + "-1")
				c.end(f, id)
				if c.turn {
					d := one(t, f.receipt("coder", id))
					if d.Allowed || d.By != "nobody" || d.Why != c.why {
						t.Errorf("decided %+v, want %q", d, c.why)
					}
				}
				f.until("the question is filed", func() bool {
					found, err := f.store.Find(asked)
					return err == nil && found.State == dropbox.Done
				})
			})
		})
	}
}

// When a daemon dies, the next daemon withdraws the questions that its predecessor asked.
// A reply to such a question begins no turn, and the daemon tells the sender of the reply
// why.
func TestTheReplyToADeadQuestionIsTurnedAway(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", ""), Timeout: time.Hour}, npmTest)
	f.start()
	id := f.send("coder", "do it")
	q := f.question(dropbox.Lead)
	f.asked(id + "-1")

	// The copy contains the files that the daemon would leave if it died now.
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(f.dir)); err != nil {
		t.Fatal(err)
	}
	asks := journal.HomeOf(dir).TurnFile(id+"-1", ".asks")
	line, err := json.Marshal(journal.Asked{ID: q.ID, Of: dropbox.Lead, Call: "execute npm test", Since: q.Created, Process: runner.Process{PID: 1 << 30}})
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(asks, append(line, '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	next := newFieldIn(t, dir, "coder", "boss")
	next.plan, next.clients = f.plan, permitting{next.backend}
	next.plan.Agents = slices.Clone(f.plan.Agents)
	next.plan.Agents[0].Permissions = permission.Rules{Allow: entry("execute", "")}
	next.plan.Agents[0].Client.Dir = dir
	next.backend.Script = f.backend.Script
	next.start()
	if !one(t, next.receipt("coder", id)).Allowed {
		t.Error("the next turn is not allowed to do it")
	}
	found, err := next.store.Find(q.ID)
	if err != nil || found.State != dropbox.Done {
		t.Errorf("the question of the dead daemon is %s, %v, want done", found.State, err)
	}
	late := next.reply(q, "allow")
	told := next.toldOf(late)
	if !strings.Contains(string(told.Body), "that turn has ended") {
		t.Errorf("the lead was told %q", told.Body)
	}
	next.until("the late reply is turned away", func() bool {
		found, err := next.store.Find(late)
		return err == nil && found.State == dropbox.Refused
	})
	next.untilState("coder", swarm.Idle)
	if n := len(next.bodies()); n != 1 {
		t.Errorf("%d turns, want 1: the late reply begins none", n)
	}
}

// toldOf waits for the daemon's message to the lead about another message.
func (f *field) toldOf(id string) *dropbox.Message {
	f.t.Helper()
	var got *dropbox.Message
	f.until("the lead is told of "+id, func() bool {
		for _, m := range f.mail(dropbox.Lead) {
			if m.From == dropbox.Swarm && m.ReplyTo == id {
				got = m
			}
		}
		return got != nil
	})
	return got
}

// A second reply begins no turn, and the daemon tells its sender who replied first.
func TestALateReplyIsTurnedAway(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest)
	f.start()
	id := f.send("coder", "do it")
	q := f.question(dropbox.Lead)
	f.reply(q, "allow")
	f.receipt("coder", id)
	if told := f.toldOf(f.reply(q, "deny")); !strings.Contains(string(told.Body), "lead has already answered") {
		t.Errorf("the lead was told %q", told.Body)
	}
	f.untilState("coder", swarm.Idle)
	if n := len(f.backend.Runs()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}

// If the turn that asked has ended before the lead agent can read the question, the
// question begins no turn.
func TestAnOldQuestionBeginsNoTurn(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newPermitField(t, permission.Rules{Ask: entry("execute", ""), Timeout: 50 * time.Millisecond}, npmTest)
		f.plan.Lead = "boss"
		busy := make(chan struct{})
		script := f.backend.Script
		f.backend.Script = func(turn runner.Turn) []runnertest.Step {
			if strings.Contains(turn.Prompt, "be busy") {
				return []runnertest.Step{waitFor(busy)}
			}
			return script(turn)
		}
		f.start()
		long := f.send("boss", "be busy")
		f.untilState("boss", swarm.Working)
		id := f.send("coder", "do it")
		if d := one(t, f.receipt("coder", id)); d.Allowed || d.Why != "nobody answered within 50ms" {
			t.Errorf("decided %+v", d)
		}
		if texts := f.noticeTexts(); !slices.ContainsFunc(texts, func(s string) bool {
			return strings.HasPrefix(s, "[TIMEOUT] coder got no answer: nobody answered within 50ms: execute npm test")
		}) {
			t.Errorf("noticed %q", texts)
		}
		close(busy)
		f.receipt("boss", long)
		f.until("the old question is put away", func() bool { return len(f.files("boss", "new")) == 0 })
		f.untilState("boss", swarm.Idle)
		f.nothingLeft("boss")
		if n := len(f.backend.Runs()); n != 2 {
			t.Errorf("%d turns, want 2: the old question begins none", n)
		}
	})
}

func TestTwoQuestionsAtOnce(t *testing.T) {
	f := newPermitField(t, permission.Rules{Ask: entry("execute", "")}, npmTest, runner.PermissionRequest{Kind: "execute", Command: "npm publish"})
	f.start()
	id := f.send("coder", "do it")
	first := f.question(dropbox.Lead)
	second := f.question(dropbox.Lead, first.ID)
	for _, q := range []*dropbox.Message{second, first} {
		f.reply(q, map[bool]string{true: "deny", false: "allow"}[strings.Contains(q.Subject, "publish")])
	}
	r := f.receipt("coder", id)
	if len(r.Decisions) != 2 {
		t.Fatalf("decided %+v", r.Decisions)
	}
	for _, d := range r.Decisions {
		if d.Allowed != (d.Command == "npm test") {
			t.Errorf("decided %+v", d)
		}
	}
}

// A client that keeps asking floods neither the lead nor the receipt.
func TestAThousandRequests(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	for name, c := range map[string]struct {
		rules     permission.Rules
		questions int
		events    int
	}{
		"allowed": {permission.Rules{Allow: entry("execute", "")}, 0, 0},
		"denied":  {permission.Rules{}, 0, 30},
		"asked":   {permission.Rules{Ask: entry("execute", ""), Timeout: 20 * time.Millisecond}, 100, 200},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				requests := make([]runner.PermissionRequest, 1000)
				for i := range requests {
					requests[i] = runner.PermissionRequest{Kind: "execute", Command: "npm test " + strings.Repeat("x", i)}
				}
				f := newPermitField(t, c.rules, requests...)
				f.start()
				id := f.send("coder", "do it")
				r := f.receipt("coder", id)
				if r.Decided != 1000 || len(r.Decisions) != 100 || len(r.Denied) > 50 {
					t.Errorf("the receipt counts %d decisions and has %d, and %d denials", r.Decided, len(r.Decisions), len(r.Denied))
				}
				questions := 0
				for _, file := range f.files(dropbox.Lead, "done") {
					if strings.HasSuffix(file, ".md") {
						questions++
					}
				}
				if questions != c.questions {
					t.Errorf("%d questions, want %d", questions, c.questions)
				}
				if n := len(f.decided()); n > c.events {
					t.Errorf("%d events, want at most %d", n, c.events)
				}
				if n := strings.Count(f.log.String(), "tool call was decided"); n > 200 || n > 0 && strings.Count(f.log.String(), "more tool calls") != 1 {
					t.Errorf("%d lines in the log of the daemon", n)
				}
				if size := len(f.answer(id).Body); size > 20<<10 {
					t.Errorf("the answer has %d bytes", size)
				}
			})
		})
	}
}

// A person can allow only a call that the question shows in full. The text of a call
// cannot control the terminal.
func TestWhatIsAskedIsShownWhole(t *testing.T) {
	f := newPermitField(t, permission.Rules{Otherwise: permission.Ask, Timeout: time.Hour},
		runner.PermissionRequest{Kind: "execute", Command: "echo " + strings.Repeat("x", 9<<10) + "; rm -rf /"},
		runner.PermissionRequest{Kind: "execute", Command: "echo \x1b[2K```\u202e x"})
	f.start()
	id := f.send("coder", "do it")
	q := f.question(dropbox.Lead)
	if body := string(q.Body); !strings.Contains(body, "````\necho \\u{1b}[2K```\\u{202e} x\n````\n") {
		t.Errorf("the question is %q", body)
	}
	f.reply(q, "deny")
	for _, d := range f.receipt("coder", id).Decisions {
		if d.Allowed || len(d.Command) > 1100 || strings.Contains(d.Command, "xxx") != strings.Contains(d.Why, "too long to ask about") {
			t.Errorf("decided %+v", d)
		}
	}
}

// The question shows any further request that accompanies a command, and the input of a
// call that has neither a command nor a path.
func TestWhatACallDoesIsShown(t *testing.T) {
	for want, r := range map[string]runner.PermissionRequest{
		"execute\n\n```\nnpm test\nand requests additional rights: {\"url\":\"https://a.example/\"}\n```\n": {Kind: "execute", Command: "npm test", Beside: []byte(`{"url":"https://a.example/"}`), Input: []byte(`{"command":"npm test"}`)},
		"fetch\n\n```\nFetch a page\n{\"url\":\"https://a.example/\"}\n```\n":                               {Kind: "fetch", Title: "Fetch a page", Input: []byte(`{"url":"https://a.example/"}`)},
		"other\n\n```\n(the client does not describe the call)\n{\"n\":1}\n```\n":                           {Kind: "other", Input: []byte(`{"n":1}`)},
		"edit\n\n```\na.go\n```\n": {Kind: "edit", Paths: []string{"a.go"}, Title: "Edit", Input: []byte(`{"new":"x"}`)},
	} {
		f := newPermitField(t, permission.Rules{Otherwise: permission.Ask, Timeout: time.Hour}, r)
		f.start()
		id := f.send("coder", "do it")
		q := f.question(dropbox.Lead)
		if body := string(q.Body); !strings.Contains(body, want) {
			t.Errorf("the question is\n%s\nwant\n%s", body, want)
		}
		f.reply(q, "deny")
		f.receipt("coder", id)
	}
}

// A client without any permissions changes files in its folder, but not those of the swarm,
// and no entry allows that.
func TestNoEntryAllowsAProtectedFile(t *testing.T) {
	for name, rules := range map[string]permission.Rules{
		"no entries": {}, "every entry": {Allow: slices.Concat(entry("edit", ""), entry("read", ""), entry("delete", "")), Otherwise: permission.Allow},
	} {
		t.Run(name, func(t *testing.T) {
			call := func(kind, path string) runner.PermissionRequest {
				return runner.PermissionRequest{Kind: kind, Paths: []string{path}}
			}
			denied := []runner.PermissionRequest{
				call("read", ".claude-swarm/tokens"), call("search", ".claude-swarm"), call("edit", "claude-swarm.yaml"), call("edit", ".dead-drop/boss/new/x.md"),
				call("edit", ".git/hooks/pre-commit"), call("edit", "/proc/self/cwd/.claude-swarm/sessions.json"),
			}
			allowed := []runner.PermissionRequest{call("edit", "a.go"), call("edit", ".dead-drop/boss/x.md"), call("read", "claude-swarm.yaml")}
			f := newPermitField(t, rules, append(denied, allowed...)...)
			f.start()
			r := f.receipt("coder", f.send("coder", "do it"))
			if len(r.Decisions) != len(denied)+len(allowed) {
				t.Errorf("%d decisions, want %d", len(r.Decisions), len(denied)+len(allowed))
			}
			for _, d := range r.Decisions {
				want := slices.ContainsFunc(allowed, func(r runner.PermissionRequest) bool { return r.Kind == d.Kind && slices.Equal(r.Paths, d.Paths) })
				if d.Allowed != want || !want && (d.Rule != permission.ByProtection || d.Why == "") {
					t.Errorf("decided %+v, want allowed: %v", d, want)
				}
			}
			if got := strings.Join(r.Denied, "\n"); strings.Count(got, "only a person may") != len(denied) || strings.Contains(got, "allows it") {
				t.Errorf("denied %q", got)
			}
		})
	}
}
