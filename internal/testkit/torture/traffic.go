//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A job is a message that was sent or refused. Its body begins with the line "job N",
// which the stand-in logs.
type job struct {
	n      int
	agent  string
	sender int
	low    bool
	note   bool // the message is a note, which wakes no agent and is not answered
	id     string
	err    error // reason for the refusal; nil if the message was accepted
}

// traffic describes the messages that are sent to an arena.
type traffic struct {
	messages int
	enough   <-chan struct{}                 // if nil, messages is the exact number; otherwise, at least that many are sent, and sending continues until the channel is closed
	senders  int                             // number of goroutines; each waits until its previous message has been sent
	script   func(n int) string              // returns the script for the stand-in (see package standin); nil means a turn of a few milliseconds
	rest     func(ctx context.Context) error // called after each message from a sender; nil means no pause
	to       []string                        // recipients; nil means all agents in turn
	note     bool
	library  bool // no message is sent by a separate process
	keyed    bool // each message has a key, and is retried until it is accepted
	refusals bool // refusals are expected
}

// One in everyLow messages has low priority, and one in everyProcess is sent by a separate
// process.
const (
	everyLow     = 9
	everyProcess = 10
)

// send sends messages, stores each of them with its error, and returns when all senders
// have finished. If t expects no refusals, a sender stops after an error, and send
// returns the first such error.
func (a *arena) send(ctx context.Context, t traffic) error {
	numbers := t.messages
	if t.enough != nil {
		numbers = 1_000_000
	}
	first := a.reserve(numbers)
	to := t.to
	if to == nil {
		to = a.agents
	}
	senders := max(1, t.senders)
	errs := make([]error, senders)
	var wg sync.WaitGroup
	for s := range senders {
		wg.Go(func() {
			for i := s; (i < t.messages || t.goesOn()) && errs[s] == nil; i += senders {
				n := first + i
				j := &job{n: n, agent: to[i/senders%len(to)], sender: s, low: i%everyLow == 0, note: t.note}
				for {
					j.id, j.err = a.deliver(ctx, j, t)
					if j.err == nil || !t.keyed || ctx.Err() != nil {
						break
					}
					if errs[s] = pause(ctx, 50*time.Millisecond); errs[s] != nil {
						break
					}
				}
				a.keep(j)
				if j.err != nil && !t.refusals {
					errs[s] = fmt.Errorf("send: %w", j.err)
				}
				if t.rest != nil && errs[s] == nil {
					errs[s] = t.rest(ctx)
				}
			}
		})
	}
	wg.Wait()
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return ctx.Err()
}

// goesOn reports whether the senders continue after t.messages messages.
func (t traffic) goesOn() bool {
	select {
	case <-t.enough:
		return false
	default:
		return t.enough != nil
	}
}

// reserve reserves n numbers and returns the first.
func (a *arena) reserve(n int) int {
	a.mu.Lock()
	defer a.mu.Unlock()
	first := a.next
	a.next += n
	return first
}

func (a *arena) keep(j *job) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.jobs = append(a.jobs, j)
}

// sent returns all jobs so far.
func (a *arena) sent() []*job {
	a.mu.Lock()
	defer a.mu.Unlock()
	return append([]*job(nil), a.jobs...)
}

// deliver sends one message, either with the library or with a separate process.
func (a *arena) deliver(ctx context.Context, j *job, t traffic) (id string, err error) {
	a.delivering.RLock()
	defer a.delivering.RUnlock()
	script := shortTurn
	if t.script != nil {
		script = t.script
	}
	body := fmt.Appendf(nil, "job %d\n%s\n", j.n, script(j.n))
	key := ""
	if t.keyed {
		key = fmt.Sprintf("job-%d", j.n)
	}
	if j.n%everyProcess == 3 && !t.library {
		args := []string{"send", j.agent, "-"}
		if j.low {
			args = append(args, "--priority", "low")
		}
		if j.note {
			args = append(args, "--type", "note")
		}
		if key != "" {
			args = append(args, "--key", key)
		}
		out, err := a.feed(ctx, body, args...)
		return strings.TrimSpace(out), err
	}
	m := &dropbox.Message{Type: dropbox.Task, Body: body, Key: key}
	if j.low {
		m.Priority = dropbox.Low
	}
	if j.note {
		m.Type = dropbox.Note
	}
	d, err := a.store.Deliver(j.agent, m)
	return d.ID, err
}

// shortTurn returns the script for a turn of a few milliseconds. Every third turn
// contains a command.
func shortTurn(n int) string {
	ms := 5 + n*37%60
	if n%3 == 0 {
		return fmt.Sprintf("@sh sleep 0.%03d\n@say did %d", ms, n)
	}
	return fmt.Sprintf("@sleep %dms\n@say did %d", ms, n)
}

// finished counts the messages that are done or given up.
func (a *arena) finished() int {
	n := 0
	for _, name := range a.agents {
		days, _ := os.ReadDir(filepath.Join(a.box(name), "done"))
		for _, day := range days {
			n += countEnding(filepath.Join(a.box(name), "done", day.Name()), ".receipt.yaml")
		}
		n += countEnding(filepath.Join(a.box(name), "dead"), deadEnd)
	}
	return n
}

// deadEnd is the suffix of the file that states why a message was given up.
const deadEnd = ".reason.txt"

// countEnding counts the messages that have a file with this suffix. dead/ may also
// contain entries that were never messages, for example a symlink that replaced a folder.
func countEnding(dir, ending string) int {
	f, err := os.Open(dir)
	if err != nil {
		return 0
	}
	defer f.Close()
	names, _ := f.Readdirnames(-1)
	n := 0
	for _, name := range names {
		if base, ok := strings.CutSuffix(name, ending); ok {
			if _, err := dropbox.ParseName(base + ".md"); err == nil {
				n++
			}
		}
	}
	return n
}

// accepted counts the accepted messages.
func (a *arena) accepted() int {
	a.mu.Lock()
	defer a.mu.Unlock()
	n := 0
	for _, j := range a.jobs {
		if j.err == nil {
			n++
		}
	}
	return n
}

// settle waits until all accepted messages are done or given up.
func (a *arena) settle(ctx context.Context) error {
	return a.await(ctx, "messages are done", a.accepted(), a.finished)
}

// await waits until n returns at least enough. It returns an error if n does not change
// for [patience]. The total time is not limited, because a slow machine may take much
// longer.
func (a *arena) await(ctx context.Context, what string, enough int, n func() int) error {
	for last, since := -1, time.Now(); ; {
		now := n()
		if now >= enough {
			return nil
		}
		if now != last {
			last, since = now, time.Now()
		}
		if time.Since(since) > patience {
			return fmt.Errorf("%d of %d %s, and then none for %v\n%s", now, enough, what, patience, a.picture(ctx))
		}
		if err := pause(ctx, 50*time.Millisecond); err != nil {
			return err
		}
	}
}

// picture returns the human-readable status and the end of the daemon's log.
func (a *arena) picture(ctx context.Context) string {
	out, err := a.swarm(ctx, "status")
	if err != nil {
		out = err.Error()
	}
	log, _ := os.ReadFile(a.own().DaemonLog())
	return out + string(log[max(0, len(log)-800):])
}
