package webhook_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
	"github.com/claude-swarm/claude-swarm/internal/webhook"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

const token = "SWARMSWARMSWARMSWARMSWARMS"

// short lists waits between attempts that are short enough for a test.
var short = []time.Duration{5 * time.Millisecond, 5 * time.Millisecond, 5 * time.Millisecond}

// A scene is a store with a service for a test.
type scene struct {
	t     *testing.T
	dir   string
	store *dropbox.Store
	o     webhook.Options
	*webhook.Service
	stop func()
}

func newScene(t *testing.T, o dropbox.Options) *scene {
	t.Helper()
	dir := t.TempDir()
	if err := dropbox.Create(dir); err != nil {
		t.Fatal(err)
	}
	store, err := dropbox.Open(dir, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { store.Close() })
	sc := &scene{t: t, dir: dir, store: store, o: webhook.Options{
		Store: store, Home: t.TempDir(), Project: "demo", Token: token, Log: slog.New(slog.DiscardHandler), Waits: short,
		Post: webhook.PosterOptions{Proxy: direct, Timeout: time.Hour},
	}}
	return sc
}

// run starts a service with webhooks, after stopping the previous service.
func (sc *scene) run(hooks ...webhook.Hook) {
	sc.t.Helper()
	if sc.stop != nil {
		sc.stop()
	}
	s, err := webhook.New(sc.o)
	if err == nil {
		err = s.Set(hooks)
	}
	if err != nil {
		sc.t.Fatal(err)
	}
	sc.Service = s
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() {
		if err := s.Run(ctx); err != nil {
			sc.t.Errorf("Run: %v", err)
		}
	})
	sc.stop = sync.OnceFunc(func() { cancel(); wg.Wait() })
	sc.t.Cleanup(sc.stop)
}

// files returns the paths of the messages in a mailbox folder.
func (sc *scene) files(folder ...string) []string {
	list, _ := filepath.Glob(filepath.Join(append([]string{sc.dir, dropbox.Hooks}, append(folder, "*.md")...)...))
	return list
}

func (sc *scene) done() int { return len(sc.files("done", "*")) }

// until waits until good returns true.
func (sc *scene) until(what string, good func() bool) {
	sc.t.Helper()
	for deadline := time.Now().Add(3 * time.Minute); !good(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(deadline) {
			sc.t.Fatalf("not in time: %s; new %d cur %d done %d dead %d", what, len(sc.files("new")), len(sc.files("cur")), sc.done(), len(sc.files("dead")))
		}
	}
}

func hookTo(name string, rc *receiver) webhook.Hook {
	return webhook.Hook{Name: name, URL: rc.URL, Kind: webhook.Generic, Events: journal.Words(), Private: true}
}

// crashed returns an event with a notice.
func crashed(n int) journal.Event {
	return journal.Event{
		V: 1, Seq: int64(n), At: time.Now(), Kind: journal.Failed, Key: fmt.Sprintf("failed-%d", n), Agent: "coder", To: "lead",
		Message: &journal.Message{From: "swarm", Type: dropbox.Status, Body: "exit status 1\nthe last lines\n", Thread: "aaaaaaaaaa", Trace: "aaaaaaaaaa"},
		Of:      &journal.Message{ID: "aaaaaaaaaa", From: "lead", Type: dropbox.Task, Subject: "Fix the build", Thread: "aaaaaaaaaa", Trace: "aaaaaaaaaa"},
		Turn:    &journal.Turn{ID: "t1", Outcome: "crashed", Seconds: 2.5, CostUSD: 0.12},
		Notice:  &journal.Notice{Word: journal.AgentError, Agent: "coder", Why: fmt.Sprintf("crashed: process exited with code %d", n)},
	}
}

func (sc *scene) hear(events ...journal.Event) {
	sc.t.Helper()
	if err := sc.Hear(sc.t.Context(), events); err != nil {
		sc.t.Fatal(err)
	}
}

