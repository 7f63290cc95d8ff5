//go:build linux

package main

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// TestTallyFindsWhatIsWrong creates the files that a faulty daemon would leave.
func TestTallyFindsWhatIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		break_ func(b *broken)
		want   counts
	}{
		"nothing":             {func(b *broken) {}, counts{}},
		"cut and begun again": {func(b *broken) { b.journal = nil; b.turn("x", 0, false); b.all() }, counts{Again: 1}},
		"no receipt":          {func(b *broken) { b.remove("agent0/done/*/*.receipt.yaml") }, counts{Lost: 3}},
		"no turn":             {func(b *broken) { b.journal = nil }, counts{Lost: 3}},
		"no answer":           {func(b *broken) { b.remove("lead/new/*") }, counts{Lost: 3}},
		"given up silently": {func(b *broken) {
			b.move("agent0/done/*/*.receipt.yaml", "agent0/dead", ".receipt.yaml", ".reason.txt")
		}, counts{Lost: 3}},
		"answered twice":                  {func(b *broken) { b.answer(1) }, counts{Doubled: 1}},
		"run twice":                       {func(b *broken) { b.turn("y", 2, true) }, counts{Doubled: 1}},
		"cut in a client that had stayed": {func(b *broken) { b.journal = nil; b.all(); b.cutIn("a", 2) }, counts{Again: 1}},
		"in a wrong order":                {func(b *broken) { b.journal = nil; b.turn("c", 2, true); b.turn("b", 1, true); b.turn("a", 0, true) }, counts{Disorder: 1}},
		"one inside another": {func(b *broken) {
			b.journal = nil
			b.line("begin", "x", 0)
			b.all()
			b.line("end", "x", 0)
		}, counts{Overlaps: 1, Again: 1}},
		"the lock was held":     {func(b *broken) { b.journal = append(b.journal, "overlap agent0 - 77 ") }, counts{Overlaps: 1}},
		"claimed and forgotten": {func(b *broken) { b.write("agent0/cur/1-20261121T045102.123456Z-k7f3q9m2xd~1.0.md") }, counts{Left: 1}},
		"a pid file":            {func(b *broken) { b.write("../.claude-swarm/pids/agent0.pid") }, counts{Left: 1}},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBroken(t)
			c.break_(b)
			if err := os.WriteFile(b.a.journal(), []byte(strings.Join(append(b.journal, ""), "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := b.a.tally()
			if err != nil {
				t.Fatal(err)
			}
			if len(got.Evidence) == 0 && !got.clean() {
				t.Error("no evidence for what is wrong")
			}
			got.Evidence, got.Messages = nil, 0
			if fmt.Sprint(got) != fmt.Sprint(c.want) {
				t.Errorf("tally = %+v, want %+v", got, c.want)
			}
		})
	}
}

// broken is an arena that contains three jobs that are done and the files that a test
// adds.
type broken struct {
	t       *testing.T
	a       *arena
	journal []string
}

func newBroken(t *testing.T) *broken {
	if testing.Short() {
		t.Skip("runs in the machine that is tortured")
	}
	a, err := ours.newArena(t.Context(), arenaSpec{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { a.close() })
	b := &broken{t: t, a: a}
	if err := a.store.MakeMailbox("agent0"); err != nil {
		t.Fatal(err)
	}
	if err := a.own().Make(); err != nil {
		t.Fatal(err)
	}
	if err := a.send(t.Context(), traffic{messages: 3}); err != nil {
		t.Fatal(err)
	}
	box, err := a.store.Mailbox("agent0")
	if err != nil {
		t.Fatal(err)
	}
	waiting, err := box.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range waiting {
		claim, err := box.Claim(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Commit(claim.Entry, []byte("v: 1\n")); err != nil {
			t.Fatal(err)
		}
		if err := box.Finish(claim.Entry); err != nil {
			t.Fatal(err)
		}
	}
	b.all()
	for n := range 3 {
		b.answer(n)
	}
	return b
}

// all logs that the three jobs were done in order.
func (b *broken) all() {
	b.turn("a", 0, true)
	b.turn("b", 1, true)
	b.turn("c", 2, true)
}

// turn logs the beginning of a job's turn and, if result is true, its end.
func (b *broken) turn(uuid string, n int, result bool) {
	b.line("begin", uuid, n)
	stream := `{"type":"user","isReplay":true,"uuid":"` + uuid + `"}` + "\n"
	if result {
		b.line("end", uuid, n)
		stream += `{"type":"result","is_error":false}` + "\n"
	}
	for ending, text := range map[string]string{".json": fmt.Sprintf(`{"turn":"turn-%s","uuid":%q}`, uuid, uuid), ".jsonl": stream} {
		if err := os.WriteFile(filepath.Join(b.a.own().Turns(), "turn-"+uuid+ending), []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}

// cutIn logs that an attempt at a job was interrupted before the job's successful turn.
// The attempt ran in the client of an earlier turn. The client's stream contains the
// result of that earlier turn, but no result of the attempt.
func (b *broken) cutIn(client string, n int) {
	stream := filepath.Join(b.a.own().Turns(), "turn-"+client+".jsonl")
	data, err := os.ReadFile(stream)
	if err != nil {
		b.t.Fatal(err)
	}
	last := slices.Clone(b.journal[len(b.journal)-2:]) // the job's successful turn
	b.journal = b.journal[:len(b.journal)-2]
	b.line("begin", "z", n)
	b.journal = append(b.journal, last...)
	rec := fmt.Sprintf(`{"turn":"turn-z","uuid":"z","client":"turn-%s","from":{"offset":%d}}`, client, len(data))
	for name, text := range map[string]string{filepath.Join(b.a.own().Turns(), "turn-z.json"): rec, stream: string(data) + `{"type":"user","isReplay":true,"uuid":"z"}` + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *broken) line(what, uuid string, n int) {
	b.journal = append(b.journal, fmt.Sprintf("%s agent0 %s 77 job %d", what, uuid, n))
}

func (b *broken) answer(n int) {
	for _, j := range b.a.sent() {
		if j.n == n {
			m := &dropbox.Message{From: "agent0", Type: dropbox.Result, ReplyTo: j.id, Body: []byte("did it\n")}
			if _, err := b.a.store.Deliver(dropbox.Lead, m); err != nil {
				b.t.Fatal(err)
			}
		}
	}
}

func (b *broken) files(pattern string) []string {
	names, err := filepath.Glob(filepath.Join(b.a.mail(), pattern))
	if err != nil || len(names) == 0 {
		b.t.Fatal(pattern, names, err)
	}
	return names
}

func (b *broken) remove(pattern string) {
	for _, name := range b.files(pattern) {
		if err := os.Remove(name); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *broken) move(pattern, dir, ending, other string) {
	for _, name := range b.files(pattern) {
		to := filepath.Join(b.a.mail(), dir, strings.TrimSuffix(filepath.Base(name), ending)+other)
		if err := os.Rename(name, to); err != nil {
			b.t.Fatal(err)
		}
	}
}

func (b *broken) write(name string) {
	if err := os.WriteFile(filepath.Join(b.a.mail(), name), nil, 0o600); err != nil {
		b.t.Fatal(err)
	}
}
