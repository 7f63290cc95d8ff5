//go:build linux

package main

import (
	"os"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/runner/claude"
)

// The page contains the facts in this program and the supported versions, and claude-swarm
// works with every answer on it. If a fact has changed, its experiment must be run again.
func TestThePageIsOfToday(t *testing.T) {
	data, err := os.ReadFile("../../" + page)
	if err != nil {
		t.Fatal(err)
	}
	versions := []string{claude.Oldest, claude.Newest}
	answers := make([][]answer, len(versions))
	rows := 0
	for row := range strings.Lines(string(data)) {
		cells := strings.Split(strings.TrimSuffix(strings.TrimSpace(row), " |"), " | ")
		if !strings.HasPrefix(row, "| ") || strings.HasPrefix(row, "| ---") || strings.HasPrefix(row, "| fact ") {
			continue
		}
		if rows >= len(facts) || len(cells) != 2+len(versions) {
			t.Fatalf("the page has the row %q\n  try: make compat", row)
		}
		for i, version := range versions {
			text := cells[2+i]
			if !facts[rows].good(text) {
				t.Errorf("%s: %s: %s", version, facts[rows].claim, text)
			}
			answers[i] = append(answers[i], answer{text, true})
		}
		rows++
	}
	if rows != len(facts) {
		t.Fatalf("the page has %d facts, the program %d\n  try: make compat", rows, len(facts))
	}
	if string(data) != pageOf(versions, answers) {
		t.Errorf("%s is not what the program writes\n  try: make compat", page)
	}
}

func TestAnAnswerThatIsNotWantedIsMarked(t *testing.T) {
	all := make([]answer, len(facts))
	for i := range all {
		all[i] = answer{"yes", true}
	}
	all[3] = answer{"no: a | b", facts[3].good("no: a | b")}
	if got := table([]string{"2.1.1"}, [][]answer{all}); strings.Count(got, "**") != 2 || !strings.Contains(got, `**no: a \| b**`) {
		t.Errorf("the table does not mark exactly that answer:\n%s", got)
	}
}
