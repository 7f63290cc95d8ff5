package swarm_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// If the variable asVictim is set, the test binary kills itself with SIGKILL at a specific
// place. It runs as the daemon of a client field, or as a sender. The value of the variable
// is the name of the place.
const (
	asVictim   = "SWARM_TEST_VICTIM"
	victimDir  = "SWARM_TEST_DIR"
	victimHome = "SWARM_TEST_HOME"
	// victimLinger, if set to any value, makes the daemon keep its clients after a turn.
	victimLinger = "SWARM_TEST_LINGER"
)

// A place is the point at which a victim dies, which is either right after a change on
// disk or at a moment in the life of a turn.
type place struct {
	after   func(dropbox.Step) bool // the process dies right after this change
	turn    moment
	sends   bool // the victim is a sender; if keyed is set, it uses the key "k"
	keyed   bool
	clients bool // the client also dies
}

// A moment is a point in the life of a turn.
type moment string

const (
	beforeStart moment = "the record is there, no client"
	beforeNote  moment = "the client runs, and its number is not noted"
	midTurn     moment = "the client has said something"
	afterEnd    moment = "the client has ended, and its result is in the file"
)

// changes returns a function that matches a change with operation op whose paths begin with
// the prefixes name and to.
func changes(op dropbox.Op, name, to string) func(dropbox.Step) bool {
	return func(st dropbox.Step) bool {
		return st.Op == op && strings.HasPrefix(st.Name, name) && strings.HasPrefix(st.To, to)
	}
}

// ends returns a function that matches a change with operation op whose second path is in
// folder and ends with ending.
func ends(op dropbox.Op, folder, ending string) func(dropbox.Step) bool {
	return func(st dropbox.Step) bool {
		return st.Op == op && strings.HasPrefix(st.To, folder) && strings.HasSuffix(st.To, ending)
	}
}

var places = map[string]place{
	"tmp written":      {sends: true, after: changes(dropbox.OpSync, "coder/tmp/", "")},
	"key linked":       {sends: true, keyed: true, after: changes(dropbox.OpLink, "coder/tmp/", "coder/keys/")},
	"linked into new":  {sends: true, keyed: true, after: changes(dropbox.OpMove, "coder/tmp/", "coder/new/")},
	"claimed":          {after: changes(dropbox.OpMove, "coder/new/", "coder/cur/")},
	"recorded":         {turn: beforeStart},
	"started":          {turn: beforeNote},
	"running":          {turn: midTurn},
	"both dead":        {turn: midTurn, clients: true},
	"result in file":   {turn: afterEnd},
	"receipt in cur":   {after: ends(dropbox.OpMove, "coder/cur/", ".receipt.yaml")},
	"answer delivered": {after: changes(dropbox.OpMove, "lead/tmp/", "lead/new/")},
	"message moved":    {after: ends(dropbox.OpReplace, "coder/done/", ".md")},
	"receipt moved":    {after: ends(dropbox.OpReplace, "coder/done/", ".receipt.yaml")},
	"put back":         {after: changes(dropbox.OpMove, "coder/cur/", "coder/new/")},
	"reason written":   {after: ends(dropbox.OpMove, "coder/dead/", ".reason.txt")},
	"bounced":          {after: changes(dropbox.OpMove, "lead/tmp/", "lead/new/")},
	"buried":           {after: ends(dropbox.OpReplace, "coder/dead/", ".md")},
}

// die kills this process in the same way as kill -9.
func die() {
	if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
		log.Fatal(err)
	}
	select {}
}

