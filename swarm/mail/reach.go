package mail

import (
	"bytes"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Reach records the tool calls that name the folder of a mailbox and can write files, with
// the time during which each was running. A file that appeared in that mailbox in that time
// is the file of the call's turn. It is safe for concurrent use.
type Reach struct {
	store   *regexp.Regexp // matches the name of the store's folder in the input of a tool call
	mailbox *regexp.Regexp // matches the store's folder, followed by the name of a mailbox
	slack   func() time.Duration
	mu      sync.Mutex
	by      map[string]*reached // by agent
}

// reached contains what is known about the calls of one agent.
type reached struct {
	turn  string          // the running turn, or the last one
	named map[string]bool // the mailboxes that calls of this turn have named
	calls []writingCall   // oldest first, at most maxWritingCalls
}

// A writingCall is a call that names a mailbox or may name a file in it.
type writingCall struct {
	rec       *journal.Record
	id        string
	mailboxes map[string]bool // that the call names
	store     bool            // whether it names the store's folder
	earlier   map[string]bool // the mailboxes that earlier calls of the turn named
	input     []byte          // the beginning of the input, if the call may name a mailbox in parts
	lasts     bool            // the call starts programs that keep running when it has ended
	begun     time.Time
	ended     time.Time // zero while the call is running
}

const (
	// maxWritingCalls is the maximum number of calls remembered for an agent. A file that is
	// waiting in a mailbox may have been written during one of them.
	maxWritingCalls = 64
	// maxCallInput is the number of bytes of a call's input that are searched for the name
	// of a file.
	maxCallInput = 4 << 10
)

// NewReach returns a Reach for the store in this folder. A file that appears up to slack
// before the daemon reads of a call, or after the call's end, may still be the call's.
func NewReach(store string, slack func() time.Duration) *Reach {
	base := regexp.QuoteMeta(filepath.Base(store))
	return &Reach{
		store:   regexp.MustCompile(base + `\b`),
		mailbox: regexp.MustCompile(base + `/+(?:\./+)*\\?["']?([a-z0-9][a-z0-9_-]{0,31})`),
		slack:   slack,
		by:      map[string]*reached{},
	}
}

// Began records a call that can write files. lasts reports whether programs that the call
// starts keep running when it has ended.
func (r *Reach) Began(rec *journal.Record, id string, input []byte, lasts bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.by[rec.Agent]
	if of == nil {
		of = &reached{}
		r.by[rec.Agent] = of
	}
	if of.turn != rec.Turn {
		of.turn, of.named = rec.Turn, map[string]bool{}
	}
	copied := *rec
	c := writingCall{rec: &copied, id: id, mailboxes: map[string]bool{}, store: r.store.Match(input), earlier: maps.Clone(of.named), lasts: lasts, begun: time.Now()}
	for _, m := range r.mailbox.FindAllSubmatch(input, 16) {
		if name := string(m[1]); dropbox.CheckAgent(name) == nil {
			c.mailboxes[name], of.named[name] = true, true
		}
	}
	if c.store || len(c.earlier) > 0 {
		c.input = bytes.Clone(input[:min(len(input), maxCallInput)])
	}
	if len(c.mailboxes) == 0 && c.input == nil {
		return
	}
	if len(of.calls) >= maxWritingCalls {
		of.calls = slices.Delete(of.calls, 0, 1)
	}
	of.calls = append(of.calls, c)
}

// Ended records that a call has ended.
func (r *Reach) Ended(agent, id string) {
	r.end(agent, func(c *writingCall) bool { return c.id == id && !c.lasts })
}

// TurnEnded records that the agent's turn has ended, and with it all calls.
func (r *Reach) TurnEnded(agent string) { r.end(agent, func(*writingCall) bool { return true }) }

func (r *Reach) end(agent string, which func(*writingCall) bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	of := r.by[agent]
	if of == nil {
		return
	}
	now := time.Now()
	for i := range of.calls {
		if c := &of.calls[i]; c.ended.IsZero() && which(c) {
			c.ended = now
		}
	}
}

// wrote returns the records of the turns that may have written a file into a mailbox: one of
// their calls was running at that time and names the mailbox's folder, or it names the file
// after an earlier call of the turn had named the folder. file is the name of the file, or
// "" for a message that was delivered into new/.
func (r *Reach) wrote(mailbox, file string, at time.Time) (recs []*journal.Record) {
	if r == nil {
		return nil // without a Reach, no tool calls are recorded
	}
	slack := r.slack()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, of := range r.by {
		for i := range of.calls {
			c := &of.calls[i]
			running := !at.Before(c.begun.Add(-slack)) && (c.ended.IsZero() || !at.After(c.ended.Add(slack)))
			if running && (c.mailboxes[mailbox] || c.names(mailbox, file)) {
				recs = append(recs, c.rec)
			}
		}
	}
	return recs
}

// names reports whether a call that does not name the mailbox's folder names it in parts:
// the store's folder, or an earlier call's mailbox, and the mailbox or the file in it.
func (c *writingCall) names(mailbox, file string) bool {
	if c.earlier[mailbox] && file != "" && bytes.Contains(c.input, []byte(file)) {
		return true
	}
	return c.store && bytes.Contains(c.input, []byte(mailbox+"/"))
}
