package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/outbox"
)

// The messages of the tests. The body of each message says what the worker does with it.
const (
	taken       = "it is accepted"
	failing     = "it fails once, and is then accepted"
	interrupted = "the first attempt is interrupted"
	unsent      = "the first attempt sends nothing"
	impossible  = "it is given up"
	question    = "it stays claimed"
)

// planned is how many attempts each message needs.
var planned = map[string]int{taken: 1, failing: 2, interrupted: 2, unsent: 2, impossible: 1, question: 1}

var errNoSpace = errors.New("no space left on device")

// A world is what survives a crash of the worker: the store, the receiver, and the worker's own
// records.
type world struct {
	t   *testing.T
	dir string

	mu    sync.Mutex
	tries map[string]int // by body
	kept  map[string]bool
}

// newWorld returns a world with one message of each kind.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, dir: t.TempDir(), tries: map[string]int{}, kept: map[string]bool{}}
	ok(t, dropbox.Create(w.dir))
	store := w.open(nil)
	defer store.Close()
	ok(t, store.MakeMailbox("out"))
	ok(t, store.MakeMailbox("coder"))
	for _, body := range []string{taken, failing, interrupted, unsent, impossible, question} {
		_, err := store.Deliver("out", &dropbox.Message{From: "coder", Type: dropbox.Note, Body: []byte(body)})
		ok(t, err)
	}
	return w
}

// again returns a copy of the world with the same messages, in which nothing has happened.
func (w *world) again(t *testing.T) *world {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "store")
	ok(t, os.CopyFS(dir, os.DirFS(w.dir)))
	return &world{t: t, dir: dir, tries: map[string]int{}, kept: map[string]bool{}}
}

func (w *world) open(step func(dropbox.Step) error) *dropbox.Store {
	w.t.Helper()
	store, err := dropbox.Open(w.dir, dropbox.Options{Step: step})
	ok(w.t, err)
	return store
}

// A worker works off the mailbox out.
type worker struct {
	*world
	mailbox *dropbox.Mailbox
	box     *outbox.Box
	died    func() bool // reports whether the worker has crashed
}

// start starts a worker, which changes the disk only if step allows it.
func (w *world) start(step func(dropbox.Step) error, died func() bool) (wk *worker, end func()) {
	w.t.Helper()
	store := w.open(step)
	mailbox, err := store.Mailbox("out")
	ok(w.t, err)
	wk = &worker{world: w, mailbox: mailbox, died: died}
	wk.box = outbox.New(mailbox, outbox.Options{
		Tries: 1, Pause: time.Millisecond,
		Keep: func(id string) bool { return w.kept[id] },
		Tell: func(c *dropbox.Claim, reason string, at time.Time) error {
			_, err := store.Deliver(c.Message.From, &dropbox.Message{
				From: "out", Type: dropbox.Status, Key: fmt.Sprintf("dead:%s:%d", c.ID, at.UnixMicro()), Body: []byte(reason),
			})
			return err
		},
	})
	return wk, func() { store.Close() }
}

// work works until nothing waits, or until the worker has died. It goes on after an error of
// the disk.
func (wk *worker) work() {
	wk.t.Helper()
	recovered := wk.box.Recover() == nil
	for round := 0; !wk.died(); round++ {
		if round > 100 {
			wk.t.Fatal("the worker does not come to an end")
		}
		if !recovered {
			recovered = wk.box.Recover() == nil
			continue
		}
		refused := wk.box.TakeUp() != nil
		entries, err := wk.mailbox.List()
		if err != nil {
			continue
		}
		var list []*outbox.Attempt
		for _, e := range entries {
			if wk.box.Holds(e.ID) {
				refused = true
				continue
			}
			if a, err := wk.box.Take(e, ""); err == nil {
				list = append(list, a)
			} else {
				refused = true
			}
		}
		if len(list) == 0 && !refused {
			return
		}
		if wk.box.Begin(list...) != nil {
			for _, a := range list {
				_ = a.Release() // if the disk refuses it, TakeUp repeats it
			}
			continue
		}
		var attempts sync.WaitGroup
		for _, a := range list {
			attempts.Go(func() {
				if !wk.died() {
					_ = wk.try(a) // if the disk refuses the last step, TakeUp repeats it
				}
			})
		}
		attempts.Wait()
	}
}

// try makes one attempt.
func (wk *worker) try(a *outbox.Attempt) error {
	body, ctx := string(a.Message.Body), context.Background()
	wk.mu.Lock()
	wk.tries[body]++
	first := wk.tries[body] == 1
	if body == question {
		wk.kept[a.ID] = true
	}
	wk.mu.Unlock()
	switch {
	case body == failing && a.Failed == 0:
		return a.PutBack(true)
	case body == interrupted && first:
		return a.PutBack(false)
	case body == unsent && first:
		return a.Release()
	case body == impossible:
		return a.GiveUp(ctx, "it cannot be sent")
	case body == question:
		return a.Leave()
	}
	return a.File(ctx, []byte("outcome: sent\n"))
}

// A stage is where the files of a message are.
type stage struct {
	states  []dropbox.State
	receipt bool
	reason  bool
}

// settled reports whether the disk proves the outcome of an attempt.
func (s stage) settled() bool { return s.receipt || s.reason }

// stages returns where each message is, by body.
func (w *world) stages() map[string]stage {
	w.t.Helper()
	all := map[string]stage{}
	store := w.open(nil)
	defer store.Close()
	mailbox, err := store.Mailbox("out")
	ok(w.t, err)
	for found, err := range mailbox.All() {
		ok(w.t, err)
		m, err := store.Load(found)
		ok(w.t, err)
		s := all[string(m.Body)]
		s.states = append(s.states, found.State)
		s.receipt, err = mailbox.HasReceipt(found.Entry)
		ok(w.t, err)
		reason, err := mailbox.Reason(found.Entry)
		ok(w.t, err)
		s.reason = reason != ""
		all[string(m.Body)] = s
	}
	return all
}

// check checks that each message is where it belongs, and that the sender was told once about
// the message that was given up.
func (w *world) check(what string) {
	w.t.Helper()
	all := w.stages()
	for body := range planned {
		want := stage{states: []dropbox.State{dropbox.Done}, receipt: true}
		switch body {
		case impossible:
			want = stage{states: []dropbox.State{dropbox.Dead}, reason: true}
		case question:
			want = stage{states: []dropbox.State{dropbox.Claimed}}
		}
		if got := all[body]; !slices.Equal(got.states, want.states) || got.receipt != want.receipt || got.reason != want.reason {
			w.t.Errorf("%s: %q is %+v, want %+v", what, body, got, want)
		}
	}
	if told, _ := filepath.Glob(filepath.Join(w.dir, "coder/new/*.md")); len(told) != 1 {
		w.t.Errorf("%s: the sender was told %d times, want once", what, len(told))
	}
	if scratch, _ := filepath.Glob(filepath.Join(w.dir, "out/cur/*.receipt.yaml")); len(scratch) != 0 {
		w.t.Errorf("%s: %s is left", what, strings.Join(scratch, ", "))
	}
}

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
