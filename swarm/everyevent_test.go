package swarm_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A scene causes one kind of event.
type scene struct {
	plan func(*field)
	// do causes the event, and returns the id of the message that it is about, or "".
	do func(*field) string
	// want returns the text of the event, from what is so in the swarm: its status, its
	// mailboxes and its ledger.
	want func(f *field, id string) string
}

// taskSubject is the subject of the task in each scene.
const taskSubject = "Paint the door"

// scenes contains a scene for each word of a notice and for each kind of event.
var scenes = map[string]scene{
	string(journal.AgentQuestion): {
		plan: asksOnIRC,
		do: func(f *field) string {
			f.send("coder", "work", subject(taskSubject))
			return f.untilState("coder", swarm.Asking).Question.ID
		},
		want: func(f *field, _ string) string {
			q := f.status("coder").Question
			return fmt.Sprintf(`[QUESTION] coder needs input: "%s" (%s)`, q.Text, q.Of)
		},
	},
	string(journal.AgentSpiraling): {
		plan: func(f *field) { f.loops(10) },
		do: func(f *field) string {
			id := f.send("coder", "the long task", subject(taskSubject))
			f.untilState("coder", swarm.Paused)
			return id
		},
		want: func(f *field, _ string) string {
			calls := f.eventsOf(string(journal.AgentSpiraling))[0].At.Sub(f.eventsOf(string(journal.Begun))[0].At)/time.Second + 1 // one each second
			return fmt.Sprintf(`[ESCALATION] Agent coder appears stuck on task "%s". Retried same approach %d times. Awaiting human guidance. Reply @coder resume/abort`, taskSubject, calls)
		},
	},
	string(journal.AgentTimeout): {
		plan: func(f *field) {
			f.retriesLate()
			f.plan.Agents[0].Client.Timeout = time.Minute
		},
		do: func(f *field) string {
			id := f.send("coder", "@say begun\n@hang", subject(taskSubject))
			f.untilState("coder", swarm.Backoff)
			return id
		},
		want: func(f *field, _ string) string {
			return `[TIMEOUT] coder did not finish "` + taskSubject + `": the turn took longer than 1m0s. It will be tried again at ` + f.nextTry() + "."
		},
	},
	string(journal.AgentError): {
		plan: (*field).retriesLate,
		do: func(f *field) string {
			id := f.send("coder", "@noresult", subject(taskSubject))
			f.untilState("coder", swarm.Backoff)
			return id
		},
		want: func(f *field, _ string) string {
			return "[ERROR] coder crashed: process exited with code 1. It will be tried again at " + f.nextTry() + "."
		},
	},
	string(journal.AgentComplete): {
		do: func(f *field) string {
			id := f.send("coder", "@say it is green", subject(taskSubject))
			f.answer(id)
			return id
		},
		want: func(f *field, id string) string {
			return `[COMPLETE] coder finished task "` + f.message(id).Subject + `".`
		},
	},
	string(journal.LimitReached): {
		plan: func(f *field) {
			f.backend.Script = func(runner.Turn) []runnertest.Step { return []runnertest.Step{runnertest.Limited(time.Hour)} }
		},
		do: func(f *field) string { id := f.send("coder", "go"); f.untilState("coder", swarm.Limited); return id },
		want: func(f *field, _ string) string {
			st := f.status("coder")
			return fmt.Sprintf("[LIMIT] coder waits until %s: %s. %s.", screen.Ahead(st.Limit.Until, time.Now()), strings.TrimRight(st.Why, "."), st.Limit.Hint)
		},
	},
	string(journal.BudgetReached): {
		plan: func(f *field) { f.plan.Budget = budget.Rules{Task: dollars(0.5)}; f.spends(0.5) },
		do: func(f *field) string {
			first := f.send("coder", "one", subject(taskSubject))
			f.answer(first)
			f.send("coder", "two", func(m *dropbox.Message) { m.Thread, m.Trace = first, first })
			f.untilState("coder", swarm.Parked)
			return first
		},
		want: func(f *field, id string) string {
			row := must(f.daemon.Status()).Budget.Scopes[0]
			return fmt.Sprintf(`[BUDGET] coder has spent %.2f USD of %.2f USD for the task "%s". Awaiting guidance. To answer: reply %s more, stop or end.`,
				row.Spent.USD, *row.Cap.USD, f.message(id).Subject, f.questions()[0].ID)
		},
	},
	string(journal.ContextFull): {
		do: func(f *field) string { id := f.send("coder", "@context 170000\n@say fine"); f.answer(id); return "" },
		want: func(f *field, _ string) string {
			st := f.status("coder")
			return fmt.Sprintf("[CONTEXT] coder has used %d %% of its context: %s of %s tokens. To make room: %s.",
				st.Context.Percent(), screen.Thousands(st.Context.Tokens), screen.Thousands(st.Context.Limit), st.ContextNext)
		},
	},
	string(journal.DeadLetter): {
		plan: func(f *field) { f.plan.Agents[0].MaxFailures = 1 },
		do: func(f *field) string {
			id := f.send("coder", "@noresult", subject(taskSubject))
			f.answer(id)
			return id
		},
		want: func(f *field, id string) string {
			return fmt.Sprintf(`[DEAD] coder gave up "%s": failed: the client ended without a result. It is kept: claude-swarm dead show %s.`, f.message(id).Subject, id)
		},
	},
	string(journal.Unpaused): {
		do: func(f *field) string {
			f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}))
			f.must(f.daemon.Resume("coder", dropbox.Lead))
			return ""
		},
		want: func(*field, string) string { return "[UNPAUSED] coder goes on: resumed by lead." },
	},
	string(journal.Begun): {
		do: func(f *field) string {
			id := f.send("coder", "@say it is green", subject(taskSubject))
			f.answer(id)
			return id
		},
		want: func(f *field, id string) string {
			m := f.message(id)
			return "begun by coder, to coder, about " + id + ": " + m.Subject + ": " + strings.TrimSpace(string(m.Body))
		},
	},
	string(journal.Result): {
		do: func(f *field) string {
			f.answer(f.send("coder", "@say it is green", typed(dropbox.Question), subject("Which color?")))
			return f.mail(dropbox.Lead)[0].ID
		},
		want: func(f *field, id string) string {
			m := f.message(id)
			return "result by coder, to lead, about " + id + ": " + m.Subject + ": " + strings.TrimSpace(string(m.Body))
		},
	},
	string(journal.Failed): {
		plan: func(f *field) { f.plan.Agents[0].MaxFailures = 1 },
		do: func(f *field) string {
			id := f.send("coder", "@noresult", subject(taskSubject))
			f.answer(id)
			return id
		},
		want: func(f *field, id string) string {
			return "failed by coder, to lead, about " + id + ": " + f.message(id).Subject + ": " + f.ledgerOf("coder")[0].Reason
		},
	},
	string(journal.Mail): {
		do: func(f *field) string {
			return f.send(dropbox.Lead, "The door is green.", typed(dropbox.Status), from("coder"), subject(taskSubject))
		},
		want: func(f *field, id string) string {
			m := f.message(id)
			return "mail by " + m.From + ", to lead, about " + id + ": " + m.Subject + ": " + strings.TrimSpace(string(m.Body))
		},
	},
	string(journal.Alert): {
		plan: func(f *field) { f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: time.Second} },
		do: func(f *field) string {
			id := f.publish(dropbox.Lead, "builds", "Please build release 9").ID
			f.told("nobody has claimed")
			return id
		},
		want: func(f *field, id string) string {
			open, err := topic.Of(f.store).Open()
			f.must(err)
			waits := screen.Took(f.eventsOf(string(journal.Alert))[0].At.Sub(open[0].Message.Created))
			return fmt.Sprintf("alert by swarm, to lead, about : unclaimed work: Please build release 9: lead published work on builds that nobody has claimed for %s: "+
				"Please build release 9 To give it to an agent: claude-swarm claim %s --for AGENT To close it: claude-swarm ack %[2]s", waits, id)
		},
	},
	string(journal.Dead): {
		do: func(f *field) string {
			id := f.send("coder", "@say begun\n@hang", subject(taskSubject))
			f.until("its turn runs", func() bool { return f.backend.Running() > 0 })
			_, err := f.daemon.Abort(f.t.Context(), "coder", dropbox.Lead, "")
			f.must(err)
			f.answer(id)
			return id
		},
		want: func(f *field, id string) string {
			return "dead by coder, to lead, about " + id + ": not done: " + f.message(id).Subject + ": aborted by lead"
		},
	},
	string(journal.Permission): {
		plan: func(f *field) {
			f.clients = permitting{f.backend}
			f.plan.Agents[0].Backend = "claude"
			f.backend.Script = func(runner.Turn) []runnertest.Step {
				return []runnertest.Step{runnertest.Do(func(ctx context.Context, turn runner.Turn) error {
					turn.Permit(ctx, npmTest)
					return nil
				}), runnertest.Say("it ended")}
			}
		},
		do: func(f *field) string { id := f.send("coder", "do it", subject(taskSubject)); f.answer(id); return id },
		want: func(f *field, id string) string {
			d := f.receipt("coder", id).Decisions[0]
			return "permission by coder, to lead, about " + id + ": denied: no entry allows it: " + d.Kind + " " + d.Command
		},
	},
	string(journal.TaskCreated): {
		do: func(f *field) string { return f.lists(mail.ListEvent{Task: "1", Subject: taskSubject}) },
		want: func(*field, string) string {
			return "task_created by coder, to lead, about : task 1: " + taskSubject
		},
	},
	string(journal.TaskCompleted): {
		do: func(f *field) string {
			f.lists(mail.ListEvent{Task: "1", Subject: taskSubject})
			f.lists(mail.ListEvent{Task: "1", Subject: taskSubject, By: "helper", Done: true})
			return f.lists(mail.ListEvent{Task: "1", Subject: taskSubject, By: "helper", Done: true})
		},
		want: func(*field, string) string {
			return "task_completed by coder, to lead, about : task 1: " + taskSubject + " (by helper)"
		},
	},
	string(journal.Noticed): {
		do: func(f *field) string {
			f.must(f.daemon.Pause("coder", swarm.PauseOrder{By: dropbox.Lead}))
			f.must(f.daemon.Resume("coder", dropbox.Lead))
			return ""
		},
		want: func(*field, string) string {
			return "notice by coder, to lead, about : [UNPAUSED] coder goes on: resumed by lead."
		},
	},
}

