package notice

import (
	"maps"
	"slices"
	"sync"
)

// Trouble is the list of the daemon's own problems that the status shows. Each problem is
// described by one sentence. It is safe for concurrent use.
type Trouble struct {
	mu   sync.Mutex
	what map[string]complaint
}

// A complaint describes a problem. If the caller cannot determine when the problem ends,
// mend either checks whether the problem has ended or fixes it. The daemon calls mend
// each time it checks the folders. While mend returns an error, the complaint stays.
type complaint struct {
	sentence string
	mend     func() error
}

// maxTrouble is the maximum number of complaints. Until drops any further complaints.
const maxTrouble = 50

func (t *Trouble) Set(key, sentence string) { t.Until(key, sentence, nil) }

// Until keeps a complaint in the list until mend succeeds.
func (t *Trouble) Until(key, sentence string, mend func() error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.what == nil {
		t.what = map[string]complaint{}
	}
	if _, known := t.what[key]; !known && len(t.what) >= maxTrouble {
		return
	}
	t.what[key] = complaint{sentence, mend}
}

func (t *Trouble) Clear(key string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.what, key)
}

// Mend calls the mend function of each complaint, one after another.
func (t *Trouble) Mend() {
	t.mu.Lock()
	what := maps.Clone(t.what)
	t.mu.Unlock()
	for _, key := range slices.Sorted(maps.Keys(what)) {
		if c := what[key]; c.mend != nil && c.mend() == nil {
			t.Clear(key)
		}
	}
}

func (t *Trouble) List() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []string
	for _, key := range slices.Sorted(maps.Keys(t.what)) {
		out = append(out, t.what[key].sentence)
	}
	return out
}
