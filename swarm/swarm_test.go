package swarm_test

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/runnertest"
	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A field is a project with a store and a scripted backend. Its methods start a daemon on
// the project, stop it, and start it again.
type field struct {
	t         *testing.T
	dir       string
	store     *dropbox.Store
	backend   *runnertest.Scripted
	clients   runner.Backend // the claude backend; may be nil
	home      string         // the HOME of client processes; see newClientField
	listeners []notice.Listener
	plan      swarm.Plan
	restart   swarm.RestartPolicy
	tokens    map[string]string
	environ   []string
	tools     *runner.Server // the swarm's tools, for agents whose Spec asks for tools; may be nil
	sweep     time.Duration
	poll      bool             // the test runs in a bubble; see inBubble
	gate      mail.Gate        // may be nil
	announcer notice.Announcer // may be nil
	advise    func(swarm.Spec) string
	inFile    func() []string // the agents in the configuration file; may be nil
	moved     func(error)
	before    func(runner.Turn) // runs before each turn of the backend; may be nil
	own       durable.Files     // writes the daemon's own files
	logged    func(msg string)  // is called after each line of the daemon's log; may be nil
	short     func() string     // returns the resource that the machine lacks for a client; nil or "" means that nothing is missing

	daemon *swarm.Swarm
	stop   context.CancelFunc
	kill   context.CancelFunc
	ended  chan error
	log    *syncLog
}

// quick is a restart policy with short times for tests.
var quick = swarm.RestartPolicy{NotBegun: 20 * time.Millisecond, MaxDelay: 100 * time.Millisecond, Disk: 20 * time.Millisecond}

func newField(t *testing.T, agents ...string) *field {
	t.Helper()
	return newFieldIn(t, inMemory(t), agents...)
}

// inMemory returns a scratch folder in memory, if the system has one. No test of a field
// cuts the power, and on a disk the syncs of a turn take longer than the rest of the turn.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "swarm")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// scripted returns an agent whose turns the scripted backend runs in a folder.
func scripted(name, dir string) (s swarm.Spec) {
	s.Name, s.Backend, s.Client.Dir = name, "scripted", dir
	return s
}

// newFieldIn is like newField, but uses an existing folder.
func newFieldIn(t *testing.T, dir string, agents ...string) *field {
	t.Helper()
	box := filepath.Join(dir, ".dead-drop")
	if err := dropbox.Create(box); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(box, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	f := &field{t: t, dir: dir, store: store, backend: &runnertest.Scripted{}, restart: quick, sweep: 100 * time.Millisecond, log: &syncLog{}}
	for _, name := range agents {
		spec := scripted(name, dir)
		spec.RetryDelay = 10 * time.Millisecond
		f.plan.Agents = append(f.plan.Agents, spec)
		if err := store.MakeMailbox(name); err != nil {
			t.Fatal(err)
		}
	}
	if _, f.poll = bubbles.Load(t); f.poll {
		f.plan.Log.Open = func(path string) io.WriteCloser { return plainLog(path) }
	}
	f.plan.Debounce = 50 * time.Millisecond
	f.tokens, err = journal.HomeOf(dir).Tokens(append(agents, dropbox.Lead)...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.halt()
		f.store.Close()
		if t.Failed() {
			t.Log(f.log.String())
		}
	})
	return f
}

// foreseen is a backend that calls the functions in its fields, if they are set, and then
// runs the turn.
type foreseen struct {
	runner.Backend
	before func(runner.Turn)
	short  func() string
}

func (b foreseen) Run(ctx context.Context, t runner.Turn) runner.Outcome {
	if b.before != nil {
		b.before(t)
	}
	if b.short != nil {
		if why := b.short(); why != "" {
			return runner.Outcome{End: runner.NoResources, Reason: why}
		}
	}
	return b.Backend.Run(ctx, t)
}

func (b foreseen) Serve(ctx context.Context, t runner.Turn, c runner.Warm) (runner.Outcome, runner.Warm) {
	if b.before != nil {
		b.before(t)
	}
	return b.Backend.(runner.Resident).Serve(ctx, t, c)
}

