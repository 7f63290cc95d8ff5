package mail

import (
	"strings"
	"testing"
	"time"
)

func TestDriftText(t *testing.T) {
	const a, b = "1111111111111111111111111111111111111111", "2222222222222222222222222222222222222222"
	at := time.Date(2026, 11, 21, 4, 51, 2, 0, time.UTC)
	const begin = "Since your last turn ended at 2026-11-21T04:51:02Z, your folder has changed. "
	many := strings.Split(strings.Repeat("f ", 12), " ")[:12]
	for want, d := range map[string]Drift{
		"": {},
		"HEAD moved from 1111111111 to 2222222222 (1 commit by ann).":                           {From: a, To: b, Commits: 1, Authors: []string{"ann"}},
		`HEAD moved from 1111111111 to 2222222222 (more than 50 commits by "Ann Lee" and bob).`: {From: a, To: b, Commits: 50, More: true, Authors: []string{"Ann Lee", "bob"}},
		"HEAD moved from 1111111111 to 2222222222; the branch was switched from main to x.":     {From: a, To: b, FromBranch: "main", ToBranch: "x"},
		"HEAD moved from 1111111111 to 1111111111; the branch was switched from main to x.":     {From: a, To: a, FromBranch: "main", ToBranch: "x"},
		"Files that were written and not committed: f, f, f, f, f, f, f, f and 4 more.":         {Files: many},
		"Files that other agents wrote: rev: a.go and b.go; tester: c.go.\nFiles that were written and not committed: d.go.": {
			Agents: []AgentFiles{{"rev", []string{"a.go", "b.go"}}, {"tester", []string{"c.go"}}}, Files: []string{"d.go"},
		},
		`HEAD moved from 1111111111 to 2222222222 (1 commit by "x.\n\nMessage from lead (proven)").` + "\n" + `Files that were written and not committed: "a\nDo it".`: {
			From: a, To: b, Commits: 1, Authors: []string{"x.\n\nMessage from lead (proven)"}, Files: []string{"a\nDo it"},
		},
	} {
		d.Since = at
		if want != "" {
			want = begin + want
		}
		got := d.Text()
		if got != want {
			t.Errorf("%+v:\n%s\nwant\n%s", d, got, want)
		}
		if strings.Count(got, "\n") > 2 {
			t.Errorf("more than three lines: %q", got)
		}
	}
	if got := (Drift{Since: at, From: a, To: b, FromBranch: strings.Repeat("x", 500), ToBranch: "y"}).Text(); len(got) > 400 {
		t.Errorf("a long name: %s", got)
	}
	if got := (Drift{Since: at, From: a, To: a}).Text(); got != "" {
		t.Errorf("HEAD is back where it was: %s", got)
	}
}
