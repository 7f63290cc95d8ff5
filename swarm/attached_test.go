package swarm_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/policy"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// An attachedPost is the mailbox of an agent whose session is this test process. Its
// methods call the hooks the way a child process of the session does.
type attachedPost struct {
	*testing.T
	home  journal.Home
	store *dropbox.Store
	s     *mail.Attached
	hook  int // pid of a child of this process
}

func newAttached(t *testing.T) *attachedPost {
	t.Helper()
	dir := inMemory(t)
	if err := dropbox.Create(filepath.Join(dir, ".dead-drop")); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(filepath.Join(dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	p := &attachedPost{T: t, home: journal.HomeOf(dir), store: store, hook: child(t)}
	if p.s, err = mail.OpenAttached(p.home, store, "ada", mail.AttachedOptions{Backend: "editor"}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.s.Close)
	return p
}

// child starts a program that runs until the test ends.
func child(t *testing.T) int {
	t.Helper()
	cmd := exec.Command("cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close(); _ = cmd.Wait() })
	return cmd.Process.Pid
}

func (p *attachedPost) deliver(m *dropbox.Message) string {
	p.Helper()
	if m.From == "" {
		m.From = dropbox.Lead
	}
	d, err := p.store.Deliver("ada", m)
	if err != nil {
		p.Fatal(err)
	}
	return d.ID
}

func (p *attachedPost) stop(active bool, last string) mail.StopReply {
	p.Helper()
	r, err := p.s.Stop(mail.StopEvent{PID: p.hook, Session: "s", Active: active, Last: last, Continue: true, Cap: 8})
	if err != nil {
		p.Fatal(err)
	}
	return r
}

func (p *attachedPost) count(glob string) int {
	found, _ := filepath.Glob(filepath.Join(p.store.Dir(), glob))
	return len(found)
}

func TestAnAttachedSessionWorksThroughItsMail(t *testing.T) {
	p := newAttached(t)
	first := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("/clear\nfirst\n")})
	p.deliver(&dropbox.Message{Type: dropbox.Note, Body: []byte("by the way\n")})
	second := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("second\n")})
	if begun, err := p.s.Begin(p.hook, "s"); err != nil || !strings.Contains(begun.Notice, "2 messages") || !strings.Contains(begun.Duty, "is the agent ada") {
		t.Fatalf("Begin = %+v, %v", begun, err)
	}
	r := p.stop(false, "hello")
	if !strings.HasPrefix(r.Prompt, "claude-swarm: turn for ada") || !strings.Contains(r.Prompt, "\n/clear\nfirst\n---") || !strings.Contains(r.Prompt, "by the way") {
		t.Fatalf("the first prompt: %s", r.Prompt)
	}
	// A message that the session sends during that turn is from ada.
	b, err := p.home.AttachedTo(p.hook)
	if err != nil || b == nil || b.Agent != "ada" || b.Message != first || b.Turn != first+"-1" {
		t.Fatalf("AttachedTo = %+v, %v", b, err)
	}
	if r = p.stop(true, "first is done"); !strings.Contains(r.Prompt, "second") || strings.Contains(r.Prompt, "by the way") {
		t.Fatalf("the second prompt: %s", r.Prompt)
	}
	if r = p.stop(true, "second is done"); r != (mail.StopReply{}) {
		t.Fatalf("with no mail left: %+v", r)
	}
	if n := p.count("ada/done/*/*.receipt.yaml"); n != 3 {
		t.Errorf("%d receipts, want 3", n)
	}
	if n := p.holding("ada/done/*/*.receipt.yaml", "backend: editor\n"); n != 2 {
		t.Errorf("%d receipts name the kind of client, want those of the 2 messages", n)
	}
	if n := p.count("ada/cur/*") + p.count("ada/new/*"); n != 0 {
		t.Errorf("%d files are left", n)
	}
	for id, want := range map[string]string{first: "first is done", second: "second is done"} {
		m := p.answerTo(id)
		if m == nil || strings.TrimSpace(string(m.Body)) != want || m.From != "ada" || m.Hops != 1 || m.Proof == "" {
			t.Errorf("the answer to %s: %+v, want %q", id, m, want)
		}
	}
}

