package notice

import (
	"errors"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A row says how the facts of a kind are treated.
type row struct {
	word     journal.Word     // of the notice; "" if the fact has none, or names one itself
	severity journal.Severity // without a notice
	atOnce   bool             // told during quiet hours too
	work     bool             // an agent's work, which is shown during quiet hours too, without its notice
	passing  bool             // may be left out when too many copies wait for the bridge
	latest   bool             // only an agent's latest fact of this kind matters
	// void reports whether a fact kept during the quiet hours no longer needs a person's
	// attention. rest is the fact's key without the kind. nil means that it always does.
	void func(q *Quiet, k journal.Kept, rest string) bool
}

// catalogue contains a row for each kind of fact. The kind is the beginning of the keys, so
// it must not change: a daemon of an earlier version may have told a fact already.
var catalogue = map[string]row{
	// About an agent. A notice tells these.
	"alone":     {word: journal.LimitReached},
	"asked":     {word: journal.AgentQuestion},
	"budget":    {word: journal.BudgetReached},
	"context":   {word: journal.ContextFull, latest: true, void: unlessHeld(func(h journal.Hold) bool { return !h.ContextFull.IsZero() })},
	"late":      {word: journal.AgentTimeout},
	"limited":   {word: journal.LimitReached, latest: true, void: unlimited},
	"spiraling": {word: journal.AgentSpiraling, void: unstuck},
	"stopped":   {word: journal.AgentError, latest: true, void: unlessHeld(func(h journal.Hold) bool { return h.Stopped != nil })},
	"turns":     {word: journal.BudgetReached, latest: true, void: unlessHeld(func(h journal.Hold) bool { return h.Paused != nil })},
	"unpaused":  {word: journal.Unpaused},

	// About mail, work, files and settings. Only the lead's mail tells these.
	"aside":     {severity: journal.Warning},
	"depends":   {severity: journal.Warning},
	"damaged":   {severity: journal.Error, atOnce: true},
	"gone":      {severity: journal.Warning},
	"halted":    {severity: journal.Warning},
	"litter":    {severity: journal.Warning},
	"partial":   {severity: journal.Warning},
	"quiet":     {severity: journal.Warning, atOnce: true}, // the alert at the end of the quiet hours
	"red":       {severity: journal.Warning},
	"refused":   {severity: journal.Warning},
	"rights":    {severity: journal.Warning},
	"stray":     {severity: journal.Warning},
	"tree":      {severity: journal.Warning},
	"unbooked":  {severity: journal.Warning},
	"unclaimed": {severity: journal.Warning, void: claimed},
	"vanished":  {severity: journal.Error},
	"webhook":   {severity: journal.Warning},

	// About one message or turn. These have the names of the events' kinds, and a notice that
	// names its word may come with them.
	"begun":      {severity: journal.Info, work: true, passing: true},
	"dead":       {word: journal.DeadLetter, severity: journal.Error, void: revived},
	"failed":     {severity: journal.Warning, work: true, passing: true},
	"mail":       {severity: journal.Warning, void: answered},            // the daemon's questions to the person
	"result":     {severity: journal.Warning, work: true, passing: true}, // also an answer that cannot be delivered
	"permission": {severity: journal.Info, passing: true},

	// About the task list that a client keeps in an attached session.
	"task_completed": {severity: journal.Info, work: true, passing: true},
	"task_created":   {severity: journal.Info, work: true, passing: true},
}

// kindOf returns the kind of a fact, and the rest of its key.
func kindOf(key string) (kind, rest string) {
	key = strings.TrimPrefix(key, noticedKey)
	i := strings.IndexAny(key, ":- ")
	if i < 0 {
		return key, ""
	}
	return key[:i], key[i+1:]
}

// rowOf returns the row of a fact. A kind that only a later version knows has an empty row.
func rowOf(key string) row {
	kind, _ := kindOf(key)
	return catalogue[kind]
}

// deadKey is the key prefix of the lead's mail about messages that were given up.
const deadKey = "dead:"

// unlessHeld makes a fact void once the agent has left, or its hold does not contain
// something any more.
func unlessHeld(contains func(journal.Hold) bool) func(*Quiet, journal.Kept, string) bool {
	return func(q *Quiet, k journal.Kept, _ string) bool {
		h, ok := q.now.Hold(k.Agent)
		return !ok || !contains(h)
	}
}

func unstuck(q *Quiet, k journal.Kept, escalation string) bool {
	h, ok := q.now.Hold(k.Agent)
	return !ok || !h.IsStuck(escalation)
}

func unlimited(q *Quiet, k journal.Kept, _ string) bool {
	_, ok := q.now.Hold(k.Agent)
	return !ok || !q.now.Limited(k.Agent)
}

func claimed(q *Quiet, _ journal.Kept, publication string) bool { return !q.now.Unclaimed(publication) }

// revived reports whether a message that was given up has been tried again or deleted. The
// lead's mail about such a message stays.
func revived(q *Quiet, k journal.Kept, _ string) bool {
	if !k.Dead {
		return false
	}
	found, err := q.teller.Store.Find(k.About)
	return errors.Is(err, dropbox.ErrNotFound) || err == nil && found.State != dropbox.Dead
}

// answered reports whether a question to the person is no longer in their mailbox.
func answered(q *Quiet, k journal.Kept, _ string) bool {
	if !k.Asks {
		return false
	}
	box, err := q.teller.Store.Mailbox(dropbox.Lead)
	if err != nil {
		return false
	}
	for _, list := range []func() ([]dropbox.Entry, error){box.Peek, box.Claimed} {
		entries, err := list()
		if err != nil || slices.ContainsFunc(entries, func(e dropbox.Entry) bool { return e.ID == k.About }) {
			return false
		}
	}
	return true
}