func TestOnePostForEachEvent(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	few := hookTo("few", rc)
	few.Events = []journal.Word{journal.BudgetReached}
	sc.run(hookTo("ops", rc), few)
	other := crashed(2)
	other.Notice = nil
	sc.hear(crashed(1), other)
	sc.hear(crashed(1)) // as after a crash that happens before the cursor is advanced
	sc.until("one is done", func() bool { return sc.done() == 1 })
	sc.hear(crashed(1))
	sc.Drain(t.Context())
	all := rc.got()
	if len(all) != 1 || !strings.HasPrefix(all[0].id, "msg_") {
		t.Fatalf("%d requests, want 1: %v", len(all), all)
	}
	var p webhook.Payload
	if err := json.Unmarshal([]byte(all[0].body), &p); err != nil {
		t.Fatal(err)
	}
	p.Timestamp = time.Time{}
	want := webhook.Payload{Type: journal.AgentError, Data: webhook.Data{
		V: 1, Webhook: "ops", Project: "demo", Severity: journal.Error, Text: "[ERROR] coder crashed: process exited with code 1", Agent: "coder",
		Message: &webhook.Message{ID: "aaaaaaaaaa", From: "lead", Type: "task", Subject: "Fix the build", Thread: "aaaaaaaaaa", Trace: "aaaaaaaaaa"},
		Details: "exit status 1\nthe last lines", Turn: &webhook.Turn{ID: "t1", Outcome: "crashed", Seconds: 2.5, CostUSD: 0.12},
	}}
	if got, want := string(p.JSON()), string(want.JSON()); got != want {
		t.Errorf("posted\n%s\nwant\n%s", got, want)
	}
	receipts, _ := filepath.Glob(filepath.Join(sc.dir, "hooks", "done", "*", "*.receipt.yaml"))
	data, err := os.ReadFile(strings.Join(receipts, ""))
	if err != nil || !strings.Contains(string(data), "outcome: posted") || !strings.Contains(string(data), "status: 204") || !strings.Contains(string(data), "tries: 1") {
		t.Errorf("receipt %s, %v", data, err)
	}
	st, err := webhook.ReadState(sc.o.Home)
	if stand := st.Hooks["ops"]; err != nil || stand.Status != 204 || stand.Taken.IsZero() || stand.Event != "agent_error" {
		t.Errorf("state %+v, %v", st, err)
	}
}

// If the daemon wrote the text of an event and sent it to no one, the payload does not
// name a message, because there is no message that a receiver could look up.
func TestTheTextOfTheDaemonIsNoMessage(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	sc.run(hookTo("ops", rc))
	ev := crashed(1)
	ev.Of = nil
	sc.hear(ev)
	sc.until("it is done", func() bool { return sc.done() == 1 })
	var p webhook.Payload
	if err := json.Unmarshal([]byte(rc.got()[0].body), &p); err != nil || p.Data.Message != nil {
		t.Errorf("message = %+v, %v", p.Data.Message, err)
	}
}

// Nothing is posted during the quiet hours at night. The morning event goes to the
// webhooks that subscribe to at least one of the events in it.
func TestTheNightIsPostedInTheMorning(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	few := hookTo("few", rc)
	few.Events = []journal.Word{journal.BudgetReached}
	sc.run(hookTo("ops", rc), few)
	night, morning := crashed(1), crashed(2)
	night.Quiet = time.Now().Add(time.Hour)
	morning.Kind, morning.Notice, morning.Of, morning.Turn = journal.Alert, nil, nil, nil
	morning.Gathers = []journal.Word{journal.AgentError, journal.LimitReached}
	morning.Message = &journal.Message{From: "swarm", Subject: "during the quiet hours: coder is stopped, and 2 more", Body: "Since 22:00\n"}
	sc.hear(night, morning)
	sc.until("one is done", func() bool { return sc.done() == 1 })
	sc.Drain(t.Context())
	all := rc.got()
	if len(all) != 1 {
		t.Fatalf("%d requests, want 1: %v", len(all), all)
	}
	var p webhook.Payload
	if err := json.Unmarshal([]byte(all[0].body), &p); err != nil {
		t.Fatal(err)
	}
	if p.Type != webhook.QuietHours || p.Data.Webhook != "ops" || p.Data.Severity != journal.Error || p.Data.Text != morning.Message.Subject || p.Data.Details != "Since 22:00" {
		t.Errorf("posted %s", all[0].body)
	}
}