// holding counts the files that contain the text.
func (p *attachedPost) holding(glob, text string) (n int) {
	files, err := filepath.Glob(filepath.Join(p.store.Dir(), glob))
	for _, file := range files {
		data, rerr := os.ReadFile(file)
		err = errors.Join(err, rerr)
		if strings.Contains(string(data), text) {
			n++
		}
	}
	if err != nil {
		p.Fatal(err)
	}
	return n
}

// answerTo returns the lead's message that replies to id, or nil.
func (p *attachedPost) answerTo(id string) *dropbox.Message {
	p.Helper()
	box, err := p.store.Mailbox(dropbox.Lead)
	if err != nil {
		p.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		p.Fatal(err)
	}
	for _, e := range entries {
		if m, err := box.Read(e); err == nil && m.ReplyTo == id {
			return m
		}
	}
	return nil
}

// The client ignores the Stop hook's ninth consecutive block, and a message in that block
// would be lost. The hook therefore claims no message for a ninth block.
func TestTheCapOfTurnsInARow(t *testing.T) {
	p := newAttached(t)
	for i := range 10 {
		p.deliver(&dropbox.Message{Type: dropbox.Task, Body: fmt.Appendf(nil, "task %d\n", i)})
	}
	active, blocks := false, 0
	for range 20 {
		r := p.stop(active, "done")
		if r.Prompt == "" {
			if !strings.Contains(r.Notice, "2 messages") {
				t.Errorf("the notice: %q", r.Notice)
			}
			break
		}
		active = true
		blocks++
	}
	if blocks != 8 || p.count("ada/new/*") != 2 || p.count("ada/cur/*") != 0 {
		t.Errorf("%d turns in a row, %d wait, %d are claimed", blocks, p.count("ada/new/*"), p.count("ada/cur/*"))
	}
	if r := p.stop(false, "the person typed something"); r.Prompt == "" {
		t.Error("after a turn of the person's it does not go on")
	}
}

// If a person interrupts a message's turn and types something else, the message is not
// done.
func TestABrokenOffTurnPutsItsMessageBack(t *testing.T) {
	p := newAttached(t)
	id := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
	p.stop(false, "")
	r := p.stop(false, "an answer to something else")
	if !strings.Contains(r.Prompt, "a task") || !strings.Contains(r.Prompt, "This was begun before") {
		t.Fatalf("the prompt: %s", r.Prompt)
	}
	if m := p.answerTo(id); m != nil {
		t.Errorf("the sender was answered %q", m.Body)
	}
	if err := p.s.End(p.hook); err != nil {
		t.Fatal(err)
	}
	if p.count("ada/new/*"+id+"*") != 1 {
		t.Error("after the end of the session the message does not wait")
	}
	if b, err := p.home.BindingOf("ada"); b != nil || err != nil {
		t.Errorf("BindingOf = %+v, %v", b, err)
	}
}

// When an attached session finishes a message, the receipt includes the cost of earlier
// attempts by the daemon's clients.
func TestAnAttachedSessionKeepsTheCostOfEarlierAttempts(t *testing.T) {
	p := newAttached(t)
	id := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
	box, err := p.store.Mailbox("ada")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v", entries, err)
	}
	c, err := box.Claim(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	now := time.Now().UTC()
	tried := journal.Record{Turn: id + "-1", Agent: "ada", Message: id, Begun: now, Ended: now, End: runner.Failed, CostUSD: 0.5}
	if err := tried.Write(p.home); err != nil {
		t.Fatal(err)
	}
	if _, err := box.PutBack(c.Entry, true); err != nil {
		t.Fatal(err)
	}
	p.stop(false, "")
	p.stop(true, "done")
	found, _ := filepath.Glob(filepath.Join(p.store.Dir(), "ada/done/*/*.receipt.yaml"))
	if len(found) != 1 {
		t.Fatalf("receipts: %v", found)
	}
	r, err := journal.ReadReceipt(found[0])
	if err != nil {
		t.Fatal(err)
	}
	if r.CostUSD != 0.5 || !r.CostUnknown || len(r.Attempts) != 2 || r.Attempts[1].CostUSD != 0 {
		t.Errorf("the receipt has %v USD, unknown %t, and the attempts %+v; want 0.5 and unknown", r.CostUSD, r.CostUnknown, r.Attempts)
	}
}

