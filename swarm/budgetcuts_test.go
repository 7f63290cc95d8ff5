package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// budgetVictim selects a victim that counts its changes on disk and kills itself before
// the change whose number is in the variable victimStep. If the number is 0, the victim
// survives.
const (
	budgetVictim = "budget"
	victimStep   = "SWARM_TEST_STEP"
)

// These are the price of each turn and the daily cap, in US dollars.
const (
	cutPrice = 0.6
	cutCap   = 0.5
)

func cutBudget() budget.Rules { return budget.Rules{Swarm: dollars(cutCap)} }

func cutScript(runner.Turn) []runnertest.Step {
	return []runnertest.Step{runnertest.Say("did it"), runnertest.Cost(cutPrice)}
}

// budgetVictimMain is a daemon with a cap and scripted clients. If it survives, it ends when
// the file "enough" exists in its project, and prints how many changes it made.
func budgetVictimMain() int {
	last, err := strconv.ParseInt(os.Getenv(victimStep), 10, 64)
	if err != nil {
		log.Print(err)
		return 2
	}
	var steps atomic.Int64
	count := func() error {
		if steps.Add(1) == last {
			die()
		}
		return nil
	}
	dir := os.Getenv(victimDir)
	store, err := dropbox.Open(dir+"/.dead-drop", dropbox.Options{Step: func(dropbox.Step) error { return count() }})
	if err != nil {
		log.Print(err)
		return 1
	}
	stop, cancel := context.WithCancel(context.Background())
	defer cancel()
	s, err := swarm.New(swarm.Options{
		Project: dir, Store: store, Sweep: 100 * time.Millisecond, Restart: quick,
		Files:    durable.Files{Step: func(durable.Step) error { return count() }},
		Plan:     swarm.Plan{Agents: []swarm.Spec{scripted("coder", dir)}, Budget: cutBudget()},
		Backends: map[string]runner.Backend{"scripted": &runnertest.Scripted{Script: cutScript}},
	})
	if err != nil {
		log.Print(err)
		return 1
	}
	go func() {
		defer cancel()
		for _, err := os.Stat(dir + "/enough"); err != nil; _, err = os.Stat(dir + "/enough") {
			time.Sleep(5 * time.Millisecond)
		}
	}()
	err = s.Run(stop, context.Background())
	log.Print("the daemon has ended: ", err)
	fmt.Println(steps.Load())
	return 0
}

// A cutField is a field whose first daemon is a victim. The simulated person raises every
// cap that is reached.
type cutField struct {
	*field
	ids     []string        // ids of the two messages to coder
	replies map[string]bool // replies sent, by the id of the question
}

func newCutField(t *testing.T) *cutField {
	f := &cutField{field: newField(t, "coder"), replies: map[string]bool{}}
	f.backend.Script, f.plan.Budget = cutScript, cutBudget()
	for _, body := range []string{"one", "two"} {
		f.ids = append(f.ids, f.send("coder", body))
	}
	return f
}

// person answers every open question from the daemon.
func (f *cutField) person() {
	for _, q := range f.questions() {
		if !f.replies[q.ID] {
			f.replies[q.ID] = true
			f.reply(q, "more")
		}
	}
}

// settled answers the open questions. It reports whether both messages have been answered
// and the person has received the outcome of each reply.
func (f *cutField) settled() bool {
	f.person()
	told := map[string]bool{}
	for _, m := range f.mail(dropbox.Lead) {
		told[m.ReplyTo] = true
	}
	replies := len(f.answers())
	return told[f.ids[0]] && told[f.ids[1]] && len(f.replies) > 0 && replies == len(f.replies) && len(f.questions()) == 0
}

// answers lists the bodies of the messages that tell the person the outcome of a reply.
func (f *cutField) answers() (list []string) {
	for _, m := range f.mail(dropbox.Lead) {
		if m.From == dropbox.Swarm && strings.Contains(m.Key, "answered:") {
			list = append(list, strings.TrimSpace(string(m.Body)))
		}
	}
	return list
}

