package journal_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The memory of one process agrees with the files: whatever other processes add, and whenever a
// new file is started, each listener hears each event once, in order.
func TestListenersOfManyProcesses(t *testing.T) {
	for seed := range uint64(20) {
		random := rand.New(rand.NewPCG(seed, 35))
		dir := t.TempDir()
		var processes []*journal.Events
		for range 3 {
			e := journal.Open(dir, durable.Files{}, nil)
			journal.SetMaxSize(e, 6000)
			processes = append(processes, e)
		}
		heard := map[string][]string{}
		tell := func(process int, name string) {
			err := processes[process].Tell(name, nil, func(events []journal.Event, missed int64) error {
				if missed > 0 {
					t.Errorf("seed %d: %s missed %d", seed, name, missed)
				}
				for _, ev := range events {
					heard[name] = append(heard[name], ev.Key)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		}
		n := 0
		for range 300 {
			switch process := random.IntN(len(processes)); random.IntN(8) {
			case 0, 1, 2:
				add(t, processes[process], fmt.Sprint("k", n))
				n++
			case 3: // a crash in the middle of a line
				file, err := os.OpenFile(filepath.Join(dir, "events.jsonl"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
				if err != nil {
					t.Fatal(err)
				}
				fmt.Fprint(file, `{"v":1,"kin`)
				file.Close()
			case 4, 5:
				tell(process, "both")
			default:
				tell(process, fmt.Sprint("of", process))
			}
		}
		for process := range processes {
			tell(process, fmt.Sprint("of", process))
		}
		tell(0, "both")
		for name, got := range heard {
			if diff := cmp.Diff(keys(0, n-1), got); diff != "" {
				t.Fatalf("seed %d: %s, -want +got\n%s", seed, name, diff)
			}
		}
	}
}

// A listener that has heard only events about which it does nothing has its cursor written
// later. Its process does not repeat them. The next process may, and the listener is behind by
// fewer than 100 events.
func TestALazyCursor(t *testing.T) {
	dir := t.TempDir()
	writes := 0
	e := journal.Open(dir, durable.Files{Step: func(s durable.Step) error {
		if s.Op == durable.Rename && strings.Contains(s.Path, "cursors") {
			writes++
		}
		return nil
	}}, nil)
	add(t, e, "before")
	if err := e.Begin("l"); err != nil {
		t.Fatal(err)
	}
	writes = 0
	acts := func(ev journal.Event) bool { return strings.HasPrefix(ev.Key, "do") }
	tell := func(e *journal.Events) (heard []string) {
		if err := e.Tell("l", acts, func(events []journal.Event, _ int64) error {
			for _, ev := range events {
				heard = append(heard, ev.Key)
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return heard
	}
	add(t, e, "a", "b")
	if got := tell(e); !slices.Equal(got, []string{"a", "b"}) || writes != 0 {
		t.Errorf("heard %v with %d writes of the cursor, want none", got, writes)
	}
	if got := tell(e); got != nil {
		t.Errorf("heard %v again", got)
	}
	if got := tell(journal.Open(dir, durable.Files{}, nil)); !slices.Equal(got, []string{"a", "b"}) {
		t.Errorf("another process heard %v", got)
	}
	add(t, e, "c", "do it", "d")
	if got := tell(e); !slices.Equal(got, []string{"c", "do it", "d"}) || writes != 1 {
		t.Errorf("heard %v with %d writes of the cursor, want one", got, writes)
	}
	if got := tell(journal.Open(dir, durable.Files{}, nil)); got != nil {
		t.Errorf("another process heard %v", got)
	}
	for i := range 99 {
		add(t, e, fmt.Sprint(i))
		tell(e)
	}
	if writes != 1 {
		t.Errorf("%d writes of the cursor after 99 events without effect, want one", writes)
	}
	add(t, e, "100")
	if tell(e); writes != 2 {
		t.Errorf("%d writes of the cursor after 100 events without effect, want two", writes)
	}
}

// A listener whose cursor was removed does not hear the events from before its return.
func TestAListenerThatReturns(t *testing.T) {
	dir := t.TempDir()
	e := journal.Open(dir, durable.Files{}, nil)
	if err := e.Begin("l"); err != nil {
		t.Fatal(err)
	}
	add(t, e, "a")
	for range 2 { // the second time, there is no cursor
		if err := e.End("l"); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := os.Stat(filepath.Join(dir, "cursors", "l.json")); !os.IsNotExist(err) {
		t.Errorf("the cursor is still there: %v", err)
	}
	add(t, e, "b")
	if err := e.Begin("l"); err != nil {
		t.Fatal(err)
	}
	add(t, e, "c")
	if got := tell(t, dir, &listener{}); !slices.Equal(got, []string{"c"}) {
		t.Errorf("heard %v", got)
	}
}

// While a cursor cannot be written, each call of Tell says so, and repeats the events.
func TestACursorThatIsNotWrittenIsTriedAgain(t *testing.T) {
	full := true
	e := journal.Open(t.TempDir(), durable.Files{Step: func(s durable.Step) error {
		if full && strings.Contains(s.Path, "cursors") {
			return os.ErrPermission
		}
		return nil
	}}, nil)
	add(t, e, "a")
	l := &listener{}
	for range 2 {
		if err := e.Tell("l", nil, l.hear); err == nil {
			t.Error("Tell returns nil")
		}
	}
	full = false
	if err := e.Tell("l", nil, l.hear); err != nil || !slices.Equal(l.keys, []string{"a", "a", "a"}) {
		t.Errorf("heard %v, %v", l.keys, err)
	}
}