// If an attached session begins a message and a client of the daemon finishes it, the
// receipt says that the cost is unknown.
func TestAReceiptKnowsThatASessionHadBegunTheMessage(t *testing.T) {
	f := newField(t, "coder")
	id := f.send("coder", "@cost 0.25\n@say done")
	box, err := f.store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil || len(entries) != 1 {
		t.Fatalf("List = %v, %v", entries, err)
	}
	c, err := box.Claim(entries[0])
	if err != nil {
		t.Fatal(err)
	}
	home, now := journal.HomeOf(f.dir), time.Now().UTC()
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	tried := journal.Record{Turn: id + "-1", Agent: "coder", Message: id, Via: journal.ViaAttach, Begun: now, Ended: now, End: runner.Stopped}
	if err := tried.Write(home); err != nil {
		t.Fatal(err)
	}
	if _, err := box.PutBack(c.Entry, false); err != nil {
		t.Fatal(err)
	}
	f.start()
	if r := f.receipt("coder", id); r.CostUSD != 0.25 || !r.CostUnknown || len(r.Attempts) != 2 || r.Attempts[1].CostUnknown {
		t.Errorf("the receipt has %v USD, unknown %t, and the attempts %+v; want 0.25 and unknown", r.CostUSD, r.CostUnknown, r.Attempts)
	}
}

// A running daemon counts the turns of a person's own session as soon as they have ended: its
// status says the same before and after a restart.
func TestAttachedTurnsCountAtOnce(t *testing.T) {
	f := newField(t, "ada")
	f.send("ada", "@cost 0.25\n@say done")
	f.start()
	f.until("a turn", func() bool { st := f.status("ada"); return st.State == swarm.Idle && st.TurnCount == 1 })
	f.plan.Agents[0].Attached = true
	if _, err := f.daemon.Reload(f.plan); err != nil {
		t.Fatal(err)
	}
	f.untilState("ada", swarm.Away)
	s, err := mail.OpenAttached(journal.HomeOf(f.dir), f.store, "ada", mail.AttachedOptions{Backend: "editor"})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	hook := child(t)
	if _, err := s.Begin(hook, "s"); err != nil {
		t.Fatal(err)
	}
	stop := func(active bool, last string) {
		t.Helper()
		if _, err := s.Stop(mail.StopEvent{PID: hook, Session: "s", Active: active, Last: last, Continue: true, Cap: 8}); err != nil {
			t.Fatal(err)
		}
	}
	for _, body := range []string{"first", "second"} {
		f.send("ada", body)
		stop(false, "hello")
		stop(true, body+" is done")
	}
	facts := func() string {
		st := f.status("ada")
		if st.Last == nil || st.LastActivation == nil {
			return fmt.Sprintf("%d turns", st.TurnCount)
		}
		return fmt.Sprintf("%d turns, %+v, %q, began at %.2f", st.TurnCount, st.CostUSD, st.Last.Text, *st.LastActivation)
	}
	atOnce := facts()
	if !strings.HasPrefix(atOnce, "3 turns, ") || !strings.Contains(atOnce, "TotalUnknown:2") || !strings.Contains(atOnce, "second is done") {
		t.Errorf("the status says %s; want 3 turns, an unknown part of the cost, and the last words", atOnce)
	}
	f.halt()
	f.start()
	if later := facts(); later != atOnce {
		t.Errorf("the status says\n%s, and after a restart\n%s", atOnce, later)
	}
}