// The id and the body are the same in all attempts.
func TestTriesUntilItIsTaken(t *testing.T) {
	sc := newScene(t, dropbox.Options{})
	rc := newReceiver(t, func(n int, w http.ResponseWriter, _ *http.Request) {
		if n < 3 {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	sc.until("it is done", func() bool { return sc.done() == 1 })
	all := rc.got()
	if len(all) != 3 || all[0].id != all[2].id || all[1].id != all[2].id || all[0].body != all[2].body {
		t.Errorf("requests %v", all)
	}
	if f := sc.Failures(); len(f) != 0 {
		t.Errorf("Failures = %v after a success", f)
	}
}

// After the last attempt, the message is in dead/ with the reason. The lead is told only
// about the first lost message. If a person retries the message, a new series of attempts
// starts.
func TestGivenUpAfterTheLastTry(t *testing.T) {
	sc := newScene(t, dropbox.Options{})
	var works atomic.Bool
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			http.Error(w, "not today", http.StatusInternalServerError)
		}
	})
	var lost atomic.Int32
	sc.o.Lost = func(hook, why string) {
		lost.Add(1)
		if hook != "ops" || why != "it answered 500 Internal Server Error: not today" {
			t.Errorf("Lost(%q, %q)", hook, why)
		}
	}
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1), crashed(2))
	sc.until("both are dead", func() bool { return len(sc.files("dead")) == 2 })
	box, err := sc.store.Mailbox(dropbox.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	letters, err := box.DeadLetters().List()
	if err != nil || len(letters) != 2 {
		t.Fatal(letters, err)
	}
	if want := "the webhook ops did not accept it in 4 tries; last: it answered 500 Internal Server Error: not today"; strings.TrimSpace(letters[0].Reason) != want {
		t.Errorf("reason %q, want %q", letters[0].Reason, want)
	}
	if n := len(rc.got()); n != 8 {
		t.Errorf("%d requests, want 4 for each", n)
	}
	if f := sc.Failures(); len(f) != 1 || f[0].Hook != "ops" || f[0].Since.IsZero() {
		t.Errorf("Failures = %v", f)
	}
	sc.run(hookTo("ops", rc)) // the state records that the lead has been told, so that the next daemon knows it
	sc.hear(crashed(3))
	sc.until("the third is dead", func() bool { return len(sc.files("dead")) == 3 })
	if lost.Load() != 1 {
		t.Errorf("the lead was told %d times, want 1", lost.Load())
	}
	works.Store(true)
	if err := box.DeadLetters().Retry(letters[0]); err != nil {
		t.Fatal(err)
	}
	sc.Wake()
	sc.until("the retried one is done", func() bool { return sc.done() == 1 })
	if f := sc.Failures(); len(f) != 0 {
		t.Errorf("Failures = %v after a success", f)
	}
}

func TestSlowHookHoldsUpNoOther(t *testing.T) {
	sc := newScene(t, dropbox.Options{})
	release := make(chan struct{})
	slow := newReceiver(t, func(int, http.ResponseWriter, *http.Request) { <-release })
	quick := newReceiver(t, nil)
	sc.run(hookTo("slow", slow), hookTo("quick", quick))
	sc.hear(crashed(1), crashed(2), crashed(3))
	sc.until("the quick one has all", func() bool { return len(quick.got()) == 3 && sc.done() == 3 })
	if n := len(slow.got()); n > 1 {
		t.Errorf("the slow one is asked %d times at once", n)
	}
	close(release)
	sc.until("the slow one has all", func() bool { return sc.done() == 6 })
}