// lists is what the hook of an attached session does about a task on its list.
func (f *field) lists(ev mail.ListEvent) string {
	s, err := mail.OpenAttached(journal.HomeOf(f.dir), f.store, "coder", mail.AttachedOptions{Logs: f.plan.Log})
	f.must(err)
	defer s.Close()
	ev.PID, ev.Session = os.Getpid(), "s1"
	f.must(s.Listed(ev))
	return ""
}

// retriesLate makes coder wait long before another attempt.
func (f *field) retriesLate() {
	f.plan.Agents[0].RetryDelay, f.restart.MaxDelay = time.Hour, 2*time.Hour
}

// asksOnIRC makes coder ask people on IRC for as long as its turn may run.
func asksOnIRC(f *field) {
	f.must(f.store.MakeMailbox("irc"))
	end := func(w *journal.Waiting) { w.End("") }
	f.backend.Script = func(runner.Turn) []runnertest.Step {
		return []runnertest.Step{f.asks(journal.Asked{Of: "#project-x", Mailbox: "irc", Text: "Delete 47 files. Proceed?"}, time.Hour, nil, end), runnertest.Say("done")}
	}
}

// nextTry returns the time at which the status says that coder tries again.
func (f *field) nextTry() string {
	found := regexp.MustCompile(`^tries again at (.+), or immediately`).FindStringSubmatch(f.status("coder").Next)
	if found == nil {
		f.t.Fatalf("the status says %q", f.status("coder").Next)
	}
	return found[1]
}

