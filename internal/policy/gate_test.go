package policy_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/policy"
)

// After a restart, the rate and echo counts continue from where they were.
func TestThePastSurvivesARestart(t *testing.T) {
	file := filepath.Join(t.TempDir(), "gate.json")
	g := newGate(t, policy.Default())
	if err := g.Load(file); err != nil {
		t.Fatalf("Load of a first start: %v", err)
	}
	g.say(0)
	tried := ask()
	tried.Message.ID = "triedagain"
	check(t, g.Ask(tried), "", false)
	check(t, g.say(0), "", false)
	for range 56 {
		check(t, g.say(0, g.alone), "", false)
	}
	if err := g.Save(file); err != nil {
		t.Fatal(err)
	}
	restarted := func() *gate {
		again := &gate{t: t, Gate: policy.NewGate(policy.Default(), nil), n: 1000}
		if err := again.Load(file); err != nil {
			t.Fatal(err)
		}
		return again
	}
	check(t, restarted().say(time.Minute), policy.RuleEcho, true)
	again := restarted()
	check(t, again.Ask(tried), "", false)
	check(t, again.say(0, again.alone), "", false)
	check(t, again.say(0, again.alone), policy.RuleSenderRate, false)
	check(t, again.say(time.Second, again.alone), "", false)
}

// If the file is damaged, Load returns an error, and the gate has no past.
func TestASpoiltPastIsForgotten(t *testing.T) {
	for _, text := range []string{"", "{", `{"v":2}`, `[]`, `{"v":1,"senders":{"coder":7}}`} {
		file := filepath.Join(t.TempDir(), "gate.json")
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		g := newGate(t, policy.Default())
		if err := g.Load(file); err == nil {
			t.Errorf("Load of %q reports nothing", text)
		}
		check(t, g.say(0), "", false)
	}
	file := filepath.Join(t.TempDir(), "gate.json")
	if err := os.WriteFile(file, []byte(`{"v":1,"senders":{"coder":null},"threads":{"tttttttttt":null}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	g := newGate(t, policy.Default())
	if err := g.Load(file); err != nil {
		t.Error(err)
	}
	check(t, g.say(0), "", false)
	// The caller can test for a specific disk error.
	if err := g.Load(t.TempDir()); !errors.Is(err, syscall.EISDIR) {
		t.Errorf("Load of a folder = %v, want %v", err, syscall.EISDIR)
	}
}

// An unchanged past is not written, and a failed write is retried.
func TestSave(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "gate.json")
	g := newGate(t, policy.Default())
	g.say(0, beforeDelivery)
	if err := g.Save(file); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(file); !os.IsNotExist(err) {
		t.Errorf("the past has not changed, but its file exists: %v", err)
	}
	g.say(0)
	if err := g.Save(filepath.Join(dir, "missing", "gate.json")); err == nil {
		t.Error("Save into a folder that is not there")
	}
	if err := g.Save(file); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(file)
	if err != nil || !bytes.Contains(before, []byte("coder")) {
		t.Errorf("%s, %v", before, err)
	}
	if info, err := os.Stat(file); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 1 {
		t.Errorf("left in the folder: %v, %v", left, err)
	}
}

// The past stays small no matter how many sender names are made up.
func TestThePastIsBounded(t *testing.T) {
	g := newGate(t, policy.Default())
	for i := range 5000 {
		name := fmt.Sprintf("stranger%d", i)
		g.say(time.Duration(i)*time.Second, g.alone, from(name), unproven, body(strings.Repeat("z", i%100)))
	}
	file := filepath.Join(t.TempDir(), "gate.json")
	if err := g.Save(file); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(file); err != nil || info.Size() > 512<<10 {
		t.Errorf("%d bytes, %v, want at most 512 KiB", info.Size(), err)
	}
}

// budget is a ceiling that one agent has reached.
type budget string

func (b budget) Spent(agent, thread string) string {
	if agent == string(b) {
		return "5.00 USD of 5.00 are spent in " + thread
	}
	return ""
}

func TestTheCeilingIsAsked(t *testing.T) {
	g := policy.NewGate(policy.Default(), budget("reviewer"))
	v := g.Ask(ask())
	check(t, v, policy.RuleCost, false)
	if want := "5.00 USD of 5.00 are spent in tttttttttt"; v.Reason != want {
		t.Errorf("reason %q, want %q", v.Reason, want)
	}
	check(t, g.Ask(ask(beforeDelivery)), "", false)
	check(t, g.Ask(ask(to("tester"))), "", false)
}

// The rules can be changed while other goroutines call Ask.
func TestSetWhileAsked(t *testing.T) {
	g := policy.NewGate(policy.Policy{}, nil)
	file := filepath.Join(t.TempDir(), "gate.json")
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 200 {
				g.Ask(ask())
				if err := g.Save(file); err != nil {
					t.Error(err)
				}
			}
		})
	}
	g.Set(policy.Policy{MaxBody: 1})
	wg.Wait()
	check(t, g.Ask(ask()), policy.RuleSize, false)
	if g.Policy().MaxBody != 1 {
		t.Error("Policy is not what was set")
	}
}
