package main

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
)

// A readyBranch is the JSON of a branch that its target does not contain, and whose merge nobody
// has asked for.
type readyBranch struct {
	ID     string `json:"id"`
	Branch string `json:"branch"`
	Commit string `json:"commit"`
	Target string `json:"target"`
	Agent  string `json:"agent"`
	Task   string `json:"task,omitempty"`
	State  string `json:"state,omitempty"` // how far the task came, as in tasks; "" if it is not known
}

// word returns the state of the branch in the table: that of its task if it says more than that
// the work is done.
func (r readyBranch) word() string {
	switch r.State {
	case "", string(view.TaskUnverified), string(view.TaskMerged):
		return "ready"
	}
	return r.State
}

// ready lists the branches that can be merged.
func (m *merger) ready(ctx context.Context, all []merge.Merge) ([]readyBranch, error) {
	commits := map[string]map[string]string{} // by target
	list := []readyBranch{}
	for _, t := range m.trees.List() {
		if t.Target == "" {
			continue
		}
		if commits[t.Target] == nil {
			var err error
			if commits[t.Target], err = m.queue.Unmerged(ctx, t.Target); err != nil {
				return nil, err
			}
		}
		commit := commits[t.Target][t.Branch]
		listed := slices.ContainsFunc(all, func(one merge.Merge) bool { return one.Branch == t.Branch && one.Commit == commit })
		if commit != "" && !listed {
			list = append(list, readyBranch{merge.NameOf(t.Branch), t.Branch, commit, t.Target, t.Agent, t.Task, ""})
		}
	}
	return list, nil
}

// addStates sets the states of branches. The state of a closed task is that of one of its branches.
func (m *merger) addStates(c *cli.Context, list []readyBranch) error {
	if !slices.ContainsFunc(list, func(r readyBranch) bool { return r.Task != "" }) {
		return nil
	}
	st, err := statusOf(c, nil)
	if err != nil {
		return err
	}
	all, err := view.TasksOf(m.Client, st, view.TaskQuery{Open: true, Closed: true, Since: m.closedSince(time.Now())})
	if err != nil {
		return err
	}
	for i := range list {
		for _, t := range all.Tasks {
			if t.ID == list[i].Task && (t.State.IsOpen() || t.Branch == list[i].Branch) {
				list[i].State = string(t.State)
			}
		}
	}
	return nil
}

func mergeList(c *cli.Context, p *post) error {
	if err := noArguments(c); err != nil {
		return err
	}
	m, err := p.merger(c)
	if err != nil {
		return err
	}
	all, err := m.queue.List()
	if err != nil {
		return err
	}
	ready, err := m.ready(c.Context, all)
	if err != nil {
		return err
	}
	if err := m.addStates(c, ready); err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V      int           `json:"v"`
			Ready  []readyBranch `json:"ready"`
			Merges []merge.Merge `json:"merges"`
		}{1, ready, slices.Concat([]merge.Merge{}, all)})
	}
	if len(ready)+len(all) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "no branch of an agent waits for its merge")
		return err
	}
	t := table{width: textWidth(c.App.Writer)}
	t.add("ID", "AGENT", "STATE", "")
	for _, one := range all {
		why := one.Why
		one.Why = ""
		t.add(merge.NameOf(one.Branch), one.Agent, stateWord(one), mergeWords(one))
		if why != "" {
			t.last().below = append(t.last().below, tableLine{text: why, whole: true})
		}
		if one.State == merge.Waiting && one.Next != "" {
			t.last().below = append(t.last().below, tableLine{text: "next: " + one.Next, whole: true})
		}
	}
	for _, r := range ready {
		t.add(r.ID, r.Agent, r.word(), fmt.Sprintf("%s at %.12s, into %s", r.Branch, r.Commit, r.Target))
	}
	t.write(c.App.Writer, nil)
	if next := nextToMerge(ready); next != "" {
		fmt.Fprintln(c.App.Writer)
		writeSteps(c.App.Writer, "try: claude-swarm merge "+next+" --dry-run", "merge: claude-swarm merge "+next)
	}
	return nil
}

