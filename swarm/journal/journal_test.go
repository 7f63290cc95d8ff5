package journal_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A listener records the keys of its events.
type listener struct {
	keys   []string
	missed int64
	refuse error // the error that hear returns, or nil
}

func (l *listener) hear(events []journal.Event, missed int64) error {
	if l.refuse != nil {
		return l.refuse
	}
	l.missed += missed
	for _, ev := range events {
		l.keys = append(l.keys, ev.Key)
	}
	return nil
}

func add(t *testing.T, e *journal.Events, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := e.Add(journal.Event{Kind: journal.Alert, Key: key}); err != nil {
			t.Fatal(err)
		}
	}
}

// tell calls Tell for the listener named l, as another process would, and returns the
// keys that the listener heard.
func tell(t *testing.T, dir string, l *listener) []string {
	t.Helper()
	l.keys = nil
	if err := journal.Open(dir, durable.Files{}, nil).Tell("l", nil, l.hear); !errors.Is(err, l.refuse) {
		t.Fatalf("Tell = %v, want %v", err, l.refuse)
	}
	return l.keys
}

func keys(from, to int) (all []string) {
	for i := from; i <= to; i++ {
		all = append(all, fmt.Sprint("k", i))
	}
	return all
}

func TestAListenerHearsAllInOrder(t *testing.T) {
	dir := t.TempDir()
	e := journal.Open(dir, durable.Files{}, nil)
	add(t, e, "before")
	if err := e.Begin("l"); err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	if got := tell(t, dir, l); got != nil {
		t.Errorf("a new listener heard %v", got)
	}
	add(t, e, keys(1, 250)...)
	if diff := cmp.Diff(keys(1, 250), tell(t, dir, l)); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	if err := e.Begin("l"); err != nil { // as a restarted daemon does
		t.Fatal(err)
	}
	add(t, e, "more")
	if got := tell(t, dir, l); !slices.Equal(got, []string{"more"}) || l.missed != 0 {
		t.Errorf("heard %v, missed %d", got, l.missed)
	}
	if last, err := e.Last(); last != 252 || err != nil {
		t.Errorf("Last = %d, %v", last, err)
	}
}

// A listener that refused events gets them again, together with the events added since
// then.
func TestRefusedEventsAreToldAgain(t *testing.T) {
	dir := t.TempDir()
	e := journal.Open(dir, durable.Files{}, nil)
	add(t, e, "a", "b")
	l := &listener{refuse: errors.New("not now")}
	tell(t, dir, l)
	add(t, e, "c")
	tell(t, dir, l)
	l.refuse = nil
	if got := tell(t, dir, l); !slices.Equal(got, []string{"a", "b", "c"}) {
		t.Errorf("heard %v", got)
	}
}

// A listener may add events while hear runs, and then also hears those events.
func TestAListenerAddsEvents(t *testing.T) {
	e := journal.Open(t.TempDir(), durable.Files{}, nil)
	add(t, e, "a")
	var heard []string
	err := e.Tell("l", nil, func(events []journal.Event, _ int64) error {
		for _, ev := range events {
			if heard = append(heard, ev.Key); ev.Key == "a" {
				add(t, e, "b")
			}
		}
		return nil
	})
	if err != nil || !slices.Equal(heard, []string{"a", "b"}) {
		t.Errorf("heard %v, %v", heard, err)
	}
}

