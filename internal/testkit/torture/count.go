//go:build linux

package main

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// count waits until the arena is settled, stops its daemon, and counts the outcomes of the
// messages.
func (a *arena) count(ctx context.Context) (counts, error) {
	settled := a.settle(ctx)
	c, err := a.halt(ctx)
	return c, errors.Join(settled, err)
}

// halt is like count, but does not wait until the arena is settled.
func (a *arena) halt(ctx context.Context) (counts, error) {
	stopped := a.stop(ctx)
	c, err := a.tally()
	return c, errors.Join(stopped, err)
}

// tally counts the outcomes in the files on disk and the processes that are still
// running. The daemon must be stopped before the call.
func (a *arena) tally() (counts, error) {
	var c counts
	jobs := a.sent()
	turns := a.turns()
	j, err := a.readJournal(numbers(turns, jobs))
	if err != nil {
		return c, err
	}
	for _, o := range jobs {
		if o.err == nil {
			c.Messages++
		}
	}
	a.tallyTurns(&c, j, jobs, turns)
	if err := a.tallyAnswers(&c, j, jobs); err != nil {
		return c, err
	}
	if err := a.tallyCosts(&c, turns); err != nil {
		return c, err
	}
	return c, a.tallyLeft(&c)
}

// A begin is the journal line for the start of a turn.
type begin struct {
	uuid string
	n    int // number of the job
}

// A turnLog is the log of the stand-ins.
type turnLog struct {
	begins   map[string][]begin // by agent, in the order of the log
	runs     map[int][]begin    // by job
	overlaps []string
}

// readJournal reads the lines WORD AGENT UUID PID FIRST-LINE. The turn's record contains
// its job, as does the first line unless the turn includes notes.
func (a *arena) readJournal(numbers map[string]int) (*turnLog, error) {
	j := &turnLog{begins: map[string][]begin{}, runs: map[int][]begin{}}
	f, err := os.Open(a.journal())
	if errors.Is(err, fs.ErrNotExist) {
		return j, nil
	} else if err != nil {
		return nil, err
	}
	defer f.Close()
	open := map[string]string{} // uuid of the current turn, by agent
	for sc := bufio.NewScanner(f); sc.Scan(); {
		w := strings.Fields(sc.Text())
		if len(w) < 4 {
			return nil, fmt.Errorf("the journal has the line %q", sc.Text())
		}
		what, agent, uuid := w[0], w[1], w[2]
		switch {
		case what == "overlap":
			j.overlaps = append(j.overlaps, agent+": a client began while another, or a child of it, still held the lock")
		case what == "end" && open[agent] != uuid:
			j.overlaps = append(j.overlaps, agent+": turn "+uuid+" ended inside "+open[agent])
		case what == "begin":
			open[agent] = uuid
			n, ok := numbers[uuid]
			if !ok && (len(w) != 6 || w[4] != "job") {
				continue // not the turn of a job
			} else if !ok {
				if n, err = strconv.Atoi(w[5]); err != nil {
					return nil, fmt.Errorf("the journal has the line %q", sc.Text())
				}
			}
			j.begins[agent] = append(j.begins[agent], begin{uuid, n})
			j.runs[n] = append(j.runs[n], begin{uuid, n})
		}
	}
	return j, nil
}

// numbers maps the uuid of each turn to the number of its job.
func numbers(turns map[string]turn, jobs []*job) map[string]int {
	by := map[string]int{}
	for _, o := range jobs {
		by[o.id] = o.n
	}
	out := map[string]int{}
	for uuid, t := range turns {
		if n, ok := by[t.Message]; ok && t.Message != "" {
			out[uuid] = n
		}
	}
	return out
}

