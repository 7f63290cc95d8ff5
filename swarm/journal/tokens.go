package journal

import (
	"bytes"
	"crypto/rand"
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// Tokens prove who sent a message. Each name has a separate secret, in a file that only
// its owner can read. Agents that run as the same user can read each other's secrets. So
// the proof protects against mistakes and against text that claims to be from another
// sender, but not against a hostile program run by the same user.
//
// Tokens contains the tokens of a daemon's agents. It is safe for concurrent use.
type Tokens struct {
	home Home
	mu   sync.Mutex
	by   map[string]string // by name
}

// OpenTokens reads the tokens, and creates a token for each of the given names that lacks
// one.
func OpenTokens(home Home, names ...string) (*Tokens, error) {
	t := &Tokens{home: home}
	return t, t.Add(names...)
}

// Add creates a token for each of the given names that lacks one.
func (t *Tokens) Add(names ...string) error {
	all, err := t.home.Tokens(names...)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.by = all
	return nil
}

// Of returns the secret of a sender, or "" if the sender has no secret.
func (t *Tokens) Of(name string) string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.by[name]
}

// Sign returns the proof that a message is from its sender, or "" if the sender has no
// secret.
func (t *Tokens) Sign(m *dropbox.Message, to string) string {
	token := t.Of(m.From)
	if token == "" {
		return ""
	}
	return dropbox.Proof(token, m, to)
}

// SignAgain returns the function that signs copies of a publication. It returns nil if
// the sender did not sign the publication.
func (t *Tokens) SignAgain(m *dropbox.Message) func(*dropbox.Message, string) string {
	token := t.Of(m.From)
	if token == "" || len(m.To) != 1 || !dropbox.Proven(token, m, m.To[0]) {
		return nil
	}
	return t.Sign
}

// Tokens reads all tokens, and creates a token for each of the given names that lacks
// one.
func (h Home) Tokens(names ...string) (map[string]string, error) {
	t, err := tokens.Read(h.dir)
	if err != nil {
		return nil, err
	}
	missing := false
	for _, name := range names {
		if t[name] == "" {
			t[name] = rand.Text()
			missing = true
		}
	}
	if !missing {
		return t, nil
	}
	if err := h.writeTokens(t); err != nil {
		return nil, err
	}
	return t, nil
}

// writeTokens durably writes all tokens.
func (h Home) writeTokens(all map[string]string) error {
	var out bytes.Buffer
	for _, name := range slices.Sorted(maps.Keys(all)) {
		fmt.Fprintf(&out, "%s %s\n", name, all[name])
	}
	if err := h.Make(); err != nil {
		return err
	}
	if err := h.files.Write(tokens.File(h.dir), durable.Options{}, out.Bytes()); err != nil {
		return fmt.Errorf("write the tokens: %w", err)
	}
	return nil
}
