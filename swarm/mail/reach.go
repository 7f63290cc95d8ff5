package mail

import (
	"path/filepath"
	"regexp"
	"sync"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// Reach records, for each mailbox, which agents have named its folder in a tool call. It
// is safe for concurrent use.
type Reach struct {
	folder *regexp.Regexp // matches the store's folder, followed by the name of a mailbox, in the input of a tool call
	mu     sync.Mutex
	by     map[string]map[string]bool // by mailbox, then by agent
}

func NewReach(store string) *Reach {
	return &Reach{
		folder: regexp.MustCompile(regexp.QuoteMeta(filepath.Base(store)) + `/([a-z0-9][a-z0-9_-]{0,31})`),
		by:     map[string]map[string]bool{},
	}
}

// Called records the other agents' mailboxes that an agent's tool call names.
func (r *Reach) Called(by string, input []byte) {
	found := r.folder.FindAllSubmatch(input, 16)
	if len(found) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, m := range found {
		name := string(m[1])
		if name == by || dropbox.CheckAgent(name) != nil {
			continue
		}
		if r.by[name] == nil {
			r.by[name] = map[string]bool{}
		}
		r.by[name][by] = true
	}
}

// named reports whether one of the agent's turns has named the mailbox's folder.
func (r *Reach) named(mailbox, agent string) bool {
	if r == nil {
		return false // without a Reach, no tool calls are recorded
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.by[mailbox][agent]
}
