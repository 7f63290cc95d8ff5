package dropbox_test

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A recording contains the steps of several programs on one store. It also contains the
// results that the programs received, each with the step that it followed.
type recording struct {
	dir    string
	disk   *cutDisk // the state at the beginning
	events []event
	facts  []fact
}

// A fact records the possible states of a message if the power is cut at or after an
// event.
type fact struct {
	at   int    // index of the next event
	name string // name of the message; see bodyOf
	// During a call the message may also be in the call's target state. After the call it
	// is in that state, or in the target state of a call that began later.
	to   dropbox.State
	call bool
	of   int // after a call: index of the call's fact

	accepted      bool // the fact records only that a sender was told that the message exists
	counted       bool // the fact records only the minimum numbers of counted attempts
	begun, failed int
}

const nowhere dropbox.State = ""

// bodyOf returns a body that contains the message's name and whose completeness can be
// checked.
func bodyOf(name string) []byte {
	return []byte("message " + name + "\n" + strings.Repeat(name+" ", 100) + "\nend of " + name + "\n")
}

// nameOf reads the name from a body that bodyOf made; ok is false when the body is
// incomplete.
func nameOf(body []byte) (name string, ok bool) {
	first, _, _ := strings.Cut(string(body), "\n")
	name, ok = strings.CutPrefix(first, "message ")
	return name, ok && string(body) == string(bodyOf(name))
}

// An actor is a running program. Only one actor runs at a time; it stops before its next
// step.
type actor struct {
	rec    *recording
	store  *dropbox.Store
	rng    *rand.Rand
	parked chan<- *actor
	turn   chan struct{}
	life   int        // number of steps until the actor is killed; 0 means never
	never  dropbox.Op // an operation that the actor's disk refuses
	err    error
	done   bool
}

var errKilled = errors.New("killed")

// pause lets other actors run.
func (a *actor) pause() {
	a.parked <- a
	<-a.turn
}

// step waits for the actor's turn and records the next step.
func (a *actor) step(st dropbox.Step) error {
	if st.Op == a.never {
		return syscall.EINVAL
	}
	a.pause()
	if st.Op == dropbox.OpSync { // all bytes have been written at this point
		data, err := os.ReadFile(filepath.Join(a.rec.dir, st.Name))
		if ignoreMissing(err) != nil { // the file was removed while it was being written, so nothing will read it
			return err
		}
		for i := range slices.Backward(a.rec.events) {
			if e := &a.rec.events[i]; e.Op == dropbox.OpWrite && e.Name == st.Name {
				e.data = data
				break
			}
		}
	}
	if a.life > 1 {
		a.life--
	} else if a.life == 1 { // a.life stays 1, so later steps also fail
		return errKilled
	}
	a.rec.events = append(a.rec.events, event{Step: st})
	return nil
}

func (a *actor) fact(f fact) (index int) {
	f.at = len(a.rec.events)
	a.rec.facts = append(a.rec.facts, f)
	return len(a.rec.facts) - 1
}

// moves runs a call that moves a message to another state, and records the facts.
func (a *actor) moves(name string, to dropbox.State, do func() error) error {
	of := a.fact(fact{name: name, call: true, to: to})
	err := again(do)
	if err == nil {
		a.fact(fact{name: name, to: to, of: of})
	}
	return err
}