// victim runs a daemon that dies before its n-th change. If n is 0, the daemon survives,
// and victim returns the number of changes that it made.
func (f *cutField) victim(n int) (steps int) {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), asVictim+"="+budgetVictim, victimDir+"="+f.dir, victimStep+"="+strconv.Itoa(n))
	var out, said strings.Builder
	cmd.Stdout, cmd.Stderr = &out, &said
	if err := cmd.Start(); err != nil {
		f.t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for {
		if f.settled() {
			if err := os.WriteFile(f.dir+"/enough", nil, 0o600); err != nil {
				f.t.Fatal(err)
			}
		}
		select {
		case err := <-ended:
			exit, ok := errors.AsType[*exec.ExitError](err)
			if killed := ok && exit.Sys().(syscall.WaitStatus).Signal() == syscall.SIGKILL; !killed && err != nil || ctx.Err() != nil {
				f.t.Fatalf("the victim ended with %v\n%s", err, said.String())
			}
			steps, _ := strconv.Atoi(strings.TrimSpace(out.String()))
			return steps
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// recorded lists the turns that began. A file without a record belongs to a turn that did
// not begin.
func (f *cutField) recorded() []string {
	f.t.Helper()
	return slices.DeleteFunc(f.turns(), func(turn string) bool {
		_, err := journal.ReadRecord(journal.HomeOf(f.dir), turn)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			f.t.Fatal(err)
		}
		return err != nil
	})
}

// check compares the budget with the ledger, and the messages to the person with the
// person's replies.
func (f *cutField) check() {
	t := f.t
	st, err := f.daemon.Status()
	if err != nil {
		t.Fatal(err)
	}
	counted, lines := 0.0, map[string]bool{}
	err = journal.ReadLedger(journal.HomeOf(f.dir).Ledger(), func(l journal.LedgerLine) bool {
		if lines[l.Turn] {
			t.Errorf("turn %s has two lines", l.Turn)
		}
		lines[l.Turn] = true
		switch {
		case l.CostUnknown:
			counted += max(l.CostUSD, l.ReservedUSD)
		case l.Outcome == string(runner.Done) && l.CostUSD != cutPrice:
			t.Errorf("turn %s cost %v", l.Turn, l.CostUSD)
		default:
			counted += l.CostUSD
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	row := st.Budget.Scopes[0]
	if diff := row.Spent.USD - counted; diff > 1e-6 || diff < -1e-6 || row.Reserved.USD != 0 {
		t.Errorf("the budget says %v spent and %v reserved, the ledger %v", row.Spent.USD, row.Reserved.USD, counted)
	}
	if want := cutCap * float64(1+len(f.replies)); *row.Cap.USD != want {
		t.Errorf("after %d answers the cap is %v, want %v", len(f.replies), *row.Cap.USD, want)
	}
	for _, told := range f.answers() {
		if !strings.HasPrefix(told, "swarm.day continues") {
			t.Errorf("the person was told %q", told)
		}
	}
	for _, id := range f.ids {
		if n := len(f.bounces(id)); n != 1 {
			t.Errorf("message %s was answered %d times", id, n)
		}
	}
}

// TestABudgetIsCutAtEachStep kills a daemon with a cap before each of its changes on disk.
// The daemon makes these changes when it reserves, settles, parks, asks, and carries out
// the person's answers. The next daemon counts each turn once, asks each question once,
// and carries out each answer once.
func TestABudgetIsCutAtEachStep(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	steps := newCutField(t).victim(0)
	if steps < 50 {
		t.Fatalf("the daemon made %d changes", steps)
	}
	for n := 1; n <= steps; n++ {
		t.Run(fmt.Sprintf("%03d", n), func(t *testing.T) {
			t.Parallel()
			f := newCutField(t)
			f.victim(n)
			f.start()
			f.until("all is settled", f.settled)
			f.until("each turn has its line in the ledger", func() bool { // the answer is delivered before the line is written
				lines, _ := f.ledger()
				return !slices.ContainsFunc(f.recorded(), func(turn string) bool { return !slices.Contains(lines, turn) })
			})
			f.untilState("coder", swarm.Idle)
			f.check()
		})
	}
}
