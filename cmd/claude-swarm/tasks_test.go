package main

import (
	"cmp"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// mixedTasks runs two turns, and leaves one task waiting, one asking, one taken back and one
// that began with a message of an agent.
func mixedTasks(t *testing.T) (p *project, id map[string]string) {
	t.Helper()
	p, store := projectWithMail(t, "{coder: , reviewer: }")
	turns := runScripted(t, p, store, map[string]string{"coder": "@say done", "reviewer": "@cost 0.5\n@say done"})
	id = map[string]string{"unknown cost": turns.task["coder"], "known cost": turns.task["reviewer"]}
	deliver := func(name, to string, m *dropbox.Message) {
		t.Helper()
		m.From, m.Body = cmp.Or(m.From, dropbox.Lead), []byte(name+"\n")
		d, err := store.Deliver(to, m)
		if err != nil {
			t.Fatal(err)
		}
		id[name] = d.ID
	}
	deliver("waits", "coder", &dropbox.Message{})
	deliver("is a note", "coder", &dropbox.Message{Type: dropbox.Note})
	deliver("of an agent", "coder", &dropbox.Message{From: "reviewer"})
	deliver("its part", "reviewer", &dropbox.Message{From: "coder", Trace: id["waits"]})
	deliver("asked by mail", dropbox.Lead, &dropbox.Message{From: "reviewer", Type: dropbox.Question, Trace: id["known cost"]})
	deliver("of IRC", "coder", &dropbox.Message{From: "irc", Extra: bridge.Origin{Channel: "#swarm", Nick: "ann"}.Extra("irc")})
	deliver("taken back", "reviewer", &dropbox.Message{})
	box, err := store.Mailbox("reviewer")
	if err != nil {
		t.Fatal(err)
	}
	found, err := store.Find(id["taken back"])
	if err == nil {
		err = box.Cancel(found.Entry)
	}
	if err != nil {
		t.Fatal(err)
	}
	return p, id
}

func taskStates(list view.Tasks) map[string]string {
	states := map[string]string{}
	for _, one := range list.Tasks {
		states[one.ID] = string(one.State)
	}
	return states
}

func TestTasksAreWhatPeopleAskedFor(t *testing.T) {
	p, id := mixedTasks(t)
	list := typedJSON[view.Tasks](t, p, "tasks", "--all")
	want := map[string]string{
		id["unknown cost"]: "unverified", id["known cost"]: "asking", id["waits"]: "waiting", id["of IRC"]: "waiting", id["taken back"]: "given up",
	}
	if diff := gocmp.Diff(want, taskStates(list)); diff != "" {
		t.Errorf("states of %v (-want +got):\n%s", id, diff)
	}
	open := taskStates(typedJSON[view.Tasks](t, p, "tasks"))
	closed := taskStates(typedJSON[view.Tasks](t, p, "tasks", "--closed"))
	if len(open) != 3 || len(closed) != 2 || len(open)+len(closed) != len(want) {
		t.Errorf("open %v, closed %v", open, closed)
	}
	if got := taskStates(typedJSON[view.Tasks](t, p, "tasks", "--all", "--agent", "reviewer")); len(got) != 3 || got[id["waits"]] == "" {
		t.Errorf("of the reviewer, who has a part of a task of the coder: %v", got)
	}
	for _, one := range list.Tasks {
		if one.ID == id["of IRC"] && (one.By != "irc" || one.Nick != "ann") {
			t.Errorf("asked on IRC by %q, %q", one.By, one.Nick)
		}
	}

	// An unknown cost is not 0.
	for name, want := range map[string]string{"unknown cost": `{"cost_usd":null,"cost_unknown_turns":1}`, "known cost": `{"cost_usd":0.5}`} {
		said := typedJSON[map[string]any](t, p, "tasks", id[name])["tasks"].([]any)[0]
		if !has(said, decoded(t, want)) {
			t.Errorf("%s: %v, want %s in it", name, said, want)
		}
	}
	if said := typed(t, p, "tasks", "--all"); !strings.Contains(said, "  unknown   @say done") || !strings.Contains(said, " · at least 0.50 USD · ") {
		t.Errorf("the costs:\n%s", said)
	}
	var short any
	toolsOf(t, p)("tasks", map[string]any{"closed": true}, &short)
	if got := short.(map[string]any)["tasks"].([]any); len(got) != 2 {
		t.Errorf("the tool says %v", got)
	}
}

// The list depends on the mailboxes, the ledger, the records of turns and the event list alone.
// Without the ledger, the receipts say what it said.
func TestTasksAreRebuiltFromNothing(t *testing.T) {
	p, _ := mixedTasks(t)
	all := func() view.Tasks {
		list := typedJSON[view.Tasks](t, p, "tasks", "--all")
		if len(list.Tasks) != 5 {
			t.Fatalf("%d tasks", len(list.Tasks))
		}
		return list
	}
	before := all()
	kept := func(name string) bool {
		return name == filepath.Base(p.home.Ledger()) || strings.HasPrefix(name, "events") || strings.HasPrefix(name, "turns"+string(filepath.Separator))
	}
	removed := 0
	err := filepath.WalkDir(p.home.Dir(), func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(p.home.Dir(), path)
		if err != nil || kept(name) {
			return err
		}
		removed++
		return os.Remove(path)
	})
	if err != nil || removed == 0 {
		t.Fatalf("removed %d files: %v", removed, err)
	}
	if diff := gocmp.Diff(before, all()); diff != "" {
		t.Errorf("without the derived files (-want +got):\n%s", diff)
	}
	if err := os.Remove(p.home.Ledger()); err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(before, all(), cmpopts.EquateApproxTime(time.Second)); diff != "" {
		t.Errorf("without the ledger (-want +got):\n%s", diff)
	}
}

// A closed task is listed for log.max_age_days, whether or not its messages still exist.
func TestClosedTasksAreListedForSomeDays(t *testing.T) {
	p, store := projectWithMail(t, "{coder: }")
	if err := store.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	for i, days := range []int{1, 29, 31} {
		turn := fmt.Sprintf("tasktask0%d", i)
		err := journal.AppendLedger(p.home, journal.LedgerLine{
			At: time.Now().AddDate(0, 0, -days), Turn: turn + "-1", Agent: "coder", Message: turn, Trace: turn, From: dropbox.Lead, Subject: "old", Outcome: journal.OutcomeDone,
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	want := map[string]string{"tasktask00": "unverified", "tasktask01": "unverified"}
	if diff := gocmp.Diff(want, taskStates(typedJSON[view.Tasks](t, p, "tasks", "--closed"))); diff != "" {
		t.Errorf("closed tasks (-want +got):\n%s", diff)
	}
	if said := typed(t, p, "tasks", "tasktask01"); !strings.Contains(said, "task     old\n") || !strings.HasSuffix(said, "its messages have been removed\n") {
		t.Errorf("a task whose messages are gone:\n%s", said)
	}
}
