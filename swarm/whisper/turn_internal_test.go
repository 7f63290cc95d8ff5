package whisper

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// add adds whispers with these keys for the agent coder.
func add(t *testing.T, s *Store, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if added, err := s.Add("coder", Whisper{Key: key, Type: "CORRECTION", Text: "stop " + key}); !added || err != nil {
			t.Fatalf("Add of %s = %v, %v", key, added, err)
		}
	}
}

// The oldest whispers that were shown are dropped before any waiting whispers.
func TestTheShownWhispersAreDroppedFirst(t *testing.T) {
	s := Open(newHome(t))
	add(t, s, "w")
	for i := range maxWhispers - 1 {
		if added, err := s.Add("coder", Whisper{Key: string(rune('A' + i)), Shown: time.Now()}); !added || err != nil {
			t.Fatal(added, err)
		}
	}
	if got := state(t, s, "coder"); !strings.HasPrefix(got, "-w.A.B.C") {
		t.Errorf("with %d whispers: %s, want all", maxWhispers, got)
	}
	add(t, s, "x", "y")
	if got := state(t, s, "coder"); !strings.HasPrefix(got, "-w.C.D") || !strings.HasSuffix(got, "-x-y") {
		t.Errorf("with two more: %s, want w, and without A and B", got)
	}
	for key, want := range map[string]bool{"w": true, "C": true, "A": false} {
		if knows, err := s.Knows("coder", key); knows != want || err != nil {
			t.Errorf("Knows(%s) = %v, %v", key, knows, err)
		}
	}
}