// newSwarm makes a daemon without starting it.
func (f *field) newSwarm() *swarm.Swarm {
	f.t.Helper()
	backends := map[string]runner.Backend{"scripted": foreseen{f.backend, f.before, f.short}}
	if f.clients != nil {
		backends["claude"] = f.clients
	}
	s, err := swarm.New(swarm.Options{
		Project: f.dir, Config: filepath.Join(f.dir, "claude-swarm.yaml"), Store: f.store, Plan: f.plan, Files: f.own,
		Backends: backends, Gate: f.gate, Version: "test", Sweep: f.sweep, Poll: f.poll, Restart: f.restart, Environ: f.environ, Listeners: f.listeners, Announcer: f.announcer, Advise: f.advise, InFile: f.inFile, Tools: f.tools, Moved: f.moved,
		Log: slog.New(overheard{slog.NewTextHandler(f.log, &slog.HandlerOptions{Level: slog.LevelDebug}), f.logged}),
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return s
}

// start starts a daemon and waits until it is ready.
func (f *field) start() {
	f.t.Helper()
	s := f.newSwarm()
	stop, cancelStop := context.WithCancel(f.t.Context())
	kill, cancelKill := context.WithCancel(context.WithoutCancel(f.t.Context()))
	ended := make(chan error, 1)
	f.daemon, f.stop, f.kill, f.ended = s, cancelStop, cancelKill, ended
	go func() { ended <- s.Run(stop, kill) }()
	select {
	case <-s.Ready():
	case err := <-ended:
		f.t.Fatalf("Run ended: %v", err)
	}
}

// reopen replaces the field's store with one that has different options. It is called
// before the first start.
func (f *field) reopen(o dropbox.Options) {
	f.t.Helper()
	store, err := dropbox.Open(f.store.Dir(), o)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := f.store.Close(); err != nil {
		f.t.Fatal(err)
	}
	f.store = store
}

// halt ends the daemon and its running turns if a daemon is running.
func (f *field) halt() {
	f.t.Helper()
	if f.daemon == nil {
		return
	}
	f.stop()
	f.kill()
	if err := <-f.ended; err != nil {
		f.t.Errorf("Run: %v", err)
	}
	f.daemon = nil
}

// send delivers a message as the lead, and returns its id.
func (f *field) send(to, body string, set ...func(*dropbox.Message)) string {
	f.t.Helper()
	m := &dropbox.Message{Type: dropbox.Task, From: dropbox.Lead, Priority: dropbox.Normal, Body: []byte(body)}
	for _, s := range set {
		s(m)
	}
	d, err := f.store.DeliverSigned(to, m, func(m *dropbox.Message) string {
		return dropbox.Proof(f.tokens[m.From], m, to)
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return d.ID
}

// patience is the maximum wait for an event that takes only milliseconds on an idle
// machine. With a fake clock it is fakePatience, because the pauses of the product, which
// grow to many minutes, then take no time.
const (
	patience     = 10 * time.Minute
	fakePatience = 12 * time.Hour
)

// checkEvery returns the time between two checks of a condition. With a fake clock, a check
// costs as much work as ever, and the wait for it costs nothing.
func (f *field) checkEvery() time.Duration {
	if f.poll {
		return 50 * time.Millisecond
	}
	return 5 * time.Millisecond
}

// until waits for a condition, which it checks after every event and at intervals.
func (f *field) until(what string, ok func() bool) {
	f.t.Helper()
	var events *swarm.Subscription
	ready := make(<-chan struct{})
	if f.daemon != nil {
		events = f.daemon.Subscribe(swarm.Filter{})
		defer events.Close()
		ready = events.Ready()
	}
	limit := patience
	if f.poll {
		limit = fakePatience
	}
	deadline := time.After(limit)
	again := time.NewTicker(f.checkEvery())
	defer again.Stop()
	for checks := 0; !ok(); checks++ {
		if f.poll && checks == 1000 {
			again.Reset(time.Second) // this is a long pause
		}
		select {
		case <-ready:
			events.Take()
		case <-again.C:
		case <-deadline:
			st := "no daemon"
			if f.daemon != nil {
				s, _ := f.daemon.Status()
				data, _ := json.MarshalIndent(s.Agents, "", " ")
				st = string(data)
			}
			f.t.Fatalf("never happened: %s\n%s", what, st)
		}
	}
}

// untilClosed waits until a channel is closed.
func (f *field) untilClosed(what string, ch <-chan struct{}) {
	f.t.Helper()
	f.until(what, func() bool {
		select {
		case <-ch:
			return true
		default:
			return false
		}
	})
}

// alertsDelivered waits until the daemon has delivered its alerts, or the status says that
// it cannot.
func (f *field) alertsDelivered() {
	f.t.Helper()
	events := journal.Open(journal.HomeOf(f.dir).Dir(), durable.Files{}, nil)
	waits, none := errors.New("an alert waits"), errors.New("no alert waits") // because of the error, Tell leaves the events for the daemon to deliver
	delivered := func() bool {
		return !errors.Is(events.Tell("lead", nil, func(events []journal.Event, _ int64) error {
			if slices.ContainsFunc(events, func(ev journal.Event) bool { return ev.Kind == journal.Alert }) {
				return waits
			}
			return none
		}), waits)
	}
	for deadline := time.Now().Add(patience); f.daemon != nil && !delivered(); time.Sleep(5 * time.Millisecond) {
		if f.troubled("the lead could not be notified") {
			return
		}
		if time.Now().After(deadline) {
			f.t.Fatal("an alert is not delivered")
		}
	}
}

// mail lists the messages in an agent's new/.
func (f *field) mail(name string) []*dropbox.Message {
	f.t.Helper()
	if name == dropbox.Lead {
		f.alertsDelivered()
	}
	box, err := f.store.Mailbox(name)
	if err != nil {
		f.t.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		f.t.Fatal(err)
	}
	var out []*dropbox.Message
	for _, e := range entries {
		m, err := box.Read(e)
		if errors.Is(err, dropbox.ErrGone) {
			continue
		} else if err != nil {
			f.t.Fatal(err)
		}
		out = append(out, m)
	}
	return out
}

// answer waits for the result or the bounce of a message.
func (f *field) answer(id string) *dropbox.Message {
	f.t.Helper()
	var got *dropbox.Message
	f.until("an answer to "+id, func() bool {
		for _, m := range f.mail(dropbox.Lead) {
			if m.ReplyTo == id {
				got = m
				return true
			}
		}
		return false
	})
	return got
}

func (f *field) status(name string) swarm.AgentStatus {
	f.t.Helper()
	st, err := f.daemon.Status(name)
	if err != nil {
		f.t.Fatal(err)
	}
	return st.Agents[0]
}

// untilState waits until an agent has the given state.
func (f *field) untilState(name string, want swarm.State) swarm.AgentStatus {
	f.t.Helper()
	var got swarm.AgentStatus
	f.until(name+" "+string(want), func() bool { got = f.status(name); return got.State == want })
	return got
}

// files lists the files in a folder of the store and in its subfolders, by their paths
// relative to that folder.
func (f *field) files(parts ...string) []string {
	f.t.Helper()
	var out []string
	root := filepath.Join(append([]string{f.store.Dir()}, parts...)...)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			rel, _ := filepath.Rel(root, path)
			out = append(out, rel)
		}
		return nil
	})
	if err != nil {
		f.t.Fatal(err)
	}
	return out
}

// nothingLeft checks that no work is left in an agent's mailbox.
func (f *field) nothingLeft(name string) {
	f.t.Helper()
	for _, dir := range []string{"new", "cur"} {
		if left := f.files(name, dir); len(left) > 0 {
			f.t.Errorf("%s/%s still has %v", name, dir, left)
		}
	}
}

// receipt waits for the receipt of a finished message, and returns it.
func (f *field) receipt(name, id string) *journal.Receipt {
	f.t.Helper()
	path := ""
	f.until("a receipt of "+id, func() bool {
		for _, file := range f.files(name, "done") {
			if strings.Contains(file, id) && strings.HasSuffix(file, ".receipt.yaml") {
				path = filepath.Join(f.store.Dir(), name, "done", file)
				return true
			}
		}
		return false
	})
	r, err := journal.ReadReceipt(path)
	if err != nil {
		f.t.Fatal(err)
	}
	return r
}

// bodies returns the message bodies in the prompts that the backend got.
func (f *field) bodies() []string {
	var out []string
	for _, r := range f.backend.Runs() {
		if !r.Followed {
			out = append(out, standin.Body(r.Turn.Prompt))
		}
	}
	return out
}

// syncLog keeps the daemon's log in memory.
type syncLog struct {
	mu sync.Mutex
	b  strings.Builder
}

func (l *syncLog) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *syncLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// once calls do when the daemon first logs a line with the given message, in the goroutine
// that logs it.
func (f *field) once(line string, do func() error) {
	var first sync.Once
	f.logged = func(msg string) {
		if msg != line {
			return
		}
		first.Do(func() {
			if err := do(); err != nil {
				f.t.Errorf("after %q was logged: %v", line, err)
			}
		})
	}
}

// overheard is a log handler that calls a function, if it is set, after each line.
type overheard struct {
	slog.Handler
	logged func(msg string)
}

func (h overheard) Handle(ctx context.Context, r slog.Record) error {
	err := h.Handler.Handle(ctx, r)
	if h.logged != nil {
		h.logged(r.Message)
	}
	return err
}

func (h overheard) WithAttrs(attrs []slog.Attr) slog.Handler {
	return overheard{h.Handler.WithAttrs(attrs), h.logged}
}

func subject(s string) func(*dropbox.Message)     { return func(m *dropbox.Message) { m.Subject = s } }
func typed(t dropbox.Type) func(*dropbox.Message) { return func(m *dropbox.Message) { m.Type = t } }
func urgent(m *dropbox.Message)                   { m.Priority = dropbox.Urgent }
func from(name string) func(*dropbox.Message)     { return func(m *dropbox.Message) { m.From = name } }
func hops(n int) func(*dropbox.Message)           { return func(m *dropbox.Message) { m.Hops = n } }
func expires(t time.Time) func(*dropbox.Message)  { return func(m *dropbox.Message) { m.Expires = t } }

// waitFor blocks a turn until ch is closed.
func waitFor(ch <-chan struct{}) runnertest.Step {
	return runnertest.Do(func(ctx context.Context, _ runner.Turn) error {
		select {
		case <-ch:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	})
}

// restore puts a finished message back into new/, as a git checkout might.
func restore(f *field, name, id string) {
	f.t.Helper()
	for _, file := range f.files(name, "done") {
		if strings.Contains(file, id) && strings.HasSuffix(file, ".md") {
			err := os.Rename(filepath.Join(f.store.Dir(), name, "done", file), filepath.Join(f.store.Dir(), name, "new", filepath.Base(file)))
			if err != nil {
				f.t.Fatal(err)
			}
			return
		}
	}
	f.t.Fatalf("%s is not done", id)
}