// nextToMerge returns the ID of the first branch with work that is done, if possible verified, or ""
// without such a branch.
func nextToMerge(list []readyBranch) string {
	for _, word := range []string{string(view.TaskVerified), "ready"} {
		if i := slices.IndexFunc(list, func(r readyBranch) bool { return r.word() == word }); i >= 0 {
			return list[i].ID
		}
	}
	return ""
}

func mergeShow(c *cli.Context, p *post) error {
	if c.NArg() != 1 {
		return usagef("claude-swarm merge list", "merge show: name one branch, by its ID")
	}
	m, err := p.merger(c)
	if err != nil {
		return err
	}
	one, err := m.find(c.Args().First(), false)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, one)
	}
	return writeMerge(c.App.Writer, one)
}

// writeMerge prints all about a merge.
func writeMerge(w io.Writer, one merge.Merge) error {
	fields := [][2]string{
		{"id", one.ID}, {"state", stateWord(one)}, {"branch", one.Branch}, {"commit", one.Commit}, {"target", one.Target},
		{"agent", one.Agent}, {"task", one.Task}, {"subject", one.Subject}, {"asked", timeText(one.Asked, time.Now()) + " by " + one.By},
		{"result", one.Result}, {"verified", one.Verified}, {"undone", one.Undone}, {"why", one.Why}, {"next", one.Next},
	}
	for _, f := range fields {
		if f[1] == "" || f[0] == "result" && one.State != merge.Merged {
			continue
		}
		if _, err := fmt.Fprintf(w, "%-9s %s\n", f[0], screen.OneLine(f[1])); err != nil {
			return err
		}
	}
	for _, line := range slices.Concat(one.Paths, one.Output) {
		if _, err := fmt.Fprintln(w, "  "+screen.Visible(line)); err != nil {
			return err
		}
	}
	return nil
}

// stateWord returns the state of a merge in one word or two.
func stateWord(one merge.Merge) string {
	switch {
	case one.Undone != "":
		return "undone"
	case one.State == merge.Refused:
		return cmp.Or(string(one.Cause), string(one.State))
	}
	return string(one.State)
}

// mergeWords returns in one line how a merge ended, or why it waits.
func mergeWords(one merge.Merge) string {
	what := fmt.Sprintf("%s into %s", one.Branch, one.Target)
	if one.Undoes != "" {
		what = fmt.Sprintf("undoing %s in %s", one.Branch, one.Target)
	}
	if one.State == merge.Merged && one.Result != "" {
		what += fmt.Sprintf(", as %.12s, %s", one.Result, one.Verified)
	}
	if one.Why != "" {
		what += ": " + one.Why
	}
	return strings.TrimSpace(what)
}

// sayMerge prints how a merge ended, and returns an error unless it is merged.
func sayMerge(c *cli.Context, one merge.Merge) error {
	var err error
	dry := c.Bool("dry-run")
	ended := one.State == merge.Merged || one.Cause == merge.Cancelled
	switch {
	case c.Bool("json"):
		err = printJSON(c.App.Writer, one)
	case !ended:
	case one.Cause == merge.Cancelled:
		_, err = fmt.Fprintf(c.App.Writer, "%s is not merged\n", one.Branch)
	case dry:
		_, err = fmt.Fprintf(c.App.Writer, "%s would be merged into %s, %s\n", one.Branch, one.Target, one.Verified)
	default:
		_, err = fmt.Fprintf(c.App.Writer, "%s: %s\n", stateWord(one), mergeWords(one))
	}
	if err != nil || ended {
		return err
	}
	if dry && !c.Bool("json") { // no record is kept that "merge show" could print
		for _, line := range one.Output {
			fmt.Fprintln(c.App.ErrWriter, "  "+screen.Visible(line))
		}
	}
	if one.State == merge.Waiting && !dry {
		return fail(exitFailed, one.Next, "%s waits for its merge: %s", one.Branch, one.Why)
	}
	return fail(exitFailed, one.Next, "%s cannot be merged: %s", one.Branch, one.Why)
}
