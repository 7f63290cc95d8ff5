package swarm_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// The lead gets one alert about the mail of an agent that is gone, even if part of the mail
// is settled in the meantime. The lead gets a second alert if the agent returns and is
// removed again.
func TestTheLeadIsToldOnceThatAnAgentIsGone(t *testing.T) {
	f := newField(t, "coder", "idle")
	f.start()
	if err := f.daemon.Pause("idle", swarm.PauseOrder{By: "lead"}); err != nil {
		t.Fatal(err)
	}
	f.send("idle", "the first")
	f.send("idle", "the second")
	both := f.plan
	smaller := f.plan
	smaller.Agents = both.Agents[:1]
	reload := func(p swarm.Plan) {
		t.Helper()
		if _, err := f.daemon.Reload(p); err != nil {
			t.Fatal(err)
		}
	}
	told := func(want int) {
		t.Helper()
		f.until("the lead is told", func() bool { return len(f.files(dropbox.Lead, "new")) >= want })
		f.daemon.TellGone()
		if got := f.files(dropbox.Lead, "new"); len(got) != want {
			t.Fatalf("the lead has %d alerts, want %d: %v", len(got), want, got)
		}
	}
	reload(smaller) // TellGone is not called here, because the daemon calls it when the agent ends
	told(1)
	if err := os.Remove(filepath.Join(f.store.Dir(), "idle", "new", f.files("idle", "new")[0])); err != nil {
		t.Fatal(err)
	}
	told(1)
	reload(both)
	reload(smaller)
	told(2)
}

// An agent that the configuration file names, but that the daemon has not read yet, is not
// called gone: the status says that a reload is missing, and the lead gets no alert that
// proposes to remove it.
func TestAnAgentThatTheDaemonHasNotReadIsNotGone(t *testing.T) {
	f := newField(t, "coder")
	f.inFile = func() []string { return []string{"coder", "docs"} }
	f.start()
	for _, name := range []string{"docs", "left"} {
		if err := f.store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
		f.send(name, "hello")
	}
	f.daemon.TellGone()
	st, err := f.daemon.Status()
	if err != nil {
		t.Fatal(err)
	}
	var nexts []string
	for _, p := range st.Trouble {
		nexts = append(nexts, p.Next)
	}
	if want := []string{"claude-swarm reload", "claude-swarm remove left --to OTHER | --keep"}; !slices.Equal(nexts, want) {
		t.Errorf("the status proposes %q, want %q", nexts, want)
	}
	f.until("the lead is told", func() bool { return len(f.files(dropbox.Lead, "new")) > 0 })
	if told := f.files(dropbox.Lead, "new"); len(told) != 1 {
		t.Errorf("the lead has %d alerts, want the one about left: %v", len(told), told)
	}
}
