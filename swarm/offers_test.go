package swarm_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// publish publishes work as an agent or as the lead.
func (f *field) publish(from, name, body string) topic.Published {
	f.t.Helper()
	p, err := topic.Of(f.store).Publish(&dropbox.Message{From: from, Topic: name, Body: []byte(body)}, func(m *dropbox.Message, to string) string {
		return dropbox.Proof(f.tokens[m.From], m, to)
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return p
}

func (f *field) subscribe(agent string, patterns ...string) {
	f.t.Helper()
	if _, err := topic.Of(f.store).Subscribe(agent, patterns...); err != nil {
		f.t.Fatal(err)
	}
}

// claims returns a script in which the given agents claim each offer.
func (f *field) claims(keen ...string) func(runner.Turn) []runnertest.Step {
	return func(turn runner.Turn) []runnertest.Step {
		return []runnertest.Step{
			runnertest.Do(func(context.Context, runner.Turn) error {
				for _, name := range keen {
					if name != turn.Agent {
						continue
					}
					open, err := topic.Of(f.store).Open()
					if err != nil {
						return err
					}
					for _, p := range open {
						if _, err := topic.Of(f.store).Claim(p.ID, name, turn.ID); err != nil && !errors.Is(err, topic.ErrTaken) {
							return err
						}
					}
				}
				return nil
			}),
			runnertest.Say("words of " + turn.Agent),
		}
	}
}

// closed waits until a publication is closed, and returns who closed it.
func (f *field) closed(id string) string {
	f.t.Helper()
	f.until("the publication is closed", func() bool {
		_, err := topic.Of(f.store).Find(id)
		return errors.Is(err, topic.ErrTaken)
	})
	g, err := topic.Of(f.store).GrantOf(id)
	if err != nil {
		f.t.Fatal(err)
	}
	return g.Agent
}

// The agent that claims published work does it. The publisher gets one answer, the
// subscribers of task.completed get a message, and agents that declined the work send
// nothing.
func TestPublishedWorkIsDoneOnce(t *testing.T) {
	f := newField(t, "coder", "other", "watcher")
	f.subscribe("coder", "task.created")
	f.subscribe("other", "task.*")
	f.subscribe("watcher", "task.completed")
	f.backend.Script = f.claims("coder")
	f.start()
	p := f.publish(dropbox.Lead, "task.created", "Write the parser.\n")
	if m := f.answer(p.ID); m.From != "coder" || !strings.Contains(string(m.Body), "words of coder") || m.Thread != p.Thread {
		t.Errorf("answer = %+v", m)
	}
	if by := f.closed(p.ID); by != "coder" {
		t.Errorf("closed by %s", by)
	}
	f.until("other is done with its offer", func() bool { return len(f.files("other", "done")) >= 2 })
	f.until("who listens is told", func() bool { return len(f.mail("watcher")) == 1 })
	if m := f.mail("watcher")[0]; m.Topic != "task.completed" || m.Type != dropbox.Status || m.Thread != p.Thread {
		t.Errorf("watcher got %+v", m)
	}
	if n := len(f.mail(dropbox.Lead)); n != 1 {
		t.Errorf("the lead has %d messages, want the one answer", n)
	}
	for _, r := range f.backend.Runs() {
		if !strings.Contains(r.Turn.Prompt, "claude-swarm claim "+p.ID) || !strings.Contains(r.Turn.Prompt, "task.created") {
			t.Errorf("prompt = %s", r.Turn.Prompt)
		}
	}
}

// An offer that another agent has claimed does not start a turn.
func TestAMissedOfferCostsNothing(t *testing.T) {
	f := newField(t, "coder", "other")
	f.subscribe("coder", ">")
	f.subscribe("other", ">")
	f.start()
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "lead"}); err != nil {
		t.Fatal(err)
	}
	f.untilState("coder", swarm.Paused)
	f.backend.Script = f.claims("other")
	p := f.publish(dropbox.Lead, "task.created", "work")
	f.closed(p.ID)
	if err := f.daemon.Resume("coder", "lead"); err != nil {
		t.Fatal(err)
	}
	f.until("coder has filed its offer", func() bool { return len(f.files("coder", "done")) == 2 })
	for _, r := range f.backend.Runs() {
		if r.Turn.Agent == "coder" {
			t.Error("coder ran a turn for it")
		}
	}
}