// If a receiver requests a pause, the pause applies to all messages for it, even after a
// restart.
func TestReceiverIsLeftAlone(t *testing.T) {
	sc := newScene(t, dropbox.Options{})
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	began, other := time.Now(), newReceiver(t, nil)
	sc.run(hookTo("ops", rc), hookTo("other", other))
	sc.hear(crashed(1), crashed(2))
	sc.until("it has answered", func() bool { st, _ := webhook.ReadState(sc.o.Home); return st.Hooks["ops"].Failed == 1 })
	sc.run(hookTo("ops", rc), hookTo("other", other))
	sc.hear(crashed(3)) // the message for ops is delivered before the one for other
	sc.until("the other one has all", func() bool { return len(other.got()) == 3 && sc.done() == 3 })
	sc.stop() // waits for an unwanted request
	if n := len(rc.got()); n != 1 {
		t.Errorf("%d requests within the hour", n)
	}
	st, _ := webhook.ReadState(sc.o.Home)
	if rest := st.Hooks["ops"].Rest; rest.Before(began.Add(time.Hour)) || rest.After(time.Now().Add(time.Hour)) {
		t.Errorf("it rests until %v", rest)
	}
}

// Drain does not wait for the messages of a paused webhook, even while another webhook works.
func TestDrainIgnoresAPausedWebhook(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	away := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	sc.run(hookTo("ops", rc), hookTo("away", away))
	sc.hear(crashed(1), crashed(2))
	sc.until("ops has all, and away has answered", func() bool {
		st, _ := webhook.ReadState(sc.o.Home)
		return sc.done() == 2 && st.Hooks["away"].Failed == 1
	})
	sc.Drain(t.Context()) // ends, although the pause takes an hour
	if n := len(sc.files("new")); n != 2 {
		t.Errorf("%d messages are waiting for the paused webhook, want 2", n)
	}
}

// A message that is not an event becomes a dead letter immediately, even while its
// webhook is paused.
func TestWhatIsNoEventWaitsForNobody(t *testing.T) {
	sc := newScene(t, dropbox.Options{})
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(http.StatusTooManyRequests)
	})
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	sc.until("it has answered", func() bool { st, _ := webhook.ReadState(sc.o.Home); return st.Hooks["ops"].Failed == 1 })
	m := &dropbox.Message{From: dropbox.Swarm, Body: []byte(`{"data": {"webhook": "ops"}}`)}
	proof := func(m *dropbox.Message) string { return dropbox.Proof(token, m, dropbox.Hooks) }
	if _, err := sc.store.DeliverSigned(dropbox.Hooks, m, proof); err != nil {
		t.Fatal(err)
	}
	sc.Wake()
	sc.until("it is dead", func() bool { return len(sc.files("dead")) == 1 })
}