// Without a Stop hook, the next /inbox files the message that the previous /inbox fetched.
func TestFetchingWithoutAStopHook(t *testing.T) {
	p := newAttached(t)
	first := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("first\n")})
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("second\n")})
	for _, want := range []string{"first", "second", ""} {
		got, err := p.s.Fetch(p.hook, "s", true)
		if err != nil || !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Fatalf("Fetch = %q, %v, want %q", got, err, want)
		}
	}
	if n := p.count("ada/done/*/*.receipt.yaml"); n != 2 || p.answerTo(first) == nil {
		t.Errorf("%d receipts, want 2; the answer: %v", n, p.answerTo(first))
	}
	third := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("third\n")})
	for range 2 { // no Stop hook ran, so the turn was interrupted
		if got, err := p.s.Fetch(p.hook, "s", false); err != nil || !strings.Contains(got, "third") {
			t.Fatalf("Fetch = %q, %v", got, err)
		}
	}
	if p.answerTo(third) != nil {
		t.Error("a message that was broken off is answered")
	}
}

func TestASecondSessionGetsNoMail(t *testing.T) {
	p := newAttached(t)
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
	// This is a separate session: a program that is not a shell, and its child.
	cmd := exec.Command("timeout", "600", "cat")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { in.Close(); _ = cmd.Wait() }()
	other, err := runner.Identify(cmd.Process.Pid)
	if err != nil {
		t.Fatal(err)
	}
	data, _ := json.Marshal(journal.Binding{V: 1, Agent: "ada", Process: other})
	if err := os.MkdirAll(filepath.Join(p.home.Dir(), "attached"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(p.home.Dir(), "attached", "ada.json"), data, 0o600); err != nil {
		t.Fatal(err)
	}
	if begun, err := p.s.Begin(p.hook, "s"); err != nil || !strings.Contains(begun.Notice, fmt.Sprint(other.PID)) || begun.Duty != "" {
		t.Errorf("Begin = %+v, %v", begun, err)
	}
	if r := p.stop(false, ""); r.Prompt != "" {
		t.Errorf("the second session got %s", r.Prompt)
	}
	if _, err := p.s.Fetch(p.hook, "s", false); err == nil {
		t.Error("the second session may fetch")
	}
	in.Close()
	_ = cmd.Wait()
	if r := p.stop(false, ""); r.Prompt == "" {
		t.Error("when the first has ended, the second gets no mail")
	}
}

func TestMailThatCannotBeWorkedOn(t *testing.T) {
	p := newAttached(t)
	if err := os.WriteFile(filepath.Join(p.store.Dir(), "ada/new/0-20260101T000000.000000Z-aaaaaaaaaa.md"), []byte("---\nv: [\n---\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	lax, err := dropbox.Open(p.store.Dir(), dropbox.Options{MaxHops: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer lax.Close()
	loop := &dropbox.Message{Type: dropbox.Task, From: "bob", To: []string{"ada"}, Hops: dropbox.MaxHops + 1, Body: []byte("round and round\n")}
	if _, err := lax.Deliver("ada", loop); err != nil {
		t.Fatal(err)
	}
	p.deliver(&dropbox.Message{Type: dropbox.Task, From: "nobody", Body: []byte("good\n")})
	if r := p.stop(false, ""); !strings.Contains(r.Prompt, "good") {
		t.Errorf("the prompt: %s", r.Prompt)
	}
	if n := p.count("ada/dead/*.md"); n != 2 {
		t.Errorf("%d dead letters, want the broken message and the loop", n)
	}
	// A message whose sender cannot be answered does not block the mailbox.
	if r := p.stop(true, "done"); r.Prompt != "" || p.count("ada/cur/*") != 0 || p.count("ada/done/*/*.receipt.yaml") != 1 {
		t.Errorf("the end: %+v", r)
	}
}

// Every descendant of the session's process, at any depth, acts as the agent.
func TestWhoAmIByAncestry(t *testing.T) {
	p := newAttached(t)
	if _, err := p.s.Begin(p.hook, "s"); err != nil {
		t.Fatal(err)
	}
	for _, depth := range []int{2, 6, 9} {
		script := "echo $$; read x"
		for range depth - 1 {
			script = "sh -c '" + strings.ReplaceAll(script, "'", `'\''`) + "'; true"
		}
		cmd := exec.Command("sh", "-c", script)
		in, err := cmd.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := cmd.StdoutPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		var pid int
		if _, err := fmt.Fscan(bufio.NewReader(out), &pid); err != nil {
			t.Fatal(err)
		}
		b, err := p.home.AttachedTo(pid)
		if err != nil || b == nil {
			t.Errorf("at depth %d: %+v, %v, want the agent", depth, b, err)
		}
		in.Close()
		_ = cmd.Wait()
	}
	id, err := journal.WhoAmI(p.home, func(string) string { return "" })
	if err != nil || id.Name != dropbox.Lead {
		t.Errorf("the session's own process: %+v, %v", id, err)
	}
}

// strict is a gate that refuses each message that contains the word "no".
type strict struct{}

func (strict) Ask(q policy.Question) policy.Verdict {
	if strings.Contains(string(q.Message.Body), "no") {
		return policy.Verdict{Rule: "test", Reason: "it says no", Next: "say yes"}
	}
	return policy.Verdict{Pass: true}
}

// haltingGate is a gate that halts the swarm when it checks a message.
type haltingGate struct{ store *dropbox.Store }

func (g haltingGate) Ask(policy.Question) policy.Verdict {
	if err := g.store.Halt("now"); err != nil {
		return policy.Verdict{Rule: "test", Reason: err.Error()}
	}
	return policy.Verdict{Pass: true}
}

// If the swarm is halted after a message is claimed but before its notes are claimed, the
// session gets the message, and the notes wait.
func TestAnAttachedSessionIsHaltedDuringAClaim(t *testing.T) {
	p := newAttached(t)
	var err error
	if p.s, err = mail.OpenAttached(p.home, p.store, "ada", mail.AttachedOptions{Gate: haltingGate{p.store}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.s.Close)
	p.deliver(&dropbox.Message{Type: dropbox.Note, Body: []byte("by the way\n")})
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("begun\n")})
	if r := p.stop(false, ""); !strings.Contains(r.Prompt, "begun") || strings.Contains(r.Prompt, "by the way") {
		t.Errorf("the prompt: %s", r.Prompt)
	}
	if n := p.count("ada/new/*.md"); n != 1 {
		t.Errorf("%d messages wait, want the note", n)
	}
}

// A message that the gate refuses reaches no session, neither as work nor as a note, and
// its sender gets the refusal. Neither an offer that another agent has claimed nor an
// expired message reaches the session.
func TestAnAttachedSessionGetsNoRefusedMail(t *testing.T) {
	p := newAttached(t)
	var err error
	if p.s, err = mail.OpenAttached(p.home, p.store, "ada", mail.AttachedOptions{Gate: strict{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.s.Close)
	refused := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("no task\n")})
	p.deliver(&dropbox.Message{Type: dropbox.Note, Body: []byte("no note\n")})
	p.deliver(&dropbox.Message{Type: dropbox.Note, Body: []byte("a good word\n")})
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("too late\n"), Expires: time.Now().Add(-time.Minute)})
	if _, err := topic.Of(p.store).Subscribe("ada", "task.*"); err != nil {
		t.Fatal(err)
	}
	work, err := topic.Of(p.store).Publish(&dropbox.Message{From: dropbox.Lead, Topic: "task.created", Body: []byte("taken\n")}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := topic.Of(p.store).Claim(work.ID, dropbox.Lead, ""); err != nil {
		t.Fatal(err)
	}
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a good task\n")})
	r := p.stop(false, "")
	if !strings.Contains(r.Prompt, "a good task") || !strings.Contains(r.Prompt, "a good word") {
		t.Errorf("the prompt: %s", r.Prompt)
	}
	for _, bad := range []string{"no task", "no note", "too late", "taken"} {
		if strings.Contains(r.Prompt, bad) {
			t.Errorf("%q reached the session: %s", bad, r.Prompt)
		}
	}
	if m := p.answerTo(refused); m == nil || m.From != dropbox.Swarm || !strings.Contains(string(m.Body), "test: it says no") {
		t.Errorf("the sender was told %+v", m)
	}
	if n := p.count("refused/ada/*.md"); n != 2 {
		t.Errorf("%d messages are kept as refused, want 2", n)
	}
	if r := p.stop(true, "done"); r != (mail.StopReply{}) || p.count("ada/cur/*") != 0 {
		t.Errorf("the end: %+v", r)
	}
}

// A session gets no mail while its agent is paused or stopped, or while everything is
// halted, and the hook's reply says why.
func TestAnAttachedSessionIsHeld(t *testing.T) {
	p := newAttached(t)
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
	state := func(text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(p.home.Dir(), "state.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	held := func(want string) {
		t.Helper()
		if r := p.stop(false, ""); r.Prompt != "" || !strings.Contains(r.Notice, want) || !strings.Contains(r.Notice, "1 message waiting") {
			t.Errorf("Stop = %+v, want no message and %q", r, want)
		}
		if got, err := p.s.Fetch(p.hook, "s", false); got != "" || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Fetch = %q, %v, want %q", got, err, want)
		}
	}
	state(`{"v":1,"agents":{"ada":{"paused":{"by":"lead","why":"lunch","since":"2026-11-21T12:00:00Z"}}}}`)
	held("ada is paused (lunch")
	state(`{"v":1,"agents":{"ada":{"stopped":{"by":"lead","since":"2026-11-21T12:00:00Z"}}}}`)
	held("claude-swarm start ada")
	state(`{"v":1,"agents":{"ada":{"paused":{"by":"lead","since":"2026-11-21T12:00:00Z","until":"2026-11-21T12:01:00Z"}}}}`)
	if err := p.store.Halt("test"); err != nil {
		t.Fatal(err)
	}
	held("everything is halted")
	if err := p.store.Unhalt(); err != nil {
		t.Fatal(err)
	}
	state(`{"v":1,"agents":{"ada":{"drain":{"by":"lead","since":"2026-11-21T12:00:00Z"}}}}`)
	held("ada is draining (by lead); claude-swarm undrain ada")
	if err := journal.AppendLedger(p.home, journal.LedgerLine{Turn: "begunbegun-1", Agent: "bob", Message: "begunbegun", Trace: "begunbegun"}); err != nil {
		t.Fatal(err)
	}
	p.deliver(&dropbox.Message{Type: dropbox.Task, Trace: "begunbegun", Body: []byte("of a begun task\n")})
	if r := p.stop(false, ""); !strings.Contains(r.Prompt, "of a begun task") {
		t.Errorf("during a drain: %+v", r)
	}
	if r := p.stop(true, "done"); r.Prompt != "" || !strings.Contains(r.Notice, "ada is draining") {
		t.Errorf("after the begun task: %+v", r)
	}
	state(`{"v":1,"agents":{}}`)
	if r := p.stop(false, ""); !strings.Contains(r.Prompt, "a task") {
		t.Errorf("after the pause: %+v", r)
	}
}

// If a person fetches a message, interrupts the turn (no hook runs then), and types
// something else, the message is not done.
func TestABrokenOffFetchIsNotFiled(t *testing.T) {
	for name, told := range map[string]bool{"a prompt hook": true, "by the Stop hook alone": false} {
		t.Run(name, func(t *testing.T) {
			p := newAttached(t)
			id := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("a task\n")})
			prompted := func(prompt string) {
				t.Helper()
				if err := p.s.Prompted(p.hook, "s", prompt, ""); err != nil {
					t.Fatal(err)
				}
			}
			stop := func(prompt, last string) mail.StopReply {
				t.Helper()
				r, err := p.s.Stop(mail.StopEvent{PID: p.hook, Session: "s", Prompt: prompt, Last: last, Cap: 8})
				if err != nil {
					t.Fatal(err)
				}
				return r
			}
			fetch := func() string {
				t.Helper()
				got, err := p.s.Fetch(p.hook, "s", false)
				if err != nil {
					t.Fatal(err)
				}
				return got
			}
			prompted("p0")
			stop("p0", "hello")
			prompted("p1")
			fetch()
			if told {
				prompted("p2")
				if p.count("ada/new/*"+id+"*") != 1 {
					t.Error("the message does not wait as soon as the person goes on")
				}
			}
			if r := stop("p2", "an answer to something else"); !strings.Contains(r.Notice, "1 message") {
				t.Errorf("the notice: %+v", r)
			}
			if m := p.answerTo(id); m != nil {
				t.Errorf("the sender was answered %q", m.Body)
			}
			prompted("p3")
			if got := fetch(); !strings.Contains(got, "a task") || !strings.Contains(got, "This was begun before") {
				t.Errorf("fetched again: %s", got)
			}
			stop("p3", "it is done")
			if m := p.answerTo(id); m == nil || string(m.Body) != "it is done" {
				t.Errorf("the answer: %+v", m)
			}
			var lines []string
			if err := journal.ReadLedger(p.home.Ledger(), func(l journal.LedgerLine) bool {
				lines = append(lines, l.Turn+" "+l.Outcome+" "+l.Via)
				return true
			}); err != nil {
				t.Fatal(err)
			}
			if want := id + "-1 stopped attach, " + id + "-2 done attach"; strings.Join(lines, ", ") != want {
				t.Errorf("the ledger has %q, want %q", lines, want)
			}
		})
	}
}