// again repeats a call whose scratch file was cleaned up while it was being written.
func again(do func() error) (err error) {
	for range 5 {
		if err = do(); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return err
}

// A program is the function that an actor runs.
type program func(*actor) error

// record runs programs on the store in dir; a random choice determines which one performs
// the next step.
func record(t *testing.T, dir string, seed uint64, programs ...program) *recording {
	t.Helper()
	rec := &recording{dir: dir, disk: loadDisk(t, dir)}
	model := loadDisk(t, dir)
	rng := rand.New(rand.NewPCG(seed, 0))
	parked := make(chan *actor)
	var ready []*actor
	for i, run := range programs {
		a := &actor{rec: rec, rng: rand.New(rand.NewPCG(seed, uint64(i+1))), parked: parked, turn: make(chan struct{})}
		a.store = reopen(t, dir, dropbox.Options{Step: a.step})
		go func() { // this goroutine signals its end on parked
			a.pause()
			a.err = run(a)
			a.done = true
			a.parked <- a
		}()
		ready = append(ready, <-parked)
	}
	for len(ready) > 0 {
		i := rng.IntN(len(ready))
		ready[i].turn <- struct{}{}
		ready[i] = <-parked
		if ready[i].done {
			if err := ready[i].err; err != nil && !errors.Is(err, errKilled) {
				t.Fatalf("seed %d: %v", seed, err)
			}
			ready = slices.Delete(ready, i, i+1)
		}
	}
	for _, e := range rec.events {
		if err := model.apply(e); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(loadDisk(t, dir).files(), model.files()); diff != "" {
		t.Fatalf("seed %d: the model of the disk is wrong (-disk +model):\n%s", seed, diff)
	}
	return rec
}

// without runs a program on a disk that refuses an operation.
func without(op dropbox.Op, p program) program {
	return func(a *actor) error {
		a.never = op
		return p(a)
	}
}

// killed kills a program before one of its first 20 steps.
func killed(p program) program {
	return func(a *actor) error {
		a.life = 1 + a.rng.IntN(20)
		return p(a)
	}
}

// twice returns a program that runs oneLife until it is killed before the n-th step. The
// program then performs the next start and runs oneLife again.
func twice(n int) program {
	return func(a *actor) error {
		a.life = n
		if err := oneLife(a, "first"); err != nil && !errors.Is(err, errKilled) {
			return err
		}
		a.life = 0
		if err := startAgain(a.store); err != nil {
			return err
		}
		return oneLife(a, "second")
	}
}

// oneLife sends a message with an attachment and processes all waiting messages.
func oneLife(a *actor, name string) error {
	at, err := a.store.Attach("a.txt", strings.NewReader("the attachment"))
	if err != nil {
		return err
	}
	a.fact(fact{name: name, call: true, to: dropbox.Waiting})
	_, err = a.store.Deliver("coder", &dropbox.Message{From: "tester", Attachments: []dropbox.Attachment{at}, Body: bodyOf(name)})
	if err != nil {
		return err
	}
	a.fact(fact{name: name, accepted: true})
	b, err := a.store.Mailbox("coder")
	if err != nil {
		return err
	}
	entries, err := b.List()
	if err != nil {
		return err
	}
	for _, e := range entries {
		c, err := b.Claim(e)
		if err != nil {
			return err
		}
		if err := done(a, b, c); err != nil {
			return err
		}
	}
	return nil
}

// sends delivers messages: some without keys, some with keys that other programs also
// use, and some with attachments.
func sends(who string, n int) program {
	return func(a *actor) error {
		for i := range n {
			m := &dropbox.Message{From: "tester"}
			name := fmt.Sprintf("%s-%d", who, i)
			switch a.rng.IntN(4) {
			case 0, 1:
				m.Key = fmt.Sprintf("key-%d", a.rng.IntN(2))
				name = m.Key
			case 2:
				at, err := a.store.Attach("a.txt", strings.NewReader(name))
				if err != nil {
					return err
				}
				m.Attachments = []dropbox.Attachment{at}
			}
			m.Body = bodyOf(name)
			a.fact(fact{name: name, call: true, to: dropbox.Waiting})
			err := again(func() error {
				_, err := a.store.Deliver("coder", m)
				return err
			})
			if err != nil {
				return err
			}
			a.fact(fact{name: name, accepted: true})
		}
		return nil
	}
}

// sendsTogether delivers messages in batches to two mailboxes. Some messages have keys
// that other programs also use.
func sendsTogether(who string, n int) program {
	return func(a *actor) error {
		var drafts []dropbox.Draft
		var names []string
		for i := range n {
			m := &dropbox.Message{From: "tester"}
			name := fmt.Sprintf("%s-%d", who, i)
			if a.rng.IntN(2) == 0 {
				m.Key = fmt.Sprintf("key-%d", a.rng.IntN(2))
				name = m.Key
			}
			m.Body = bodyOf(name)
			a.fact(fact{name: name, call: true, to: dropbox.Waiting})
			drafts, names = append(drafts, dropbox.Draft{To: "coder", Message: m}), append(names, name)
			if other := fmt.Sprintf("%s-lead-%d", who, i); i%2 == 0 {
				a.fact(fact{name: other, call: true, to: dropbox.Waiting})
				drafts = append(drafts, dropbox.Draft{To: dropbox.Lead, Message: &dropbox.Message{From: "tester", Body: bodyOf(other)}})
				names = append(names, other)
			}
		}
		for len(drafts) > 0 {
			var again []dropbox.Draft
			var left []string
			for i, o := range a.store.DeliverBatch(drafts) {
				switch {
				case errors.Is(o.Err, fs.ErrNotExist): // its scratch file was cleaned up
					again, left = append(again, drafts[i]), append(left, names[i])
				case o.Err != nil:
					return o.Err
				default:
					a.fact(fact{name: names[i], accepted: true})
				}
			}
			drafts, names = again, left
		}
		return nil
	}
}

// worksTogether claims up to three waiting messages at a time and settles them in one
// batch.
func worksTogether(n int) program {
	return func(a *actor) error {
		b, err := a.store.Mailbox("coder")
		if err != nil {
			return err
		}
		for range n {
			for range 4 {
				a.pause()
			}
			entries, err := b.List()
			if err != nil {
				return err
			}
			var list []dropbox.Settlement
			var names []string
			for _, e := range entries[:min(3, len(entries))] {
				c, err := b.Take(e)
				if errors.Is(err, dropbox.ErrGone) {
					continue
				} else if err != nil {
					return err
				}
				name, _ := nameOf(c.Message.Body)
				list, names = append(list, dropbox.Settlement{Entry: c.Entry, Receipt: []byte("receipt of " + name + "\n")}), append(names, name)
			}
			if err := b.SyncClaims(); err != nil {
				return err
			}
			var calls []int
			for _, name := range names {
				calls = append(calls, a.fact(fact{name: name, call: true, to: dropbox.Done}))
			}
			for i, err := range b.SettleBatch(list) {
				if err != nil {
					return err
				}
				a.fact(fact{name: names[i], to: dropbox.Done, of: calls[i]})
			}
		}
		return nil
	}
}

// works claims up to n messages and ends each turn in a random way.
func works(n int) program {
	return func(a *actor) error {
		b, err := a.store.Mailbox("coder")
		if err != nil {
			return err
		}
		for range n {
			for range 4 {
				a.pause()
			}
			entries, err := b.List()
			if err != nil {
				return err
			}
			if len(entries) == 0 {
				continue
			}
			c, err := b.Claim(entries[a.rng.IntN(len(entries))])
			if errors.Is(err, dropbox.ErrGone) {
				continue
			} else if err != nil {
				return err
			}
			if err := turn(a, b, c); err != nil {
				return err
			}
		}
		return nil
	}
}

func turn(a *actor, b *dropbox.Mailbox, c *dropbox.Claim) error {
	if c.Bad != nil {
		return c.Bad
	}
	name, _ := nameOf(c.Message.Body)
	a.fact(fact{name: name, counted: true, begun: c.Begun, failed: c.Failed})
	switch a.rng.IntN(8) {
	case 4, 5:
		return a.moves(name, dropbox.Refused, func() error { return b.Refuse(c.Entry, "a rule") })
	case 0, 1:
		back, err := b.PutBack(c.Entry, true)
		if err == nil {
			a.fact(fact{name: name, counted: true, begun: back.Begun, failed: back.Failed})
		}
		return err
	case 2:
		a.fact(fact{name: name, counted: true})
		_, err := b.Release(c.Entry)
		return err
	case 3:
		return a.moves(name, dropbox.Dead, func() error { return b.GiveUp(c.Entry, "no") })
	}
	return done(a, b, c)
}

// done ends a turn successfully.
func done(a *actor, b *dropbox.Mailbox, c *dropbox.Claim) error {
	name, _ := nameOf(c.Message.Body)
	err := a.moves(name, dropbox.Done, func() error { return b.Commit(c.Entry, []byte("receipt of "+name+"\n")) })
	if err != nil {
		return err
	}
	return b.Finish(c.Entry)
}

// meddles cancels waiting messages, retries and purges dead ones, and readmits refused
// ones.
func meddles(n int) program {
	return func(a *actor) error {
		b, err := a.store.Mailbox("coder")
		if err != nil {
			return err
		}
		for range n {
			for range 6 {
				a.pause()
			}
			entries, err := b.List()
			if err != nil {
				return err
			}
			dead, err := b.DeadLetters().List()
			if err != nil {
				return err
			}
			refused, err := b.Refusals().List()
			if err != nil {
				return err
			}
			what := a.rng.IntN(3)
			switch {
			case len(refused) > 0:
				if err := readmit(a, b, refused[0], what == 1); err != nil {
					return err
				}
			case what == 0 && len(entries) > 0:
				e := entries[len(entries)-1]
				m, err := b.Read(e)
				if errors.Is(err, dropbox.ErrGone) {
					continue
				} else if err != nil {
					return err
				}
				name, _ := nameOf(m.Body)
				err = a.moves(name, dropbox.Dead, func() error { return b.Cancel(e) })
				if err != nil && !errors.Is(err, dropbox.ErrGone) {
					return err
				}
			case what > 0 && len(dead) > 0:
				if err := revive(a, b, dead[0], what == 1); err != nil {
					return err
				}
			}
		}
		return nil
	}
}

func revive(a *actor, b *dropbox.Mailbox, d dropbox.DeadLetter, retry bool) error {
	m, err := a.store.Load(dropbox.Found{Entry: d.Entry, Path: "coder/dead/" + d.Name})
	if err != nil {
		return err
	}
	name, _ := nameOf(m.Body)
	a.fact(fact{name: name, counted: true})
	if retry {
		return a.moves(name, dropbox.Waiting, func() error { return b.DeadLetters().Retry(d) })
	}
	return a.moves(name, nowhere, func() error { return b.DeadLetters().Purge(d) })
}

func readmit(a *actor, b *dropbox.Mailbox, r dropbox.Refusal, pass bool) error {
	m, err := a.store.Load(dropbox.Found{Entry: r.Entry, Path: "refused/coder/" + r.Name})
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}
	name, _ := nameOf(m.Body)
	a.fact(fact{name: name, counted: true})
	err = a.moves(name, dropbox.Waiting, func() error { return b.Refusals().Readmit(r.Entry, pass) })
	if errors.Is(err, dropbox.ErrGone) {
		return nil
	}
	return err
}

// reads acts like a person who reads and files the messages to the lead.
func reads(a *actor) error {
	b, err := a.store.Mailbox(dropbox.Lead)
	if err != nil {
		return err
	}
	for i := range 3 {
		name := fmt.Sprintf("lead-%d", i)
		a.fact(fact{name: name, call: true, to: dropbox.Waiting})
		if _, err := a.store.Deliver(dropbox.Lead, &dropbox.Message{Body: bodyOf(name)}); err != nil {
			return err
		}
		a.fact(fact{name: name, accepted: true})
		entries, err := b.List()
		if err != nil {
			return err
		}
		if i > 0 {
			if err := a.moves(name, dropbox.Claimed, func() error { return b.MarkRead(entries[0]) }); err != nil {
				return err
			}
		}
		if i != 1 { // File first moves an unread message to cur/
			a.fact(fact{name: name, call: true, to: dropbox.Claimed})
			if err := a.moves(name, dropbox.Done, func() error { return b.File(entries[0]) }); err != nil {
				return err
			}
		}
	}
	return nil
}

// tidies runs the cleanup with a clock that makes the files in tmp/ look old.
func tidies(a *actor) error {
	b, err := a.store.Mailbox("coder")
	if err != nil {
		return err
	}
	for range 3 {
		for range 8 {
			a.pause()
		}
		if _, err := b.Clean(time.Now().Add(2 * time.Hour)); err != nil {
			return err
		}
	}
	return nil
}

// takesIn delivers the mailbox's dropped files as messages.
func takesIn(a *actor) error {
	b, err := a.store.Mailbox("coder")
	if err != nil {
		return err
	}
	strays, err := b.Drops().List()
	if err != nil {
		return err
	}
	for _, st := range strays {
		name := strings.TrimSuffix(st.Name, ".md")
		a.fact(fact{name: name, call: true, to: dropbox.Waiting})
		if _, err := b.Drops().TakeIn(st, dropbox.Defaults{From: "lead"}); err != nil {
			return err
		}
		a.fact(fact{name: name, accepted: true})
	}
	return nil
}