// The service posts only messages that the daemon wrote.
func TestOnlyTheDaemonSpeaks(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	sc.run(hookTo("ops", rc))
	forged := webhook.TestPayload("ops", "demo", time.Now()).JSON()
	for what, m := range map[string]*dropbox.Message{
		"an agent":          {From: "coder", Body: forged},
		"without a proof":   {From: dropbox.Swarm, Body: forged},
		"no event":          {From: dropbox.Swarm, Body: []byte("hello")},
		"of a hook that is": {From: dropbox.Swarm, Body: webhook.TestPayload("gone", "demo", time.Now()).JSON()},
	} {
		proof := func(m *dropbox.Message) string { return dropbox.Proof(token, m, dropbox.Hooks) }
		if what == "without a proof" {
			proof = nil
		}
		if _, err := sc.store.DeliverSigned(dropbox.Hooks, m, proof); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(sc.dir, "hooks", "new", "1-20261121T045102.123456Z-k7f3q9m2xd.md"), []byte("---\nbroken"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc.Wake()
	sc.until("all are dead", func() bool { return len(sc.files("dead")) == 5 })
	if n := len(rc.got()); n != 0 {
		t.Errorf("%d were posted", n)
	}
	box, _ := sc.store.Mailbox(dropbox.Hooks)
	letters, _ := box.DeadLetters().List()
	var reasons []string
	for _, l := range letters {
		reasons = append(reasons, strings.TrimSpace(l.Reason))
	}
	for _, want := range []string{"only the daemon delivers to this mailbox", "it is not an event for a webhook", "claude-swarm.yaml has no webhook gone"} {
		if !slices.Contains(reasons, want) {
			t.Errorf("no reason %q in %q", want, reasons)
		}
	}
}

// The agents' tokens never leave the machine.
func TestTokensAreHidden(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	const secret = "CODERCODERCODERCODERCODERC"
	if err := os.WriteFile(tokens.File(sc.o.Home), []byte("coder "+secret+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	sc.o.Secrets = tokens.NewSource(sc.o.Home)
	sc.run(hookTo("ops", rc))
	ev := crashed(1)
	ev.Notice.Why, ev.Message.Body, ev.Of.Subject = "printed "+secret, secret, secret
	sc.hear(ev)
	sc.until("it is done", func() bool { return sc.done() == 1 })
	file, _ := os.ReadFile(sc.files("done", "*")[0])
	if body := rc.got()[0].body; strings.Contains(body+string(file), secret) || !strings.Contains(body, "[token of coder]") {
		t.Errorf("posted %s\nfiled %s", body, file)
	}
}

// The service ends without waiting for an attempt that takes long, and loses nothing: the
// message that was being posted is put back.
func TestStopInTheMiddleOfATry(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	sc := newScene(t, dropbox.Options{})
	asked := make(chan struct{}, 9)
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done() // wait until the service closes the connection
	})
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	<-asked
	sc.stop() // ends, although the attempt may take an hour
	if waits := sc.files("new"); len(waits) != 1 || !strings.HasSuffix(waits[0], "~1.0.md") {
		t.Errorf("waiting: %v, want the message without a failure", waits)
	}
}

// When HALT is removed, the service posts what it did not post while HALT existed.
func TestHalt(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	sc.run(hookTo("ops", rc))
	if err := sc.store.Halt("stop"); err != nil {
		t.Fatal(err)
	}
	sc.hear(crashed(1))
	if err := sc.store.Unhalt(); err != nil {
		t.Fatal(err)
	}
	sc.until("it is posted", func() bool { return sc.done() == 1 })
}

// If a posted message cannot be filed because of a disk error, the service files it later
// and does not post it again.
func TestFullDiskAfterThePost(t *testing.T) {
	var full atomic.Bool
	var refused atomic.Int64
	sc := newScene(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if full.Load() && st.Op != dropbox.OpSync {
			refused.Add(1)
			return errors.New("no space left on device")
		}
		return nil
	}})
	rc := newReceiver(t, func(int, http.ResponseWriter, *http.Request) { full.Store(true) })
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	sc.until("it is posted", func() bool { return len(rc.got()) == 1 })
	sc.until("it cannot be filed", func() bool { st, _ := webhook.ReadState(sc.o.Home); return st.Hooks["ops"].Status == 200 })
	before := refused.Load()
	sc.until("the filing is repeated", func() bool { sc.Wake(); return refused.Load() > before })
	full.Store(false)
	sc.until("it is filed", func() bool { sc.Wake(); return sc.done() == 1 })
	if n := len(rc.got()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// A posted message is filed only together with its receipt, which records that the
// message was posted.
func TestNothingIsFiledWithoutItsReceipt(t *testing.T) {
	var full atomic.Bool
	full.Store(true)
	var refused atomic.Int64
	sc := newScene(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if full.Load() && strings.HasPrefix(st.To, "hooks/cur/") && strings.HasSuffix(st.To, ".receipt.yaml") {
			refused.Add(1)
			return errors.New("no space left on device")
		}
		return nil
	}})
	rc := newReceiver(t, nil)
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	sc.until("the receipt is refused twice", func() bool { sc.Wake(); return refused.Load() > 1 })
	if n := sc.done(); n != 0 {
		t.Errorf("%d messages are filed without a receipt", n)
	}
	full.Store(false)
	sc.until("it is filed", func() bool { sc.Wake(); return sc.done() == 1 })
	sc.stop()
	if receipts, _ := filepath.Glob(filepath.Join(sc.dir, "hooks", "done", "*", "*.receipt.yaml")); len(receipts) != 1 || len(rc.got()) != 1 {
		t.Errorf("receipts %v, %d requests; want one of each", receipts, len(rc.got()))
	}
}

