package view

import (
	"cmp"
	"errors"
	"io/fs"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
)

func (s *taskScan) task(id string, found *taskTrace) (Task, error) {
	t := Task{
		ID: id, State: found.state(), Agents: append([]string{}, found.agents...), Since: found.ended.UTC(),
		CostUSD: found.usd, CostUnknown: found.unknown, Turns: found.turns, Failed: found.failed, Result: found.result, Parts: found.parts,
		Branch: found.branch, Verified: found.verified(),
	}
	slices.SortStableFunc(t.Parts, func(a, b TaskPart) int {
		states := TaskStates()
		return cmp.Or(slices.Index(states, a.State)-slices.Index(states, b.State), a.Since.Compare(b.Since), strings.Compare(a.ID, b.ID))
	})
	slices.Sort(t.Agents)
	t.Agent = found.last
	if len(t.Parts) > 0 && t.Parts[0].State == t.State {
		first := t.Parts[0]
		t.Agent, t.Why, t.Next = first.Agent, first.Why, first.Next
		if t.State.IsOpen() || t.Since.IsZero() {
			t.Since = first.Since
		}
	}
	if t.Since.IsZero() && found.first != nil {
		t.Since = found.first.Entry.Created // it was filed by hand before any turn
	}
	if s.Me.Name != dropbox.Lead {
		t.hide(s.Client)
		return t, nil
	}
	switch {
	case t.State == TaskFailed && t.Why == "" && found.word == journal.WorkFailed:
		t.Why, t.Next = "its verifiers are red", "claude-swarm diff "+t.Agent+" "+id
	case t.State == TaskVerified && found.undone != "": // git would not merge the same commits again
		t.Why, t.Next = "its merge was taken back", "git revert "+found.undone[:min(12, len(found.undone))]
	case t.State == TaskVerified:
		t.Next = "claude-swarm merge " + merge.NameOf(t.Branch)
	case t.State == TaskFailed && t.Why == "":
		t.Why, t.Next = "nothing was permitted", "claude-swarm trace "+id
	case t.State == TaskUnverified && t.Result != "":
		t.Next = "claude-swarm read " + t.Result
	}
	return t, nil
}

func (t *Task) hide(c *client.Client) {
	t.Result, t.Next = "", ""
	for i := range t.Parts {
		p := &t.Parts[i]
		p.Next = ""
		if c.MaySee(p.Agent) == nil {
			continue
		}
		p.Subject = ""
		if !p.State.IsOpen() || p.State == TaskAsking {
			p.Why = "" // it quotes the mail
		}
	}
	t.Why = ""
	if len(t.Parts) > 0 && t.Parts[0].State == t.State {
		t.Why = t.Parts[0].Why
	}
}

func (s *taskScan) begin(t *Task, found *taskTrace) (ok bool, err error) {
	byPerson := func(from string) bool { return from == dropbox.Lead || dropbox.IsBridge(from) }
	if found.from != "" && !byPerson(found.from) {
		return false, nil
	}
	if found.first == nil {
		if f, err := s.Store.Find(t.ID); err == nil {
			found.first = &f
		} else if !errors.Is(err, dropbox.ErrNotFound) {
			return false, err
		}
	}
	t.By, t.Subject, t.Asked = found.from, found.subject, found.began
	if found.first == nil {
		return t.By != "", nil // the message has been removed, but the ledger names it
	}
	t.Asked = found.first.Entry.Created
	m, err := s.Store.Load(*found.first)
	if errors.Is(err, dropbox.ErrGone) { // it has moved since
		m, err = s.Store.Message(t.ID)
	}
	switch {
	case errors.Is(err, dropbox.ErrNotFound), errors.Is(err, fs.ErrNotExist), errors.Is(err, dropbox.ErrInvalid), errors.Is(err, dropbox.ErrTooLarge):
		return t.By != "", nil
	case err != nil:
		return false, err
	}
	if !byPerson(m.From) || m.Turn != "" || m.Type == dropbox.Result || !m.Type.Wakes() {
		return false, nil
	}
	t.By, t.Subject, t.Asked = m.From, m.Gist(), m.Created
	if dropbox.IsBridge(m.From) {
		if n, ok := bridge.OriginOf(m, m.From); ok {
			t.Nick = n.Nick
		}
	}
	return true, nil
}
