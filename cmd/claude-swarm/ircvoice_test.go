package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// projectWithMail creates a project and its store. The argument agents is the YAML value
// of the agents key.
func projectWithMail(t *testing.T, agents string) (*project, *dropbox.Store) {
	t.Helper()
	p := shortProject(t)
	overwrite(t, filepath.Join(p.dir, config.Name), "agents: "+agents+"\n")
	var err error
	if p.file, err = config.Load(filepath.Join(p.dir, config.Name)); err != nil {
		t.Fatal(err)
	}
	if err := dropbox.Create(p.file.DeadDropDir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(p.file.DeadDropDir, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	return p, store
}

// The status on IRC shows who halted everything and why. If a person halts everything a
// second time, the answer says that the first reason stays in force.
func TestTheVoiceSaysWhyAllIsHalted(t *testing.T) {
	p, store := projectWithMail(t, "{coder: }")
	v := daemonVoice{p, store}
	status := func() string {
		t.Helper()
		text, err := v.Status(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	halt := func(by string) string {
		t.Helper()
		said, err := v.Steer(t.Context(), bridge.Halt, "", by)
		if err != nil {
			t.Fatal(err)
		}
		return said
	}
	if got, err := v.Held(t.Context(), "coder"); err != nil || got != "no daemon is running, so your message is waiting" {
		t.Errorf("held up: %q, %v", got, err)
	}
	if got := status(); strings.Contains(got, "HALTED") {
		t.Errorf("before: %s", got)
	}
	if got := halt("ann on IRC: the disk\nis full"); !strings.HasPrefix(got, "halted: ") {
		t.Errorf("halt says %q", got)
	}
	if got, want := status(), "\nHALTED: no new turn begins (by ann on IRC: the disk is full); unhalt lets them continue\n"; !strings.Contains(got, want) {
		t.Errorf("status says %q, want %q in it", got, want)
	}
	if got, want := halt("joe on IRC"), "everything is already halted, by ann on IRC: the disk is full; the reason stays the same. next: unhalt"; got != want {
		t.Errorf("a second halt says %q, want %q", got, want)
	}
	overwrite(t, filepath.Join(store.Dir(), "HALT"), "")
	if got, want := status(), "\nHALTED: no new turn begins; unhalt lets them continue\n"; !strings.Contains(got, want) {
		t.Errorf("halted by hand: status says %q, want %q in it", got, want)
	}
	if got := halt("joe on IRC"); !strings.HasPrefix(got, "everything is already halted, by hand; ") {
		t.Errorf("a second halt says %q", got)
	}
}

// The bridge tells a person who writes to an agent on IRC why the agent is not working.
func TestTheVoiceSaysWhatHoldsUpAnAgent(t *testing.T) {
	for want, a := range map[string]swarm.AgentStatus{
		"": {Name: "coder", State: swarm.Idle},
		"coder is paused: by ann on IRC; your message is waiting; next: resume coder":                      {Name: "coder", State: swarm.Paused, Why: "by ann on IRC", Next: "claude-swarm resume coder"},
		"coder is stopped: the key is wrong; your message is waiting; next: fix the key, then start coder": {Name: "coder", State: swarm.Stopped, Why: "the key\nis wrong", Next: "fix the key, then claude-swarm start coder"},
		"coder: no session is attached to it; your message is waiting; next: attach coder":                 {Name: "coder", State: swarm.Away, Why: "no session is attached to it", Next: "claude-swarm attach coder"},
		"coder is limited: usage limit until 20:00; your message is waiting":                               {Name: "coder", State: swarm.Limited, Why: "usage limit until 20:00"},
	} {
		if got := heldLine(a); got != want {
			t.Errorf("%s is told as %q, want %q", a.State, got, want)
		}
	}
	if got := heldLine(swarm.AgentStatus{Name: "coder", State: swarm.Working}); got != "" {
		t.Errorf("at work: %q", got)
	}
}

// The status on IRC shows an agent's question, how long it has been open, and how to answer
// it.
func TestTheVoiceTellsWhatAnAgentAsks(t *testing.T) {
	p, store := projectWithMail(t, "{coder: , tester: }")
	if err := store.MakeMailbox("irc"); err != nil {
		t.Fatal(err)
	}
	d, err := store.Deliver("irc", &dropbox.Message{From: "coder", Type: dropbox.Question, Body: []byte("Delete 47 files?\nReally?\n")})
	if err != nil {
		t.Fatal(err)
	}
	state, err := json.Marshal(bridge.State{V: 1, Questions: []bridge.OpenQuestion{
		{ID: "aaaaaaaaaa", From: "coder", To: "irc", Channel: "#project-x", At: time.Now().Add(-time.Hour)},
		{ID: d.ID, From: "coder", To: "irc", Channel: "#project-x", At: time.Now().Add(-4 * time.Minute)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	dir := ircbridge.Folder(p.home.Dir())
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	overwrite(t, filepath.Join(dir, "state.json"), string(state))
	text, err := daemonVoice{p, store}.Status(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	if want := `; has been asking for 4 min in #project-x: "Delete 47 files? Really?"; next: reply ` + d.ID + " …\n"; strings.Count(text, "; has been asking ") != 1 || !strings.Contains(text, want) {
		t.Errorf("status says %q, want %q in it once", text, want)
	}
}

// The status on IRC shows the lead's name from the configuration.
func TestTheVoiceCallsTheLeadByName(t *testing.T) {
	p, store := projectWithMail(t, "{coder: }\nlead_name: opus-orange")
	if err := store.MakeMailbox(dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	if _, err := store.Deliver(dropbox.Lead, &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte("look")}); err != nil {
		t.Fatal(err)
	}
	if got, err := (daemonVoice{p, store}).Status(t.Context(), ""); err != nil || !strings.HasSuffix(got, "\n1 unread message for opus-orange\n") {
		t.Errorf("status says %q, %v", got, err)
	}
}

// If the agents use different kinds of clients, the line for each agent names its client.
func TestTheVoiceNamesTheClientsOfAMixedSwarm(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
	a := swarm.AgentStatus{Name: "coder", State: swarm.Idle, Since: new(now.Add(-time.Minute)), Client: "codex 2.6.0", Why: "rests"}
	for mixed, want := range map[bool]string{false: "coder idle for 1 min: rests", true: "coder idle for 1 min on codex 2.6.0: rests"} {
		if got, _ := agentLine(a, mixed, now); got != want {
			t.Errorf("mixed %t: %q, want %q", mixed, got, want)
		}
	}
}

// The line about a stuck agent says why it will be paused, what its turn has done and cost,
// and what to type, although its turn is still running.
func TestTheVoiceTellsOfAStuckTurn(t *testing.T) {
	now := time.Date(2026, 11, 21, 10, 30, 0, 0, time.UTC)
	a := swarm.AgentStatus{
		Name: "coder", State: swarm.Working, Since: new(now.Add(-20 * time.Second)), Message: &turn.MessageStatus{ID: "6sjzle3lzg", From: "irc", Subject: "deploy"},
		Turn: &turn.Progress{Steps: 12, CostUSD: new(0.42)}, Why: "stuck: Retried same approach 9 times", Next: "claude-swarm abort coder, or claude-swarm resume coder, if it should continue",
	}
	line, next := agentLine(a, false, now)
	if want := "coder working for 20 s: 6sjzle3lzg from irc: deploy; stuck: Retried same approach 9 times; 12 steps, ≥ 0.42 USD so far"; line != want {
		t.Errorf("%q, want %q", line, want)
	}
	if want := "; next: abort coder, or resume coder, if it should continue"; next != want {
		t.Errorf("%q, want %q", next, want)
	}
}

// A dead letter can be given to its agent again from IRC, by its id or a part of it.
func TestTheVoiceRetriesADeadLetter(t *testing.T) {
	p, store := projectWithMail(t, "{coder: }")
	v := daemonVoice{p, store}
	if err := store.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	d, err := store.Deliver("coder", &dropbox.Message{From: dropbox.Lead, Type: dropbox.Task, Body: []byte("deploy")})
	if err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	retry := func(id string) string {
		said, err := v.Steer(t.Context(), bridge.Retry, id, "ann on IRC")
		if err != nil {
			return err.Error()
		}
		return said
	}
	if got := retry(d.ID); !strings.HasPrefix(got, "no aborted or failed message") {
		t.Errorf("a waiting message: %q", got)
	}
	entries, err := box.Peek()
	if err != nil {
		t.Fatal(err)
	}
	c, err := box.Claim(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	if err := box.GiveUp(c.Entry, "aborted by ann on IRC"); err != nil {
		t.Fatal(err)
	}
	if got, want := retry(d.ID[:5]), "coder has "+d.ID+" again"; got != want {
		t.Errorf("said %q, want %q", got, want)
	}
	if f, err := store.Find(d.ID); err != nil || f.State != dropbox.Waiting {
		t.Errorf("the message is %s, %v", f.State, err)
	}
	if said, err := v.Steer(t.Context(), bridge.Logs, "coder", "ann on IRC"); err != nil || said != "coder has written nothing yet" {
		t.Errorf("logs: %q, %v", said, err)
	}
	if said, err := v.Steer(t.Context(), bridge.Budget, "", "ann on IRC"); err != nil || said != "no cap is set" {
		t.Errorf("budget: %q, %v", said, err)
	}
	if _, err := v.Steer(t.Context(), bridge.Budget, "raise 5", "ann on IRC"); err == nil {
		t.Error("a raise without a scope is no error")
	}
}

// The line about a working agent shows what keeps it from the next turn, and the way out.
func TestTheVoiceSaysThatAWorkingAgentIsHeld(t *testing.T) {
	task := &turn.MessageStatus{ID: "k7f3q9m2xd", From: "irc", Subject: "deploy"}
	for want, a := range map[string]swarm.AgentStatus{
		"coder working: k7f3q9m2xd from irc: deploy": {},
		"coder working: k7f3q9m2xd from irc: deploy; is paused when this turn has ended: stuck: Retried deploy 22 times; next: resume coder, or abort coder": {Why: "is paused when this turn has ended: stuck: Retried deploy 22 times", Next: "claude-swarm resume coder, or claude-swarm abort coder"},
		"coder working: k7f3q9m2xd from irc: deploy; is paused when this turn has ended: by ann on IRC; next: resume coder":                                  {Why: "is paused when this turn has ended: by ann on IRC", Next: "claude-swarm resume coder"},
	} {
		a.Name, a.State, a.Message = "coder", swarm.Working, task
		line, next := agentLine(a, false, time.Now())
		if line+next != want {
			t.Errorf("%q, want %q", line+next, want)
		}
	}
	if got, want := heldLine(swarm.AgentStatus{Name: "coder", State: swarm.Working, Why: "is paused when this turn has ended: by ann on IRC", Next: "claude-swarm resume coder"}),
		"coder is paused when this turn has ended: by ann on IRC; your message is waiting; next: resume coder"; got != want {
		t.Errorf("held: %q, want %q", got, want)
	}
}

// The status names each question for the lead and how to answer it.
func TestTheVoiceNamesTheQuestionsForTheLead(t *testing.T) {
	p, store := projectWithMail(t, "{coder: }")
	if err := store.MakeMailbox(dropbox.Lead); err != nil {
		t.Fatal(err)
	}
	d, err := store.Deliver(dropbox.Lead, &dropbox.Message{From: dropbox.Swarm, Type: dropbox.Question, Subject: "budget: coder.day is at its cap", Body: []byte("more?")})
	if err != nil {
		t.Fatal(err)
	}
	text, err := daemonVoice{p, store}.Status(t.Context(), "")
	if want := `asks: "budget: coder.day is at its cap"; next: reply ` + d.ID + " …\n"; err != nil || strings.Count(text, want) != 1 {
		t.Errorf("status says %q, %v, want %q in it once", text, err, want)
	}
}