// If done/ cannot be read, it is unknown whether an event was posted before, so the
// service posts the event.
func TestDoneThatCannotBeReadLosesNoEvent(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root can read every folder")
	}
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	sc.until("one is done", func() bool { return sc.done() == 1 })
	days, err := filepath.Glob(filepath.Join(sc.dir, "hooks", "done", "*"))
	if err != nil || len(days) != 1 {
		t.Fatal(days, err)
	}
	if err := os.Chmod(days[0], 0); err != nil {
		t.Fatal(err)
	}
	sc.hear(crashed(2))
	posted := func() bool { return len(rc.got()) == 2 }
	t.Cleanup(func() { os.Chmod(days[0], 0o700) }) // lets the folder be removed if the test fails here
	sc.until("the second event is posted", posted)
	if err := os.Chmod(days[0], 0o700); err != nil {
		t.Fatal(err)
	}
	sc.until("both are done", func() bool { sc.Wake(); return sc.done() == 2 })
}

// left leaves messages in cur/, as a killed daemon does, one for each element of how:
// "claimed", "posted" (but not filed) or "given up" (but not moved).
func (sc *scene) left(how ...string) {
	sc.t.Helper()
	s, err := webhook.New(sc.o)
	if err == nil {
		err = s.Set([]webhook.Hook{{Name: "ops", Events: journal.Words()}})
	}
	for n := range how {
		if err == nil {
			err = s.Hear(sc.t.Context(), []journal.Event{crashed(n)})
		}
	}
	if err != nil {
		sc.t.Fatal(err)
	}
	box, err := sc.store.Mailbox(dropbox.Hooks)
	if err != nil {
		sc.t.Fatal(err)
	}
	waits, err := box.List()
	if err != nil || len(waits) != len(how) {
		sc.t.Fatal(waits, err)
	}
	for n, e := range waits {
		c, err := box.Claim(e)
		if err != nil {
			sc.t.Fatal(err)
		}
		switch how[n] {
		case "posted":
			err = box.Commit(c.Entry, []byte("v: 1\n"))
		case "given up":
			_, err = box.BeginGiveUp(c.Entry, "enough")
		}
		if err != nil {
			sc.t.Fatal(err)
		}
	}
	if cur := sc.files("cur"); len(cur) != len(how) {
		sc.t.Fatal(cur)
	}
}

// A service finishes the work that an earlier service left unfinished. If a disk error
// prevents this, Run ends with the error, and nothing is lost.
func TestWhatAServiceLeftIsTakenUp(t *testing.T) {
	for how, folder := range map[string]string{"claimed": "done/*", "posted": "done/*", "given up": "dead"} {
		t.Run(how, func(t *testing.T) {
			var refuse atomic.Bool
			sc := newScene(t, dropbox.Options{Step: func(st dropbox.Step) error {
				if refuse.Load() && (st.Op == dropbox.OpMove || st.Op == dropbox.OpReplace) && strings.HasSuffix(st.Name, ".md") {
					return errors.New("no space left on device")
				}
				return nil
			}})
			sc.left(how)
			refuse.Store(true)
			s, err := webhook.New(sc.o)
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(canceled()); err == nil || !strings.Contains(err.Error(), "no space left") || len(sc.files("cur")) != 1 {
				t.Errorf("Run = %v, in cur/ %v, want the error and the message", err, sc.files("cur"))
			}
			refuse.Store(false)
			rc := newReceiver(t, nil)
			sc.run(hookTo("ops", rc))
			sc.until("it is taken up", func() bool { return len(sc.files(strings.Split(folder, "/")...)) == 1 })
			if n, want := len(rc.got()), map[string]int{"claimed": 1}[how]; n != want || len(sc.files("cur")) != 0 {
				t.Errorf("%d requests, want %d; in cur/ %v", n, want, sc.files("cur"))
			}
		})
	}
}