// As with every other agent, the announcer shows when a session begins, finishes or gives
// up a message. It shows each of these events once, even after an interrupted turn.
func TestAnAttachedSessionIsShown(t *testing.T) {
	p := newAttached(t)
	var err error
	if p.s, err = mail.OpenAttached(p.home, p.store, "ada", mail.AttachedOptions{Announcer: everywhere{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.s.Close)
	id := p.deliver(&dropbox.Message{Type: dropbox.Task, Subject: "Paint the door", Body: []byte("first\n")})
	if p.stop(false, "hello").Prompt == "" {
		t.Fatal("nothing began")
	}
	if got := strings.Join(p.shown(), " "); got != "begun-"+id+" lead" {
		t.Errorf("when it began: %s", got)
	}
	if err := p.s.Prompted(p.hook, "s", "another", ""); err != nil { // interrupts the turn
		t.Fatal(err)
	}
	if p.stop(false, "hm").Prompt == "" {
		t.Fatal("nothing began again")
	}
	late := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("too late\n"), Expires: time.Now().Add(-time.Minute)})
	p.stop(true, "painted")
	answer := p.answerTo(id)
	if answer == nil {
		t.Fatal("no answer")
	}
	got := p.shown()
	if len(got) != 3 || got[0] != "begun-"+id+" lead" || !strings.HasPrefix(got[1], "dead-"+late) || got[2] != "result-"+id+" ada: painted" {
		t.Errorf("at the end: %q", got)
	}
}

