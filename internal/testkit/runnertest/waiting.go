package runnertest

import (
	"context"
	"fmt"
	"os"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// waiting is a scripted client between two turns.
type waiting struct {
	of      *Scripted
	process runner.Process
	place   runner.Place
	stdout  string
	exited  chan struct{}
	exit    func() // closes exited
}

// Serve plays the turn's script. The client stays after a successful turn, unless the
// turn had a cap, compacted the context, or had no output file.
func (s *Scripted) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	p, mode, alive := runner.Process{}, os.O_TRUNC, true
	if w, ok := c.(*waiting); ok {
		p, mode = w.process, os.O_APPEND
		alive = s.activate(w)
	}
	i, p := s.begin(t, p, false)
	if !alive {
		out := runner.Outcome{End: runner.ClientGone, Reason: "the client that waited has ended"}
		s.end(i, out)
		return out, nil
	}
	out := s.run(ctx, t, p, mode)
	s.end(i, out)
	if out.End != runner.Done || t.CapUSD > 0 && s.Kind().Caps || out.Compactions > 0 || t.Stdout == "" {
		return out, nil
	}
	return out, s.wait(t, p)
}

// activate gives a waiting client a turn. It returns false if the client has died.
func (s *Scripted) activate(w *waiting) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, alive := s.waiting[w.process]
	delete(s.waiting, w.process)
	return alive
}

func (s *Scripted) wait(t runner.Turn, p runner.Process) *waiting {
	info, err := os.Stat(t.Stdout)
	if err != nil {
		panic(fmt.Sprintf("runnertest: %v", err)) // the test's folder has been removed
	}
	w := &waiting{of: s, process: p, stdout: t.Stdout, exited: make(chan struct{}),
		place: runner.Place{Offset: info.Size()}}
	w.exit = sync.OnceFunc(func() { close(w.exited) })
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.waiting == nil {
		s.waiting = make(map[runner.Process]*waiting)
	}
	s.waiting[p] = w
	return w
}

// Waiting returns the clients that have stayed and are between turns.
func (s *Scripted) Waiting() []runner.Process {
	s.mu.Lock()
	defer s.mu.Unlock()
	var all []runner.Process
	for p := range s.waiting {
		all = append(all, p)
	}
	return all
}

// Kill kills a waiting client, as SIGKILL does.
func (s *Scripted) Kill(p runner.Process) {
	s.mu.Lock()
	w := s.waiting[p]
	delete(s.waiting, p)
	s.mu.Unlock()
	if w != nil {
		w.exit()
	}
}

func (w *waiting) Process() runner.Process { return w.process }
func (w *waiting) Exited() <-chan struct{} { return w.exited }
func (w *waiting) Place() runner.Place     { return w.place }

// Stirs returns true if the file has grown or has been removed. A test can write
// unrequested client output to the file.
func (w *waiting) Stirs() bool {
	info, err := os.Stat(w.stdout)
	return err != nil || info.Size() > w.place.Offset
}

// Close kills the client immediately.
func (w *waiting) Close(context.Context) runner.Exit {
	w.of.Kill(w.process)
	return runner.Exit{}
}
