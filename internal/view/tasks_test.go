package view_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// BenchmarkTasks measures the lists of open and of all tasks in a project with 10,000
// receipts, as a multiple of the time for the last 20 turns of the history.
func BenchmarkTasks(b *testing.B) {
	const receipts = 10_000
	dir := b.TempDir()
	if err := dropbox.Create(dir + "/mail"); err != nil {
		b.Fatal(err)
	}
	store, err := dropbox.Open(dir+"/mail", dropbox.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer store.Close()
	home := journal.HomeOf(dir)
	if err := home.Make(); err != nil {
		b.Fatal(err)
	}
	if err := store.MakeMailbox("coder"); err != nil {
		b.Fatal(err)
	}
	drafts := make([]dropbox.Draft, receipts)
	for i := range drafts {
		drafts[i] = dropbox.Draft{To: "coder", Message: &dropbox.Message{From: dropbox.Lead, Body: fmt.Appendf(nil, "task %d\n", i)}}
	}
	store.DeliverBatch(drafts)
	box, err := store.Mailbox("coder")
	if err != nil {
		b.Fatal(err)
	}
	waiting, err := box.Peek()
	if err != nil || len(waiting) != receipts {
		b.Fatalf("%d waiting: %v", len(waiting), err)
	}
	for _, e := range waiting {
		c, err := box.Claim(e)
		if err != nil {
			b.Fatal(err)
		}
		now := time.Now()
		r := &journal.Receipt{ID: c.ID, Turn: c.ID + "-1", Agent: "coder", Outcome: journal.OutcomeDone, Ended: now, Attempts: []journal.Attempt{{Start: now, End: now, Outcome: journal.OutcomeDone, CostUSD: 0.01}}}
		data, err := r.Encode()
		if err == nil {
			err = journal.AppendLedger(home, journal.LineOf(c.Message, r))
		}
		if err == nil {
			err = box.Commit(c.Entry, data)
		}
		if err == nil {
			err = box.Finish(c.Entry)
		}
		if err != nil {
			b.Fatal(err)
		}
	}
	c := client.New(client.Project{Home: home, Store: store, Agents: []string{"coder"}}, journal.Identity{Name: dropbox.Lead})
	took := func(q view.TaskQuery, want int) time.Duration {
		begun := time.Now()
		list, err := view.TasksOf(c, swarm.Status{}, q)
		if err != nil || len(list.Tasks) != want {
			b.Fatalf("%d tasks, want %d: %v", len(list.Tasks), want, err)
		}
		return time.Since(begun)
	}
	for b.Loop() {
		begun := time.Now()
		if _, err := view.HistoryOf(c, "", time.Time{}, 20); err != nil {
			b.Fatal(err)
		}
		history := time.Since(begun)
		since := time.Now().AddDate(0, 0, -30)
		open, all := took(view.TaskQuery{Open: true, Since: since}, 0), took(view.TaskQuery{Open: true, Closed: true, Since: since}, receipts)
		b.ReportMetric(float64(open)/float64(history), "open/history")
		b.ReportMetric(float64(all)/float64(history), "all/history")
		b.ReportMetric(all.Seconds(), "all-s")
	}
}
