//go:build linux

package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
)

// figures contains the resources that a daemon uses at one point in time.
type figures struct {
	MiB      float64 // private memory, in MiB
	threads  int
	routines int // goroutines
	files    int // open
	children int // processes, including zombies
	switches int // number of voluntary context switches so far, which shows how often the daemon waited and was woken
}

func (f figures) String() string {
	return fmt.Sprintf("%.0f MiB, %d threads, %d goroutines, %d files, %d children", f.MiB, f.threads, f.routines, f.files, f.children)
}

// figures returns the resources that the arena's daemon uses.
func (a *arena) figures(ctx context.Context) (figures, error) {
	st, err := a.status(ctx, a.agents[0]) // asks about one agent, because the full list can be too long for one answer
	if err == nil && st.Daemon == nil {
		err = errors.New("no daemon is running")
	}
	if err != nil {
		return figures{}, err
	}
	daemons := a.of(daemonRole)
	if len(daemons) != 1 {
		return figures{}, fmt.Errorf("%d daemons run, not one", len(daemons))
	}
	dir := fmt.Sprintf("/proc/%d/", daemons[0].pid)
	f := figures{routines: st.Daemon.Goroutines}
	number := func(file, field string) int {
		data, rerr := os.ReadFile(dir + file)
		_, rest, found := bytes.Cut(data, []byte(field+":"))
		words := bytes.Fields(rest)
		if rerr != nil || !found || len(words) == 0 {
			err = fmt.Errorf("no %s in %s: %w", field, file, rerr)
			return 0
		}
		n, nerr := strconv.Atoi(string(words[0]))
		if nerr != nil {
			err = nerr
		}
		return n
	}
	f.MiB = float64(number("status", "RssAnon")) / 1024
	f.threads = number("status", "Threads")
	tasks, gerr := filepath.Glob(dir + "task/*/status")
	for _, task := range tasks {
		rel, _ := filepath.Rel(dir, task)
		f.switches += number(rel, "voluntary_ctxt_switches")
	}
	open, rerr := os.ReadDir(dir + "fd")
	f.files = len(open)
	if gerr != nil || rerr != nil {
		return f, fmt.Errorf("look at the daemon: %w, %w", gerr, rerr)
	}
	children, _ := filepath.Glob(dir + "task/*/children")
	for _, c := range children {
		data, _ := os.ReadFile(c)
		f.children += len(bytes.Fields(data))
	}
	return f, err
}