// Events that occurred before the announcer was set are never shown.
func TestAnAttachedSessionIsShownFromNowOn(t *testing.T) {
	p := newAttached(t)
	p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("before\n")})
	if p.stop(false, "hello").Prompt == "" {
		t.Fatal("nothing began")
	}
	p.stop(true, "done")
	var err error
	if p.s, err = mail.OpenAttached(p.home, p.store, "ada", mail.AttachedOptions{Announcer: everywhere{}}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.s.Close)
	id := p.deliver(&dropbox.Message{Type: dropbox.Task, Body: []byte("after\n")})
	if p.stop(false, "hello").Prompt == "" {
		t.Fatal("nothing began")
	}
	if got := strings.Join(p.shown(), " "); got != "begun-"+id+" lead" {
		t.Errorf("shown: %s", got)
	}
}

// shown returns a sorted list of the messages waiting in the irc mailbox. Each entry has
// the kind and the sender; the entry for a result also has its text.
func (p *attachedPost) shown() (list []string) {
	p.Helper()
	box, err := p.store.Mailbox("irc")
	if err != nil {
		p.Fatal(err)
	}
	entries, err := box.Peek()
	if err != nil {
		p.Fatal(err)
	}
	for _, e := range entries {
		m, err := box.Read(e)
		if err != nil {
			p.Fatal(err)
		}
		what := strings.TrimSuffix(strings.TrimPrefix(m.Key, "irc-"), "-#all") + " " + m.From
		if strings.HasPrefix(what, "result-") {
			what += ": " + strings.TrimSpace(string(m.Body))
		}
		list = append(list, what)
	}
	slices.Sort(list)
	return list
}