// tallyTurns finds jobs that ran twice, in the wrong order, or at the same time.
func (a *arena) tallyTurns(c *counts, j *turnLog, jobs []*job, turns map[string]turn) {
	by := map[int]*job{}
	for _, o := range jobs {
		by[o.n] = o
	}
	last := map[string]int{}
	for agent, begins := range j.begins {
		for _, b := range begins {
			o := by[b.n]
			if o == nil {
				continue
			}
			way := fmt.Sprint(agent, " ", o.sender, o.low)
			if was, ok := last[way]; ok && was > b.n {
				c.Disorder++
				c.show("out of order: %s began job %d after %d", agent, b.n, was)
			}
			last[way] = b.n
		}
	}
	c.Overlaps += len(j.overlaps)
	for _, o := range j.overlaps {
		c.show("overlap: %s", o)
	}
	for _, n := range slices.Sorted(maps.Keys(j.runs)) {
		runs := j.runs[n]
		for i, b := range runs[:len(runs)-1] {
			if turn := turns[b.uuid]; a.succeeded(turn) {
				c.Doubled++
				c.show("doubled: job %d ran again as %s although turn %s had its result", n, turns[runs[i+1].uuid].Turn, turn.Turn)
			} else {
				c.Again++
			}
		}
	}
}

// A turn is the daemon's record of a turn.
type turn struct {
	Turn    string
	Message string // its id
	UUID    string
	Client  string // the turn that started the client, if it was a different turn
	From    struct{ Offset int64 }
}

// turns returns the turns in the daemon's records, by uuid.
func (a *arena) turns() map[string]turn {
	out := map[string]turn{}
	names, _ := filepath.Glob(filepath.Join(a.own().Turns(), "*.json"))
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			continue
		}
		var rec turn
		if json.Unmarshal(data, &rec) == nil {
			out[rec.UUID] = rec
		}
	}
	return out
}

// succeeded reports whether a turn's client printed a complete, successful result. It
// checks the first result after the line that echoes the prompt.
func (a *arena) succeeded(t turn) bool {
	data, err := os.ReadFile(a.own().Stream(cmp.Or(t.Client, t.Turn)))
	if t.Turn == "" || err != nil {
		return false
	}
	taken := false
	for line := range bytes.Lines(data[min(t.From.Offset, int64(len(data))):]) {
		var ev struct {
			Type    string `json:"type"`
			UUID    string `json:"uuid"`
			IsError bool   `json:"is_error"`
		}
		if !bytes.HasSuffix(line, []byte("\n")) || json.Unmarshal(line, &ev) != nil {
			continue
		}
		taken = taken || ev.UUID == t.UUID
		if taken && ev.Type == "result" {
			return !ev.IsError
		}
	}
	return false
}

// tallyAnswers finds messages that are not done, and messages without exactly one answer.
func (a *arena) tallyAnswers(c *counts, j *turnLog, jobs []*job) error {
	answers, bounces, err := a.answers()
	if err != nil {
		return err
	}
	done, dead, waits := map[string]bool{}, map[string]bool{}, map[string]bool{}
	for _, name := range a.agents {
		for dir, to := range map[string]map[string]bool{"done/*/*.receipt.yaml": done, "dead/*.reason.txt": dead, "new/*.md": waits} {
			names, err := filepath.Glob(filepath.Join(a.box(name), dir))
			if err != nil {
				return err
			}
			for _, file := range names {
				to[idOf(file)] = true
			}
		}
	}
	lost := func(o *job, format string, args ...any) {
		c.Lost++
		c.show("lost: job %d (%s to %s): %s", o.n, o.id, o.agent, fmt.Sprintf(format, args...))
	}
	for _, o := range jobs {
		switch {
		case o.err != nil:
			if len(j.runs[o.n]) > 0 {
				c.remark("job %d was refused (%v), and done", o.n, o.err)
			}
		case dead[o.id] && bounces[o.id] > 0:
			c.remark("job %d was given up, and its sender told", o.n)
		case dead[o.id]:
			lost(o, "given up, but nobody was told")
		case (o.note || a.halted) && waits[o.id]: // the message is waiting for the next turn
		case !done[o.id]:
			lost(o, "no receipt; its files: %s", a.filesOf(o.id))
		case o.note:
		case len(j.runs[o.n]) == 0:
			lost(o, "a receipt, but no turn")
		case answers[o.id] == 0:
			lost(o, "done, but not answered")
		case answers[o.id] > 1:
			c.Doubled++
			c.show("doubled: job %d was answered %d times", o.n, answers[o.id])
		}
	}
	return nil
}

