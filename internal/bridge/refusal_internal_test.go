package bridge

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// told waits for the parallel work, and returns the lines that the bridge sent to a
// channel or a person.
func (r *run) told(t *testing.T, peer string) (texts []string) {
	t.Helper()
	r.waitingFor("coder") // this call delivers the received lines
	done := make(chan struct{})
	go func() { // the loop below waits for this goroutine
		defer close(done)
		r.loop.work.Wait()
	}()
	for over := false; !over; {
		select {
		case f := <-r.loop.later:
			f()
		case <-done:
			over = true
		}
	}
	lines, err := readLines(bufferFile(r.rec.dir, peer))
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range lines {
		if l.Own {
			texts = append(texts, l.Text)
		}
	}
	return texts
}

// If a person with some rights lacks the right that an order requires, the bridge names
// the missing right, at most once a minute. A stranger gets no notice.
func TestAMissingRightIsTold(t *testing.T) {
	r, log := newListener(t, "irc.example", Options{Allow: []Permit{
		{Account: "joe", May: []Right{Talk}}, {Account: "tim", May: []Right{Tasks, Control}},
	}})
	now := time.Now()
	say := func(nick, account, text string) {
		r.listener.hear(onNetwork(irc.Text{Time: now, Target: "#project-x", Source: nick + "!~a@h", Nick: nick, Account: account, Body: text}))
	}
	say("joe", "joe", "TASK: @coder fix it")
	say("joe", "joe", "swarm: pause coder")
	say("joe", "joe", "swarm: abort coder") // joe has just received a notice
	say("tim", "tim", "coder: hello")
	say("eve", "eve", "swarm: pause coder")
	say("joe", "", "TASK: @coder a forged one")
	want := []string{
		`joe: To control the swarm, you need the "control" right; you have "talk". It is granted under irc.allow in claude-swarm.yaml.`,
		`joe: To give a task, you need the "task" right; you have "talk". It is granted under irc.allow in claude-swarm.yaml.`,
		`tim: To speak to agents, you need the "talk" right; you have "task" and "control". It is granted under irc.allow in claude-swarm.yaml.`,
	}
	if got := r.told(t, "#project-x"); !slices.Equal(slices.Sorted(slices.Values(got)), want) {
		t.Errorf("told %q, want %q\n%s", got, want, log)
	}
	r.listener.notices.lacking["joe task"] = now.Add(-tellAgain)
	say("joe", "joe", "TASK: @coder fix it")
	if got := r.told(t, "#project-x"); len(got) != 4 {
		t.Errorf("told %q after a minute, want one more", got)
	}
	if n := len(r.waitingFor("coder")); n > 0 || r.rec.state.Denied != 7 {
		t.Errorf("coder got %d messages, denied %d", n, r.rec.state.Denied)
	}
}

// The bridge reports lines that exceed the limit. It reports the first such line
// immediately, and the number of the others once a minute.
func TestWhatIsTooMuchIsCounted(t *testing.T) {
	r, log := newListener(t, "irc.example", Options{WakesPerMinute: 2, Allow: []Permit{
		{Account: "ann", May: Rights()}, {Account: "joe", May: []Right{Talk}},
	}})
	now := time.Now()
	say := func(nick, text string) {
		r.listener.hear(onNetwork(irc.Text{Time: now, Target: "#project-x", Source: nick + "!~a@h", Nick: nick, Account: nick, Body: text}))
	}
	for i := range 5 {
		say("ann", fmt.Sprintf("coder: number %d", i))
	}
	say("ann", "coder: stop")
	say("joe", "coder: what now?")
	r.listener.notices.tellCrowds(now.Add(tellAgain / 2))
	first := "ann: coder was not woken: there were 2 messages to agents in a minute. Say it again in a while. At any time: swarm: abort coder"
	if got := r.told(t, "#project-x"); !slices.Equal(got, []string{first}) {
		t.Errorf("told %q within the minute, want %q\n%s", got, first, log)
	}
	r.listener.notices.tellCrowds(now.Add(tellAgain + time.Second))
	want := []string{
		first,
		"ann: 3 more of your lines woke nobody, the last \"coder: stop\". Say again what still applies. At any time: swarm: abort coder",
		"joe: One more of your lines woke nobody, the last \"coder: what now?\". Say again what still applies.",
	}
	if got := slices.Sorted(slices.Values(r.told(t, "#project-x"))); !slices.Equal(got, slices.Sorted(slices.Values(want))) {
		t.Errorf("told\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	r.listener.notices.tellCrowds(now.Add(3 * tellAgain))
	if got := r.told(t, "#project-x"); len(got) != len(want) || len(r.listener.notices.crowds) != 0 {
		t.Errorf("told %d lines, want %d; %d channels are still too loud", len(got), len(want), len(r.listener.notices.crowds))
	}
	if n := len(r.waitingFor("coder")); n != 2 {
		t.Errorf("coder got %d messages, want 2", n)
	}
}