// A whisper that a connection has shown is not lent again.
func TestLend(t *testing.T) {
	s := Open(newHome(t))
	add(t, s, "a", "b")
	if !s.Wait() || s.Waiting("coder") != 2 || !Waits(s.home, "coder") {
		t.Error("the whispers do not wait")
	}
	lent, err := s.Lend("coder")
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := s.Written("coder", lent, 2, BySocket); err != nil || len(shown) != 2 || shown[0].Way != BySocket {
		t.Errorf("Written = %+v, %v", shown, err)
	}
	if lent, err := s.Lend("coder"); err != nil || lent != nil {
		t.Errorf("a second Lend = %+v, %v", lent, err)
	}
	if got := state(t, s, "coder"); got != ".a.b" || s.Wait() || Waits(s.home, "coder") {
		t.Errorf("whispers = %s, want both shown", got)
	}
	// The beginning of the file is intact, but the remainder is damaged.
	if err := os.WriteFile(path(s.home, "coder"), []byte(`{"whispers":[{"key":"c"}],"v":"x"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if Waits(s.home, "coder") {
		t.Error("a whisper of a damaged file waits")
	}
}

// No whisper is given before it is recorded on disk.
func TestAWhisperThatTheDiskRefuses(t *testing.T) {
	s := Open(newHome(t))
	add(t, s, "a")
	file := path(s.home, "coder")
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil { // a file cannot replace a folder
		t.Fatal(err)
	}
	if given, err := s.Give("coder", "t1", ByPrompt, 0, nil); err == nil || given != nil {
		t.Errorf("Give = %v, %v", given, err)
	}
	lent, err := s.Lend("coder")
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := s.Written("coder", lent, 0, BySocket); err == nil || shown != nil {
		t.Errorf("Written = %v, %v", shown, err)
	}
	if added, err := s.Add("coder", Whisper{Key: "b"}); err == nil || added {
		t.Errorf("Add = %v, %v", added, err)
	}
	var noted error
	turn := s.Turn(&journal.Record{Agent: "coder", Turn: "t1"}, Told{Note: func(err error) { noted = err }})
	if head := turn.Head(); head != nil || noted == nil {
		t.Errorf("Head = %q, and the log has %v", head, noted)
	}
	noted = nil
	turn.Event(use("call1", ""))
	if steer, ok := turn.Next(); ok || noted == nil {
		t.Errorf("Next = %+v, %v, and the log has %v", steer, ok, noted)
	}
	if s.Waiting("coder") != 1 {
		t.Error("the whisper no longer waits")
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if given, err := s.Give("coder", "t1", ByPrompt, 0, nil); err != nil || len(given) != 1 {
		t.Errorf("Give on a disk that works again = %v, %v", given, err)
	}
}

// A file that cannot be read is never replaced.
func TestWhispersThatCannotBeRead(t *testing.T) {
	s := Open(newHome(t))
	file := path(s.home, "coder")
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Base(file), file); err != nil { // a link that points to itself
		t.Fatal(err)
	}
	for range 2 {
		if added, err := s.Add("coder", Whisper{Key: "b"}); err == nil || added {
			t.Errorf("Add = %v, %v", added, err)
		}
	}
	if knows, err := s.Knows("coder", "b"); err == nil || knows {
		t.Errorf("Knows = %v, %v", knows, err)
	}
	if s.Waiting("coder") != 0 {
		t.Error("a whisper waits")
	}
}

func use(id, parent string) *streamjson.Event {
	return &streamjson.Event{Kind: streamjson.KindAssistant, Parent: parent, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolUse, ID: id}}}
}

func result(id, parent string) *streamjson.Event {
	return &streamjson.Event{Kind: streamjson.KindUser, Parent: parent, Blocks: []streamjson.Block{{Kind: streamjson.BlockToolResult, ID: id}}}
}

// The whispers at the beginning of a prompt count as shown when the client has read the
// prompt. Other whispers are given while a tool call of the main agent is running, and
// count as shown when the client repeats their lines.
func TestAWhisperInATurn(t *testing.T) {
	s := Open(newHome(t))
	var shown []string
	var noted error
	wakes := 0
	told := Told{Shown: func(w Whisper) { shown = append(shown, w.Key) }, Note: func(err error) { noted = errors.Join(noted, err) }, Wake: func() { wakes++ }}
	turn := s.Turn(&journal.Record{Agent: "coder", Turn: "t1"}, told)
	check := func(when, want string) {
		t.Helper()
		if got := state(t, s, "coder"); got != want || noted != nil {
			t.Errorf("%s: whispers = %q, %v, want %q", when, got, noted, want)
		}
	}
	silent := func(when string) {
		t.Helper()
		if steer, ok := turn.Next(); ok {
			t.Errorf("%s: the client gets %+v", when, steer)
		}
	}
	replay := func(uuid string) { turn.Event(&streamjson.Event{Kind: streamjson.KindReplay, UUID: uuid}) }

	add(t, s, "a")
	if head := turn.Head(); !slices.Equal(head, []string{"[SUPERVISOR/CORRECTION] stop a"}) {
		t.Errorf("Head = %q", head)
	}
	replay("of another line")
	check("before the prompt", "+a")
	replay(journal.PromptUUID("t1"))
	check("with the prompt", ".a")

	add(t, s, "b", "c")
	silent("without a call")
	turn.Event(use("sub", "task1"))
	turn.Event(&streamjson.Event{Kind: streamjson.KindAssistant, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, ID: "text"}}})
	silent("while a sub-agent calls")
	if wakes != 0 {
		t.Errorf("%d wakes without a call", wakes)
	}
	turn.Event(use("call1", ""))
	if wakes != 1 {
		t.Errorf("%d wakes at the call, want 1", wakes)
	}
	steer, ok := turn.Next()
	if !ok || !steer.Aside || !strings.Contains(steer.Prompt, "[SUPERVISOR/CORRECTION] stop b\n") {
		t.Fatalf("Next = %+v, %v", steer, ok)
	}
	second, ok := turn.Next()
	if !ok || second.UUID == steer.UUID {
		t.Fatalf("a second Next = %+v, %v", second, ok)
	}
	check("given", ".a+b+c")
	silent("when nothing waits")
	turn.Event(use("call2", ""))
	if wakes != 1 {
		t.Errorf("%d wakes when nothing waits, want 1", wakes)
	}
	turn.Dropped(steer.UUID)
	check("dropped", ".a-b+c")
	replay(second.UUID)
	check("read", ".a-b.c")

	turn.Event(result("call1", "task1")) // result of a sub-agent's tool call
	turn.Event(result("call2", ""))
	turn.Event(&streamjson.Event{Kind: streamjson.KindUser, Blocks: []streamjson.Block{{Kind: streamjson.BlockText, ID: "call1"}}})
	if steer, ok = turn.Next(); !ok {
		t.Fatal("nothing comes while call1 runs")
	}
	turn.Dropped(steer.UUID)
	turn.Event(result("call1", ""))
	silent("when its calls have ended")
	turn.Event(use("call3", ""))
	turn.Event(&streamjson.Event{Kind: streamjson.KindResult})
	silent("after the result")
	if !slices.Equal(shown, []string{"a", "c"}) {
		t.Errorf("shown: %q", shown)
	}
}

// Some clients do not repeat the lines that they read. An answer from such a client
// proves only that it has read the prompt.
func TestAWhisperAtTheHeadOfAPromptIsReadWithIt(t *testing.T) {
	s := Open(newHome(t))
	add(t, s, "a", "b")
	var shown []string
	turn := s.Turn(&journal.Record{Agent: "coder", Turn: "t1"}, Told{Shown: func(w Whisper) { shown = append(shown, w.Key) }, Note: func(err error) { t.Error(err) }})
	if _, err := s.Give("coder", "t1", BySteering, 1, nil); err != nil {
		t.Fatal(err)
	}
	turn.Head()
	turn.Event(use("call1", "")) // must also work if Wake is nil
	if got := state(t, s, "coder"); got != "+a.b" || !slices.Equal(shown, []string{"b"}) {
		t.Errorf("whispers = %q, shown %q, want b alone", got, shown)
	}
	add(t, s, "c")
	turn.Event(use("call2", ""))
}
