package swarm

import (
	"maps"
	"slices"
	"sync"
)

// trouble is what is wrong with the daemon itself, for the status: one sentence
// for each thing that can be wrong. It is safe for several goroutines.
type trouble struct {
	mu   sync.Mutex
	what map[string]string
}

func (t *trouble) set(key, sentence string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what == nil {
		t.what = map[string]string{}
	}
	t.what[key] = sentence
}

func (t *trouble) clear(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.what, key)
}

func (t *trouble) list() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(t.what)) {
		out = append(out, t.what[key])
	}
	return out
}
