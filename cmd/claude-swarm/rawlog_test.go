package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// When a person follows the stream, it shows every turn, even if several turns have begun
// since the last read, and shows a warm client's lines only once.
func TestARawLogSkipsNoTurn(t *testing.T) {
	home := journal.HomeOf(t.TempDir())
	if err := os.MkdirAll(home.Turns(), 0o700); err != nil {
		t.Fatal(err)
	}
	at := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	begin := func(agent, turn, client string) {
		t.Helper()
		at = at.Add(time.Minute)
		record := fmt.Sprintf(`{"Turn":%q,"Client":%q,"Agent":%q,"Begun":%q}`, turn, client, agent, at.Format(time.RFC3339))
		overwrite(t, home.TurnFile(turn, ".json"), record)
	}
	say := func(client, line string) {
		t.Helper()
		f, err := os.OpenFile(home.Stream(client), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err == nil {
			_, err = f.WriteString(line + "\n")
		}
		if err != nil {
			t.Fatal(err)
		}
		if err := f.Close(); err != nil {
			t.Fatal(err)
		}
	}
	var out bytes.Buffer
	s := &rawStream{out: &out, turns: &turnFiles{home: home, agent: "coder", seen: map[string]bool{}}}
	defer func() { s.tail.close() }()
	step := func(want string, f func() error) {
		t.Helper()
		out.Reset()
		if err := f(); err != nil || out.String() != want {
			t.Errorf("printed %q, %v; want %q", out.String(), err, want)
		}
	}
	first := func() error { _, err := s.begin(1); return err }

	step("", first)
	step("", s.more)
	begin("coder", "zz", "")
	say("zz", "one")
	say("zz", "two")
	step("one\ntwo\n", s.more)
	begin("coder", "yy", "")
	say("zz", "the end of zz")
	say("yy", "all of yy")
	begin("coder", "aa", "")
	say("aa", "some of aa")
	begin("tester", "bb", "")
	say("bb", "of another agent")
	step("the end of zz\nall of yy\nsome of aa\n", s.more)
	begin("coder", "cc", "aa")
	say("aa", "the next turn of the same client")
	step("the next turn of the same client\n", s.more)
	if err := os.Remove(filepath.Join(home.Turns(), "aa.json")); err != nil {
		t.Fatal(err)
	}
	step("", s.more)

	if err := s.tail.close(); err != nil {
		t.Fatal(err)
	}
	s = &rawStream{out: &out, turns: &turnFiles{home: home, agent: "coder", seen: map[string]bool{}}}
	step("the next turn of the same client\n", func() error { _, err := s.begin(1); return err })
}
