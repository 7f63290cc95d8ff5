package whisper

import (
	"fmt"
	"os"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// state returns the keys of an agent's whispers in one line. Each key has a prefix: -
// means that the whisper is waiting, + that it was given, and . that it was shown.
func state(t *testing.T, s *Store, agent string) (out string) {
	t.Helper()
	list, err := Of(s.home, agent)
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range list {
		switch {
		case w.waits():
			out += "-"
		case w.open():
			out += "+"
		default:
			out += "."
		}
		out += w.Key
	}
	return out
}

// A whisper is given in only one way, is shown once, and waits again after a turn whose
// client did not read it. All of this is also true after the daemon restarts.
func TestWhispers(t *testing.T) {
	home := newHome(t)
	s := Open(home)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check := func(want string) {
		t.Helper()
		if got := state(t, s, "coder"); got != want {
			t.Errorf("whispers = %q, want %q", got, want)
		}
	}
	for _, key := range []string{"a", "b", "a"} {
		added, err := s.Add("coder", Whisper{Key: key, Type: "CORRECTION", Text: "stop"})
		must(err)
		if again := key == "a" && state(t, s, "coder") != "-a"; added == again {
			t.Errorf("Add of %s = %v", key, added)
		}
	}
	check("-a-b")
	given, err := s.Give("coder", "t1", BySteering, 1, func(w Whisper) string { return "uuid-" + w.Key })
	must(err)
	if len(given) != 1 || given[0].UUID != "uuid-a" || given[0].Line() != "[SUPERVISOR/CORRECTION] stop" {
		t.Errorf("given = %+v", given)
	}
	check("+a-b")

	s = Open(home) // after a crash
	if shown, err := s.Shown("coder", "t2", nil); err != nil || shown != nil {
		t.Errorf("another turn has read %v, %v", shown, err)
	}
	must(s.TakeBack("coder"))
	check("-a-b")
	given, err = s.Give("coder", "t2", ByPrompt, 0, nil)
	must(err)
	if len(given) != 2 || given[0].UUID != "" {
		t.Errorf("given = %+v", given)
	}
	shown, err := s.Shown("coder", "t2", func(w Whisper) bool { return w.Key == "a" })
	must(err)
	if len(shown) != 1 {
		t.Errorf("shown = %+v", shown)
	}
	check(".a+b")
	must(s.TakeBack("coder"))
	must(s.Forget("coder"))
	check(".a.b")
	if added, err := s.Add("coder", Whisper{Key: "b"}); added || err != nil {
		t.Errorf("a verdict that was seen before is whispered again: %v", err)
	}
	for i := range 2 * maxWhispers {
		_, err := s.Add("coder", Whisper{Key: fmt.Sprint(i)})
		must(err)
	}
	if list, err := Of(home, "coder"); err != nil || len(list) != maxWhispers {
		t.Errorf("%d whispers are kept, %v", len(list), err)
	}
}

// A whisper that is lent to a connection is not delivered in any other way. It counts as
// shown once it is written. It goes back to waiting if it cannot be written, or if the
// daemon ends before then.
func TestALentWhisper(t *testing.T) {
	home := newHome(t)
	s := Open(home)
	for _, key := range []string{"a", "b"} {
		if _, err := s.Add("coder", Whisper{Key: key, Type: "CORRECTION", Text: "stop"}); err != nil {
			t.Fatal(err)
		}
	}
	lent, err := s.Lend("coder")
	if err != nil || len(lent) != 2 {
		t.Fatalf("lent = %+v, %v", lent, err)
	}
	if again, err := s.Lend("coder"); again != nil || err != nil {
		t.Errorf("lent twice: %+v, %v", again, err)
	}
	if given, err := s.Give("coder", "t1", ByPrompt, 0, nil); given != nil || err != nil {
		t.Errorf("given beside the connection: %+v, %v", given, err)
	}
	if err := s.TakeBack("coder"); err != nil { // the whisper's turn ends
		t.Fatal(err)
	}
	if got := state(t, Open(home), "coder"); got != "-a-b" {
		t.Errorf("the next daemon has %q, want both to wait", got)
	}
	shown, err := s.Written("coder", lent, 1, BySocket)
	if err != nil || len(shown) != 1 || shown[0].Key != "a" || shown[0].Way != BySocket {
		t.Errorf("shown = %+v, %v", shown, err)
	}
	if got := state(t, s, "coder"); got != ".a-b" || !s.Wait() {
		t.Errorf("whispers = %q, want b to wait again", got)
	}
	if lent, err = s.Lend("coder"); err != nil || len(lent) != 1 {
		t.Fatalf("lent = %+v, %v", lent, err)
	}
	if err := s.Forget("coder"); err != nil {
		t.Fatal(err)
	}
	if shown, err := s.Written("coder", lent, 0, BySocket); shown != nil || err != nil || s.Wait() {
		t.Errorf("a whisper about work that is over waits again: %+v, %v", shown, err)
	}
}

// An agent whose whisper file is damaged keeps working.
func TestDamagedWhispers(t *testing.T) {
	home := newHome(t)
	if _, err := Open(home).Add("coder", Whisper{Key: "a"}); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path(home, "coder"), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := Open(home)
	if s.Waiting("coder") > 0 {
		t.Error("a damaged file has a whisper")
	}
	if added, err := s.Add("coder", Whisper{Key: "b"}); !added || err != nil {
		t.Errorf("Add = %v, %v", added, err)
	}
}

func newHome(t *testing.T) journal.Home {
	t.Helper()
	home := journal.HomeOf(t.TempDir())
	if err := home.Make(); err != nil {
		t.Fatal(err)
	}
	return home
}