// Unclaimed work is offered again as urgent, and is then given to the fallback agent.
func TestUnclaimedWorkFallsBack(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "fixer")
		f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: 300 * time.Millisecond, Fallback: "fixer"}
		f.sweep = 50 * time.Millisecond
		f.subscribe("coder", "task.*")
		f.start()
		p := f.publish(dropbox.Lead, "task.created", "work")
		if by := f.closed(p.ID); by != "fixer" {
			t.Errorf("closed by %s", by)
		}
		f.answer(p.ID)
		turns := 0
		for _, r := range f.backend.Runs() {
			if r.Turn.Agent == "coder" {
				turns++
			}
		}
		if turns != 2 {
			t.Errorf("coder was asked %d times, want twice", turns)
		}
	})
}

// Work escalates as the rule for its topic says: to an agent, to the first agent of a role that
// did not publish it, to the lead, each after the time of the rule. A restart in between repeats
// no offer.
func TestEachTopicEscalatesInItsWay(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "fixer", "reviewer", "deputy")
		f.plan.Agents[2].Role, f.plan.Agents[3].Role = "review", "review"
		f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: time.Minute, Fallback: "fixer", Rules: []swarm.TopicRule{
			{Topic: "review.urgent", Fallback: "review", ClaimTimeout: 10 * time.Second},
			{Topic: "review.*", Fallback: "review", ClaimTimeout: time.Hour},
			{Topic: "deploy.>", Fallback: dropbox.Lead},
		}}
		f.sweep = time.Second
		f.start()
		begun := time.Now()
		took := func(id, by string) time.Duration {
			t.Helper()
			if got := f.closed(id); got != by {
				t.Errorf("%s was closed by %s, want %s", id, got, by)
			}
			return time.Since(begun).Truncate(10 * time.Second)
		}
		urgent, own := f.publish(dropbox.Lead, "review.urgent", "look").ID, f.publish("reviewer", "review.urgent", "look at mine").ID
		slow, deploy, other := f.publish(dropbox.Lead, "review.slow", "read").ID, f.publish(dropbox.Lead, "deploy.live.eu", "deploy").ID, f.publish(dropbox.Lead, "task.created", "work").ID
		if d := took(urgent, "reviewer"); d != 10*time.Second {
			t.Errorf("review.urgent took %v", d)
		}
		took(own, "deputy")
		if d := took(other, "fixer"); d != time.Minute {
			t.Errorf("task.created took %v", d)
		}
		f.told("claude-swarm claim " + deploy)
		f.halt()
		f.start() // the wait of review.slow begins again
		if d := took(slow, "reviewer"); d < time.Hour {
			t.Errorf("review.slow took %v", d)
		}
		if open, err := topic.Of(f.store).Find(deploy); err != nil || open.Grant != nil {
			t.Errorf("deploy.live.eu = %+v, %v, want one that nobody has", open, err)
		}
		told := 0
		for _, m := range f.mail(dropbox.Lead) {
			if strings.Contains(string(m.Body), "claude-swarm claim "+deploy) {
				told++
			}
		}
		if told != 1 {
			t.Errorf("the lead was told %d times of deploy.live.eu", told)
		}
	})
}