// victimMain runs a victim. It returns only if the victim was not killed.
func victimMain(at string) int {
	if at == budgetVictim {
		return budgetVictimMain()
	}
	p, ok := places[at]
	if !ok {
		log.Printf("no place %q", at)
		return 2
	}
	dir := os.Getenv(victimDir)
	box := filepath.Join(dir, ".dead-drop")
	// If clients are kept after a turn, the daemon survives the first message. It dies in
	// the second message's turn, which runs in the first message's client.
	var spared atomic.Bool // several goroutines make changes
	spared.Store(os.Getenv(victimLinger) == "")
	store, err := dropbox.Open(box, dropbox.Options{Step: func(st dropbox.Step) error {
		if !spared.Load() {
			if places["receipt moved"].after(st) {
				spared.Store(true)
			}
			return nil
		}
		if p.after == nil || !p.after(st) {
			return nil
		}
		var err error
		from, to := filepath.Join(box, st.Name), filepath.Join(box, st.To)
		switch st.Op {
		case dropbox.OpMove, dropbox.OpReplace:
			err = os.Rename(from, to)
		case dropbox.OpLink:
			err = os.Link(from, to)
		}
		if err != nil {
			log.Fatal(err)
		}
		die()
		return nil
	}})
	if err != nil {
		log.Print(err)
		return 1
	}
	if p.sends {
		m := &dropbox.Message{Body: []byte(os.Getenv("SWARM_TEST_BODY"))}
		if p.keyed {
			m.Key = "k"
		}
		_, err := store.Deliver("coder", m)
		log.Print("delivered: ", err)
		return 1
	}
	if err := runner.BecomeReaper(); err != nil {
		log.Print(err)
		return 1
	}
	specs := clientSpecs(fatal{}, dir, os.Getenv(victimHome), "coder")
	if os.Getenv("SWARM_TEST_FAILURES") != "" {
		specs[0].MaxFailures = 1
	}
	if os.Getenv(victimLinger) != "" {
		specs[0].Linger = time.Minute
	}
	s, err := swarm.New(swarm.Options{
		Project: dir, Store: store, Environ: os.Environ(), Sweep: 100 * time.Millisecond, Announcer: everywhere{},
		Plan:     swarm.Plan{Agents: specs},
		Backends: map[string]runner.Backend{"claude": &killingBackend{claude.New(clientOptions), p}},
	})
	if err == nil {
		err = s.Run(context.Background(), context.Background())
	}
	log.Print("the daemon has ended: ", err)
	return 1
}

type fatal struct{}

func (fatal) Fatal(args ...any) { log.Fatal(args...) }

// killingBackend is a backend whose turn kills the daemon.
type killingBackend struct {
	runner.Backend
	place place
}

func (b *killingBackend) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	out := b.Backend.Run(ctx, b.withKill(t))
	if b.place.turn == afterEnd {
		die()
	}
	return out
}

// Serve does not kill the daemon in a client's first turn, only in a later one.
func (b *killingBackend) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	r := b.Backend.(runner.Resident)
	if c == nil {
		return r.Serve(ctx, t, nil)
	}
	out, stays := r.Serve(ctx, b.withKill(t), c)
	if b.place.turn == afterEnd {
		die()
	}
	return out, stays
}

// withKill returns a copy of the turn that kills the daemon.
func (b *killingBackend) withKill(t runner.Turn) runner.Turn {
	var client runner.Process
	started, event := t.Started, t.Event
	t.Started = func(p runner.Process) error {
		client = p
		if b.place.turn == beforeNote {
			die()
		}
		return started(p)
	}
	t.Event = func(ev *streamjson.Event) {
		event(ev)
		if b.place.turn == midTurn && ev.Kind == streamjson.KindAssistant {
			if b.place.clients {
				syscall.Kill(-client.PID, syscall.SIGKILL)
			}
			die()
		}
	}
	if b.place.turn == beforeStart {
		die()
	}
	return t
}

// dies runs a victim and waits until the victim has killed itself at the given place.
func (f *field) dies(at string, env ...string) {
	f.t.Helper()
	self, err := os.Executable()
	if err != nil {
		f.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(f.t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, self)
	cmd.Env = append(os.Environ(), asVictim+"="+at, victimDir+"="+f.dir, victimHome+"="+f.home)
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	exit, ok := errors.AsType[*exec.ExitError](err)
	if !ok || !exit.Sys().(syscall.WaitStatus).Signaled() || ctx.Err() != nil {
		f.t.Fatalf("the victim was to die when %s; it ended with %v\n%s", at, err, out)
	}
}

// begun lists the turns that the clients began. Each turn is represented by the first
// line of its message's body.
func (f *field) begun() []string {
	f.t.Helper()
	data, err := os.ReadFile(filepath.Join(f.home, "turns.log"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		f.t.Fatal(err)
	}
	var out []string
	for line := range strings.Lines(string(data)) {
		var what, agent, uuid string
		var pid int
		if _, err := fmt.Sscanf(line, "%s %s %s %d", &what, &agent, &uuid, &pid); err != nil {
			f.t.Fatalf("the journal has the line %q", line)
		}
		if what == "begin" {
			_, body, _ := strings.Cut(line, fmt.Sprint(pid, " "))
			out = append(out, strings.TrimSpace(body))
		}
	}
	return out
}