// filesOf lists the files of a message in the arena, also outside of the mailboxes.
func (a *arena) filesOf(id string) string {
	base := filepath.Dir(a.dir)
	var found []string
	_ = filepath.WalkDir(base, func(path string, d fs.DirEntry, err error) error { // what cannot be read is not listed
		if err == nil && id != "" && strings.Contains(d.Name(), id) {
			rel, _ := filepath.Rel(base, path)
			found = append(found, rel)
		}
		return nil
	})
	if len(found) == 0 {
		return "none"
	}
	return strings.Join(found, ", ")
}

// idOf returns the id of the message to which a file belongs, or "" for any other file.
func idOf(path string) string {
	name, _, _ := strings.Cut(filepath.Base(path), "~")
	for _, ending := range []string{".md", ".receipt.yaml", ".reason.txt"} {
		name = strings.TrimSuffix(name, ending)
	}
	e, err := dropbox.ParseName(name + ".md")
	if err != nil {
		return ""
	}
	return e.ID
}

// answers counts the results and bounces in the lead's mailbox by the message that they
// answer.
func (a *arena) answers() (results, bounces map[string]int, err error) {
	results, bounces = map[string]int{}, map[string]int{}
	box, err := a.store.Mailbox(dropbox.Lead)
	if err != nil {
		return nil, nil, err
	}
	waiting, err := box.List()
	if err != nil {
		return nil, nil, err
	}
	for _, e := range waiting {
		m, err := box.Read(e)
		switch {
		case err != nil:
			return nil, nil, err
		case m.From == dropbox.Swarm && m.ReplyTo != "":
			bounces[m.ReplyTo]++
		case m.Type == dropbox.Result:
			results[m.ReplyTo]++
		}
	}
	return results, bounces, nil
}

// tallyLeft finds leftover files and processes.
func (a *arena) tallyLeft(c *counts) error {
	left := a.processes()
	// Shortly before its process exits, a daemon reports that it has stopped.
	for deadline := time.Now().Add(5 * time.Second); len(left) > 0 && time.Now().Before(deadline); left = a.processes() {
		time.Sleep(10 * time.Millisecond) // pause between two checks
	}
	for _, p := range left {
		c.Left++
		c.show("left: process %v", p)
	}
	mayWait := map[string]bool{}
	for _, j := range a.sent() {
		mayWait[j.id] = j.note || a.halted
	}
	// Files that a crash leaves in tmp/ are removed when they are an hour old.
	names, err := a.store.Mailboxes()
	if err != nil {
		return err
	}
	for _, name := range names {
		box, err := a.store.Mailbox(name)
		if err != nil {
			return err
		}
		if _, err := box.Clean(time.Now().Add(2 * time.Hour)); err != nil {
			return err
		}
		for _, folder := range []string{"tmp", "new", "cur"} {
			if name == dropbox.Lead && folder == "new" {
				continue // the answers
			}
			files, err := os.ReadDir(filepath.Join(a.box(name), folder))
			if err != nil && !errors.Is(err, fs.ErrNotExist) { // a deleted empty folder is recreated when needed
				return err
			}
			for _, f := range files {
				if folder == "new" && mayWait[idOf(f.Name())] {
					continue
				}
				c.Left++
				c.show("left: %s/%s/%s", name, folder, f.Name())
			}
		}
	}
	pids, _ := filepath.Glob(filepath.Join(a.own().Dir(), "pids", "*.pid"))
	for _, p := range pids {
		c.Left++
		c.show("left: %s", p)
	}
	for _, lock := range []string{a.own().LockFile(), filepath.Join(a.mail(), ".lock")} {
		f, err := os.Open(lock)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return err
		}
		if err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
			c.Left++
			c.show("left: somebody holds %s", lock)
		}
		f.Close()
	}
	return nil
}