// If the fallback agent of a topic has left the swarm, the lead is told. The other topics keep
// their fallback.
func TestTheFallbackAgentOfATopicIsGone(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "fixer")
		f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: time.Second, Fallback: "fixer", Rules: []swarm.TopicRule{{Topic: "review.*", Fallback: "reviewer"}}}
		f.sweep = 100 * time.Millisecond
		f.start()
		review, work := f.publish(dropbox.Lead, "review.requested", "read").ID, f.publish(dropbox.Lead, "task.created", "work").ID
		f.told("claude-swarm claim " + review)
		if by := f.closed(work); by != "fixer" {
			t.Errorf("closed by %s", by)
		}
	})
}

// If published work has no subscriber and no fallback agent, the lead gets one alert
// about it, even across a restart.
func TestTheLeadIsToldOfUnclaimedWork(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder")
		f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: 100 * time.Millisecond}
		f.sweep = 20 * time.Millisecond
		f.start()
		p := f.publish("coder", "task.created", "work") // the topic has no subscriber
		m := f.told("nobody has claimed")
		if !strings.Contains(string(m.Body), "claude-swarm claim "+p.ID) {
			t.Errorf("told: %s", m.Body)
		}
		before := len(f.mail(dropbox.Lead))
		f.halt()
		f.start()
		later := f.publish("coder", "task.created", "more work") // its steps follow those of the first publication
		f.told("claude-swarm claim " + later.ID)
		if after := len(f.mail(dropbox.Lead)); after != before+1 {
			t.Errorf("told %d times", after-before)
		}
	})
}

// Work that an agent claims and then gives up is offered to the other agents again.
func TestAClaimThatComesToNothing(t *testing.T) {
	f := newField(t, "coder", "other", "watcher")
	f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: time.Hour}
	f.subscribe("coder", "task.created")
	f.subscribe("watcher", "task.failed")
	claim := f.claims("coder")
	f.backend.Script = func(turn runner.Turn) []runnertest.Step {
		return append(claim(turn)[:1], runnertest.Fail("no luck"))
	}
	for i := range f.plan.Agents {
		f.plan.Agents[i].MaxFailures = 1
	}
	f.start()
	p := f.publish(dropbox.Lead, "task.created", "work")
	f.until("who listens is told", func() bool { return len(f.mail("watcher")) == 1 })
	if open, err := topic.Of(f.store).Find(p.ID); err != nil || open.Grant != nil {
		t.Errorf("publication = %+v, %v, want one that can be claimed", open, err)
	}
}

// A crash may occur after a publication is filed but before its receipt is filed. In this
// case the next daemon files the receipt, as does the periodic check of a running daemon.
func TestTheReceiptOfAPublicationIsFiled(t *testing.T) {
	f := newField(t, "coder")
	f.subscribe("coder", "task.*")
	f.backend.Script = f.claims("coder")
	f.sweep = 50 * time.Millisecond
	f.start()
	f.closed(f.publish(dropbox.Lead, "task.created", "work").ID)
	filed := func() []string { return f.files("topics", "done") }
	f.until("it is filed", func() bool { return len(filed()) == 2 })
	receipt := filed()[slices.IndexFunc(filed(), func(name string) bool { return strings.HasSuffix(name, ".receipt.yaml") })]
	left := filepath.Join(f.store.Dir(), "topics", "cur", filepath.Base(receipt))
	day, err := filepath.Glob(filepath.Join(f.store.Dir(), "topics", "done", "*"))
	if err != nil || len(day) != 1 {
		t.Fatal(day, err)
	}
	move := func() {
		if err := os.Rename(filepath.Join(day[0], filepath.Base(receipt)), left); err != nil {
			t.Fatal(err)
		}
	}
	move()
	f.until("the daemon that runs files it", func() bool { return len(filed()) == 2 })
	f.halt()
	move()
	f.sweep = time.Hour
	f.start()
	f.until("the next daemon files it", func() bool { return len(filed()) == 2 })
}

