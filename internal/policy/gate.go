package policy

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// A Ceiling limits what may be spent.
type Ceiling interface {
	// Spent returns a one-line reason why nothing more may be spent on messages for that
	// agent in that conversation, or "" if more may be spent. It must be safe for
	// concurrent use.
	Spent(agent, thread string) string
}

// A Gate decides, according to a policy, whether messages may pass, and it remembers past
// messages. It is safe for concurrent use.
type Gate struct {
	ceiling Ceiling // nil means no limit

	mu     sync.Mutex
	policy Policy
	past   Past
	dirty  bool
}

// NewGate creates a gate with an empty past. ceiling may be nil.
func NewGate(p Policy, ceiling Ceiling) *Gate { return &Gate{policy: p, ceiling: ceiling} }

// Set replaces the rules in force. The past is kept.
func (g *Gate) Set(p Policy) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.policy = p
}

// Policy returns the rules in force.
func (g *Gate) Policy() Policy {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.policy
}

// Ask decides whether a message may pass. The past remembers each message that passes at
// the claim. If Ask is called again for the same message, the rate and echo rules neither
// refuse nor count it.
func (g *Gate) Ask(q Question) Verdict {
	if g.ceiling != nil && !q.BeforeDelivery && q.Spent == "" {
		q.Spent = g.ceiling.Spent(q.To, threadOf(q.Message))
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	v := g.policy.Decide(&g.past, q)
	switch {
	case q.BeforeDelivery:
		return v
	case v.Pass:
		g.past.admit(g.policy, q)
	}
	if v.Halt {
		// If a person continues the conversation later, its earlier messages no longer
		// count.
		g.past.forget(threadOf(q.Message))
	}
	g.dirty = g.dirty || v.Pass || v.Halt
	return v
}

// saved is the content of the file that stores a past.
type saved struct {
	V       int                `json:"v"`
	Senders map[string]*sender `json:"senders"`
	Threads map[string]*thread `json:"threads"`
	Known   []string           `json:"known"`
}

const savedVersion = 1

// Load reads a past written by Save. A missing file is not an error. After an error, the
// past is unchanged.
func (g *Gate) Load(path string) error {
	data, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read the recent messages: %w", err)
	}
	var s saved
	if err := json.Unmarshal(data, &s); err != nil {
		return fmt.Errorf("read the recent messages: %s: %w", path, err)
	}
	if s.V != savedVersion {
		return fmt.Errorf("read the recent messages: %s: version %d is unknown", path, s.V)
	}
	past := Past{senders: map[string]*sender{}, threads: map[string]*thread{}}
	for name, one := range s.Senders {
		if one != nil {
			past.senders[name] = one
		}
	}
	for name, one := range s.Threads {
		if one != nil {
			past.threads[name] = one
		}
	}
	for _, id := range s.Known {
		past.remember(id)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	g.past = past
	return nil
}

// Save writes the past if it has changed since the last call. The write is not durable:
// after a power failure, an older past may be on disk.
func (g *Gate) Save(path string) error {
	g.mu.Lock()
	if !g.dirty {
		g.mu.Unlock()
		return nil
	}
	data, err := json.Marshal(saved{savedVersion, g.past.senders, g.past.threads, g.past.order})
	g.dirty = false
	g.mu.Unlock()
	if err == nil {
		err = durable.Files{}.Write(path, durable.Options{Volatile: true}, data)
	}
	if err != nil {
		g.mu.Lock()
		g.dirty = true
		g.mu.Unlock()
		return fmt.Errorf("write the recent messages: %w", err)
	}
	return nil
}