// canceled returns a canceled context, with which Run ends as soon as it has settled the
// messages in cur/.
func canceled() context.Context {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	return ctx
}

// Run ends with an error if the mailbox cannot be used at all.
func TestAMailboxThatCannotBeUsed(t *testing.T) {
	for what, spoil := range map[string]func(*scene) error{
		"a closed store":      func(sc *scene) error { return sc.store.Close() },
		"a file as refused/":  func(sc *scene) error { return replaced(filepath.Join(sc.dir, "refused", dropbox.Hooks)) },
		"a file as the claim": func(sc *scene) error { return replaced(filepath.Join(sc.dir, dropbox.Hooks, "cur")) },
	} {
		t.Run(what, func(t *testing.T) {
			sc := newScene(t, dropbox.Options{})
			s, err := webhook.New(sc.o)
			if err == nil {
				err = s.Set([]webhook.Hook{{Name: "ops", Events: journal.Words()}})
			}
			if err != nil {
				t.Fatal(err)
			}
			if err := s.Run(canceled()); err != nil {
				t.Fatalf("before: %v", err)
			}
			if err := spoil(sc); err != nil {
				t.Fatal(err)
			}
			if err := s.Run(canceled()); err == nil {
				t.Error("Run = nil, want an error")
			}
			if err := s.Hear(t.Context(), []journal.Event{crashed(1)}); (err != nil) != (what == "a closed store") {
				t.Errorf("Hear = %v", err)
			}
		})
	}
}

// replaced replaces a folder with a file.
func replaced(folder string) error {
	return errors.Join(os.RemoveAll(folder), os.MkdirAll(filepath.Dir(folder), 0o700), os.WriteFile(folder, nil, 0o600))
}