// message returns a message, in whatever mailbox and state it is.
func (f *field) message(id string) *dropbox.Message {
	f.t.Helper()
	found, err := f.store.Find(id)
	f.must(err)
	m, err := f.store.Load(found)
	f.must(err)
	return m
}

// eventsOf returns the events of a word or of a kind, one for each fact.
func (f *field) eventsOf(word string) (all []journal.Event) {
	f.t.Helper()
	seen := map[string]bool{}
	list := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil).From(0)
	for {
		events, err := list.Next()
		f.must(err)
		if len(events) == 0 {
			return all
		}
		for _, ev := range events {
			if (string(ev.Word()) == word || string(ev.Kind) == word) && !seen[ev.Key] {
				seen[ev.Key] = true
				all = append(all, ev)
			}
		}
	}
}

// eventText returns what an event tells people.
func eventText(word string, ev journal.Event) string {
	if string(ev.Word()) == word {
		return ev.Notice.Text()
	}
	text := fmt.Sprintf("%s by %s, to %s, about %s:", ev.Kind, cmp.Or(ev.Agent, ev.Message.From), ev.To, ev.About)
	subject, body := ev.Message.Subject, screen.OneLine(strings.TrimSpace(ev.Message.Body))
	if body == subject || body == "" {
		return text + " " + subject
	}
	return text + " " + subject + ": " + body
}