// No step is skipped, even if the work was published long before the daemon started, or
// if the timeout is shorter than the time between two checks.
func TestNoStepOfUnclaimedWorkIsSkipped(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		f := newField(t, "coder", "fixer")
		f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: 20 * time.Millisecond, Fallback: "fixer"}
		f.sweep = 200 * time.Millisecond
		for i := range f.plan.Agents {
			f.plan.Agents[i].MaxFailures = 1
		}
		f.backend.Script = func(turn runner.Turn) []runnertest.Step {
			if turn.Agent == "fixer" {
				return []runnertest.Step{runnertest.Fail("no luck")}
			}
			return []runnertest.Step{runnertest.Say("not for me")}
		}
		f.subscribe("coder", "task.*")
		p := f.publish(dropbox.Lead, "task.created", "work")
		time.Sleep(10 * f.plan.Topics.ClaimTimeout)
		f.start()
		f.told("nobody has claimed")
		var asked []string
		for _, r := range f.backend.Runs() {
			asked = append(asked, r.Turn.Agent)
		}
		if !slices.Equal(asked, []string{"coder", "coder", "fixer"}) {
			t.Errorf("asked: %v, want coder, once more coder, and then fixer", asked)
		}
		// The next daemon begins with the first step, and asks no agent twice. The steps and
		// turns of newly published work follow those of the earlier work.
		f.halt()
		f.start()
		later := f.publish(dropbox.Lead, "task.created", "more work")
		turns := func(id string) (n int) {
			for _, r := range f.backend.Runs() {
				if strings.Contains(r.Turn.Prompt, "claude-swarm claim "+id) {
					n++
				}
			}
			return n
		}
		f.told("claude-swarm claim " + later.ID)
		f.until("all of its turns", func() bool { return turns(later.ID) == 3 })
		if n := turns(p.ID); n != 3 {
			t.Errorf("%d turns for the first after the next start, want 3", n)
		}
		if open, err := topic.Of(f.store).Find(p.ID); err != nil || open.Grant != nil {
			t.Errorf("publication = %+v, %v, want one that can be claimed", open, err)
		}
	})
}

// Published work is announced as complete once, when the agent that claimed it has done it, by
// the name of that agent. An answer to an offer does not complete it. Also tried: the loser of
// a claim, which ends after or before the winner, and work that is offered again.
func TestOnlyClaimedWorkIsComplete(t *testing.T) {
	for name, c := range map[string]struct {
		keen []string
		want []string
	}{
		"nobody claims it": {nil, nil},
		"one claims it":    {[]string{"coder"}, []string{`[COMPLETE] coder finished task "Build release 9".`}},
		"the other one":    {[]string{"other"}, []string{`[COMPLETE] other finished task "Build release 9".`}},
		"both try":         {[]string{"coder", "other"}, []string{`[COMPLETE] `}},
	} {
		t.Run(name, func(t *testing.T) {
			inBubble(t, func(t *testing.T) {
				f := newField(t, "coder", "other")
				f.plan.Topics = swarm.TopicPolicy{ClaimTimeout: time.Second}
				f.sweep = 100 * time.Millisecond
				f.subscribe("coder", "builds")
				f.subscribe("other", "builds")
				f.backend.Script = f.claims(c.keen...)
				f.start()
				p := f.publish(dropbox.Lead, "builds", "Build release 9\n")
				if len(c.keen) > 0 {
					f.closed(p.ID)
				} else {
					f.told("nobody has claimed") // after both offers
				}
				f.until("nobody works", func() bool { return f.status("coder").State == swarm.Idle && f.status("other").State == swarm.Idle })
				time.Sleep(10 * time.Second)
				var got []string
				for _, text := range f.noticeTexts() {
					if strings.HasPrefix(text, "[COMPLETE]") {
						got = append(got, text)
					}
				}
				if len(got) != len(c.want) || len(got) > 0 && !strings.HasPrefix(got[0], c.want[0]) {
					t.Errorf("announced %q, want %q", got, c.want)
				}
			})
		})
	}
}