// A deleted mailbox is recreated. The message for an event belongs to the thread of the
// event's message.
func TestADeletedMailboxIsMadeAgain(t *testing.T) {
	sc, rc := newScene(t, dropbox.Options{}), newReceiver(t, nil)
	s, err := webhook.New(sc.o)
	if err == nil {
		err = s.Set([]webhook.Hook{hookTo("ops", rc)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(sc.dir, dropbox.Hooks)); err != nil {
		t.Fatal(err)
	}
	alone := crashed(2)
	alone.Message = nil
	if err := s.Hear(t.Context(), []journal.Event{crashed(1), alone}); err != nil {
		t.Fatal(err)
	}
	box, err := sc.store.Mailbox(dropbox.Hooks)
	if err != nil {
		t.Fatal(err)
	}
	waits, err := box.List()
	if err != nil || len(waits) != 2 {
		t.Fatal(waits, err)
	}
	ofTask := 0
	for _, e := range waits {
		m, err := box.Read(e)
		if err != nil {
			t.Fatal(err)
		}
		if m.Trace == "aaaaaaaaaa" && m.Thread == m.Trace {
			ofTask++
		}
	}
	if ofTask != 1 {
		t.Errorf("%d messages belong to the task, want one", ofTask)
	}
}

// CountsOf returns, for each webhook, how many messages are waiting and how many are
// dead.
func TestCountsOf(t *testing.T) {
	var works atomic.Bool
	works.Store(true)
	sc := newScene(t, dropbox.Options{})
	if counts, err := webhook.CountsOf(sc.store); err != nil || len(counts) != 0 {
		t.Errorf("without a mailbox: %v, %v", counts, err)
	}
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !works.Load() {
			w.WriteHeader(http.StatusInternalServerError)
		}
	})
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1))
	sc.until("one is done", func() bool { return sc.done() == 1 })
	works.Store(false)
	sc.hear(crashed(2))
	sc.until("one is dead", func() bool { return len(sc.files("dead")) == 1 })
	sc.stop()
	sc.hear(crashed(3), crashed(4))
	if _, err := sc.store.Deliver(dropbox.Hooks, &dropbox.Message{From: "coder", Body: []byte("hello")}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(sc.dir, "hooks", "new", "1-20261121T045102.123456Z-k7f3q9m2xd.md"), []byte("---\nbroken"), 0o600); err != nil {
		t.Fatal(err)
	}
	counts, err := webhook.CountsOf(sc.store)
	if want := (webhook.Counts{Waiting: 2, Dead: 1}); err != nil || len(counts) != 1 || counts["ops"] != want {
		t.Errorf("CountsOf = %v, %v, want %v for ops", counts, err, want)
	}
	if err := replaced(filepath.Join(sc.dir, "hooks", "cur")); err != nil {
		t.Fatal(err)
	}
	if counts, err := webhook.CountsOf(sc.store); err == nil {
		t.Errorf("CountsOf a mailbox that cannot be listed = %v, want an error", counts)
	}
	if err := sc.store.Close(); err != nil {
		t.Fatal(err)
	}
	if counts, err := webhook.CountsOf(sc.store); err == nil {
		t.Errorf("CountsOf a closed store = %v, want an error", counts)
	}
}

// A receiver that was down gets the waiting messages as soon as it accepts an event, even
// if their waits have not ended.
func TestARecoveredReceiverGetsWhatWaits(t *testing.T) {
	var up atomic.Bool
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) {
		if !up.Load() {
			w.WriteHeader(http.StatusBadGateway)
		}
	})
	sc := newScene(t, dropbox.Options{})
	sc.o.Waits = []time.Duration{time.Hour, time.Hour}
	sc.run(hookTo("ops", rc))
	sc.hear(crashed(1), crashed(2), crashed(3))
	sc.until("three have failed", func() bool {
		st, err := webhook.ReadState(sc.o.Home)
		return err == nil && len(st.Waits) == 3
	})
	st, err := webhook.ReadState(sc.o.Home)
	if next := time.Until(st.NextTry("ops")); err != nil || next < 50*time.Minute || next > time.Hour || !st.NextTry("other").IsZero() {
		t.Errorf("next try in %v, %v", next, err)
	}
	up.Store(true)
	sc.hear(crashed(4))
	sc.until("all are done", func() bool { return sc.done() == 4 })
	if n := len(rc.got()); n != 7 {
		t.Errorf("%d requests, want 7", n)
	}
}

// If a webhook is removed from the configuration, its waiting messages become dead
// letters immediately.
func TestARemovedWebhookLeavesDeadLetters(t *testing.T) {
	rc := newReceiver(t, func(_ int, w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) })
	sc := newScene(t, dropbox.Options{})
	sc.o.Waits = []time.Duration{time.Hour}
	sc.run(hookTo("ops", rc), hookTo("kept", rc))
	sc.hear(crashed(1))
	sc.until("both have failed", func() bool {
		st, err := webhook.ReadState(sc.o.Home)
		return err == nil && len(st.Waits) == 2 && len(sc.files("new")) == 2
	})
	if err := sc.Set([]webhook.Hook{hookTo("kept", rc)}); err != nil {
		t.Fatal(err)
	}
	sc.until("one is a dead letter", func() bool { return len(sc.files("dead")) == 1 })
	if n := len(sc.files("new")); n != 1 {
		t.Errorf("%d messages wait, want that of the other webhook", n)
	}
}