// typeable matches the commands and the ids in a text.
var typeable = regexp.MustCompile(`claude-swarm ([a-z]+(?: (?:show|raise|list))?)|\b([a-z2-7]{10})\b`)

// exists checks that each command in a text is a verb, and that each id in it is the id of
// a message or of published work.
func (f *field) exists(text string) {
	f.t.Helper()
	manual, err := os.ReadFile("../docs/command-line.md")
	f.must(err)
	open, err := topic.Of(f.store).Open()
	f.must(err)
	for _, found := range typeable.FindAllStringSubmatch(text, -1) {
		verb, id := found[1], found[2]
		if verb != "" && !strings.Contains(string(manual), "\n## "+verb+"\n") {
			f.t.Errorf("%q names the verb %s, which does not exist", text, verb)
		}
		if id == "" || slices.ContainsFunc(open, func(p topic.Publication) bool { return p.ID == id }) {
			continue
		}
		if _, err := f.store.Find(id); err != nil && strings.ContainsAny(id, "234567") {
			f.t.Errorf("%q names %s: %v", text, id, err)
		}
	}
}

// Each kind of event, and each word of a notice, is caused once. The event tells what is so
// in the swarm: the agent, the subject of the task, the place, the figure, the time; and
// each command in it exists.
func TestEveryEventIsTrue(t *testing.T) {
	var all []string
	for _, w := range journal.Words() {
		all = append(all, string(w))
	}
	for _, k := range journal.Kinds() {
		all = append(all, string(k))
	}
	for _, word := range all {
		t.Run(word, func(t *testing.T) {
			t.Parallel()
			sc, ok := scenes[word]
			if !ok {
				t.Fatalf("no scene causes the event %s", word)
			}
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder")
				f.announcer = everywhere{}
				if sc.plan != nil {
					sc.plan(f)
				}
				f.start()
				id := sc.do(f)
				time.Sleep(time.Second) // the listeners of the event list have read it
				events := f.eventsOf(word)
				if len(events) != 1 {
					t.Fatalf("%d events, want one: %+v", len(events), events)
				}
				got, want := eventText(word, events[0]), sc.want(f, id)
				if got != want {
					t.Errorf("the event says\n%s\nbut the swarm\n%s", got, want)
				}
				f.exists(got)
				if n := events[0].Notice; n != nil && string(n.Word) == word && n.Agent != "coder" {
					t.Errorf("the notice is about %q", n.Agent)
				}
				f.halt()
			})
		})
	}
}