// The files have a maximum size. A listener that was absent for too long is told how many
// events it missed. Any other listener hears all events.
func TestTheListIsBounded(t *testing.T) {
	dir := t.TempDir()
	e := journal.Open(dir, durable.Files{}, nil)
	journal.SetMaxSize(e, 2000)
	near, far := &listener{}, &listener{}
	var heard []string
	for i := range 100 {
		key := fmt.Sprint("k", i)
		add(t, e, key)
		if i%7 == 0 {
			near.keys = nil
			if err := journal.Open(dir, durable.Files{}, nil).Tell("near", nil, near.hear); err != nil {
				t.Fatal(err)
			}
			heard = append(heard, near.keys...)
		}
	}
	if diff := cmp.Diff(keys(0, 98), heard); diff != "" || near.missed != 0 {
		t.Errorf("the near one missed %d, -want +got\n%s", near.missed, diff)
	}
	if err := e.Tell("far", nil, far.hear); err != nil {
		t.Fatal(err)
	}
	if n := len(far.keys); n == 0 || n == 100 || far.missed != int64(100-n) || far.keys[n-1] != "k99" {
		t.Errorf("the far one heard %d and missed %d: %v", n, far.missed, far.keys)
	}
	var size int64
	for _, name := range []string{"events.jsonl", "events.old.jsonl"} {
		info, err := os.Stat(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	if size > 2*2200 {
		t.Errorf("the files have %d bytes", size)
	}
}

// A crash can leave an incomplete line, and a bad disk can return arbitrary bytes. A
// listener still hears the events in all complete lines.
func TestADamagedList(t *testing.T) {
	dir := t.TempDir()
	e := journal.Open(dir, durable.Files{}, nil)
	add(t, e, "a", "b")
	path := filepath.Join(dir, "events.jsonl")
	spoil := func(f func([]byte) []byte) {
		t.Helper()
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, f(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	spoil(func(data []byte) []byte { return append(data, `{"v":1,"seq":3,"kind":"al`...) })
	l := &listener{}
	if got := tell(t, dir, l); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("before a torn line: %v", got)
	}
	add(t, e, "c")
	if got := tell(t, dir, l); !slices.Equal(got, []string{"c"}) || l.missed != 0 {
		t.Errorf("after a torn line: %v, missed %d", got, l.missed)
	}
	spoil(func(data []byte) []byte { return append(data, strings.Repeat("x", 600<<10)+"\n"...) })
	add(t, e, "d")
	if got := tell(t, dir, l); !slices.Equal(got, []string{"d"}) {
		t.Errorf("after a line that is too long: %v", got)
	}
	if err := os.WriteFile(filepath.Join(dir, "cursors", "l.json"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tell(t, dir, l); len(got) < 3 || got[len(got)-1] != "d" {
		t.Errorf("with a damaged cursor: %v", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	add(t, e, "e")
	if got := tell(t, dir, l); !slices.Equal(got, []string{"e"}) {
		t.Errorf("after the list was deleted: %v", got)
	}
	add(t, e, "f", "g", "h")
	tell(t, dir, l)
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	longer := []string{"one", "two", "three", "four", "five"}
	add(t, e, longer...)
	if got := tell(t, dir, l); !slices.Equal(got, longer) || l.missed != 0 {
		t.Errorf("with a new list that is longer than the deleted one: %v, missed %d", got, l.missed)
	}
}

// If several writers add events at the same time, each event gets a unique number and is
// heard once.
func TestManyAdd(t *testing.T) {
	dir := t.TempDir()
	var wg sync.WaitGroup
	for w := range 8 {
		wg.Go(func() {
			e := journal.Open(dir, durable.Files{Sync: func(*os.File) error { return nil }}, nil)
			journal.SetMaxSize(e, 1<<20)
			for i := range 50 {
				if err := e.Add(journal.Event{Kind: journal.Begun, Key: fmt.Sprint(w, "-", i)}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	l := &listener{}
	heard := tell(t, dir, l) // while the writers add events
	wg.Wait()
	heard = append(heard, tell(t, dir, l)...)
	slices.Sort(heard)
	if n := len(heard); n != 400 || len(slices.Compact(heard)) != 400 || l.missed != 0 {
		t.Errorf("heard %d events, missed %d", n, l.missed)
	}
}

// An event is durable when Add returns nil. If the file system refuses a change, Add
// returns an error, and the event can then be added again and is heard.
func TestARefusedChange(t *testing.T) {
	refused := errors.New("refused")
	for _, op := range []durable.Op{durable.Create, durable.Fill, durable.Sync, durable.SyncDir} {
		dir := t.TempDir()
		bad := durable.Files{Step: func(s durable.Step) error {
			if s.Op == op {
				return refused
			}
			return nil
		}}
		if err := journal.Open(dir, bad, nil).Add(journal.Event{Key: "a"}); !errors.Is(err, refused) {
			t.Errorf("Add with a refused %s = %v", op, err)
		}
		add(t, journal.Open(dir, durable.Files{}, nil), "a")
		l := &listener{}
		if got := tell(t, dir, l); len(got) == 0 || got[len(got)-1] != "a" {
			t.Errorf("after a refused %s: %v", op, got)
		}
	}
}

// If a cursor cannot be written, Tell and Begin return an error, and the listener hears
// the events again.
func TestACursorThatIsNotWritten(t *testing.T) {
	dir := t.TempDir()
	add(t, journal.Open(dir, durable.Files{}, nil), "a")
	refused := errors.New("refused")
	bad := journal.Open(dir, durable.Files{Step: func(durable.Step) error { return refused }}, nil)
	l := &listener{}
	if err := bad.Tell("l", nil, l.hear); !errors.Is(err, refused) {
		t.Errorf("Tell = %v", err)
	}
	if err := bad.Begin("new"); !errors.Is(err, refused) {
		t.Errorf("Begin = %v", err)
	}
	if got := tell(t, dir, l); !slices.Equal(got, []string{"a"}) {
		t.Errorf("heard %v", got)
	}
}

func TestTheListKeepsAPartOfAMessage(t *testing.T) {
	m := &dropbox.Message{
		V: dropbox.Version, ID: "abcdefghij", From: "coder", To: []string{"lead"}, Type: dropbox.Question, Priority: dropbox.Urgent, Subject: "Which?",
		Thread: "t", ReplyTo: "r", Trace: "c", Key: "k", Extra: "irc: {channel: \"#a\"}\n", Body: []byte("The green one?\n"),
	}
	if diff := cmp.Diff(m, journal.Keep(m).Mail()); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	m.Body, m.Extra = []byte(strings.Repeat("ä", 10_000)), strings.Repeat("x", 10_000)
	if kept := journal.Keep(m); len(kept.Body) > 8<<10 || !strings.HasSuffix(kept.Body, "ä…") || kept.Extra != "" {
		t.Errorf("%d bytes of the body were kept, and %d of the rest", len(kept.Body), len(kept.Extra))
	}
	if journal.Keep(nil).Mail() != nil {
		t.Error("Mail of no message is not nil")
	}
}

// A listener hears even the longest event, and the list contains no tokens.
func TestTheLongestEvent(t *testing.T) {
	dir := t.TempDir()
	hide := func(line []byte) []byte { return []byte(strings.ReplaceAll(string(line), "secret", "******")) }
	e := journal.Open(dir, durable.Files{}, hide)
	m := journal.Keep(&dropbox.Message{From: "a", Type: dropbox.Task, Subject: strings.Repeat("\x01", 300), Body: []byte("secret" + strings.Repeat("\x01", 1<<20)), Extra: strings.Repeat("\x01", 4<<10)})
	if err := e.Add(journal.Event{Kind: journal.Result, Key: "long", Message: m, Of: m, Task: m}); err != nil {
		t.Fatal(err)
	}
	l := &listener{}
	if got := tell(t, dir, l); !slices.Equal(got, []string{"long"}) {
		t.Errorf("heard %v", got)
	}
	if data, err := os.ReadFile(filepath.Join(dir, "events.jsonl")); err != nil || strings.Contains(string(data), "secret") {
		t.Errorf("the list contains the secret, or cannot be read: %v", err)
	}
}

// Two simultaneous waits count as one, and the open wait of a dead process does not
// count.
func TestHowLongATurnHasWaited(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	lines := `{"id":"a","since":"2026-01-02T10:00:00Z","process":{"pid":1,"start":1}}
{"id":"b","since":"2026-01-02T10:01:00Z","process":{"pid":1,"start":1}}
{"id":"a","over":true,"at":"2026-01-02T10:03:00Z"}
{"id":"a","told":"asked"}
{"id":"b","over":true,"at":"2026-01-02T10:05:00Z"}
{"id":"c","since":"2026-01-02T10:10:00Z","process":{"pid":1,"start":1}}
{"id":"c","over":true,"at":"2026-01-02T10:11:00Z"}
{"id":"d","since":"2026-01-02T10:20:00Z","process":{"pid":4194304,"start":1}}
`
	if err := os.WriteFile(home.TurnFile("k7f3q9m2xd-1", ".asks"), []byte(lines), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := home.Asks("k7f3q9m2xd-1").Waited(time.Date(2026, 1, 2, 11, 0, 0, 0, time.UTC)); got != 6*time.Minute {
		t.Errorf("the turn has waited for %v, want 6m", got)
	}
}
