package verify

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// mostCached is the number of green runs that a Cache keeps; the newest stay.
const mostCached = 1000

// A Cache keeps which runs were green. One process writes the file at a time; if two do, an entry
// may be lost, and its verifier runs again. It is safe for concurrent use.
type Cache struct {
	doc *durable.Doc[cacheFile]
}

type cacheFile struct {
	V     durable.Version1     `json:"v"`
	Green map[string]time.Time `json:"green"` // by Settings.key
}

// OpenCache reads the file at path. If the error is a [*durable.DamagedError], the returned
// Cache is empty but usable.
func OpenCache(files durable.Files, path string) (*Cache, error) {
	doc, err := durable.OpenDoc[cacheFile](files, path, durable.DocOptions{
		Lost: "each verifier runs again", Next: "claude-swarm start, which sets it aside",
	})
	if err != nil {
		err = fmt.Errorf("verified trees: %w", err)
	}
	return &Cache{doc}, err
}

// Restore writes the cache if its file is missing.
func (c *Cache) Restore() error { return c.doc.Restore() }

// has returns when a run with this key was green.
func (c *Cache) has(key string) (time.Time, bool) {
	if c == nil {
		return time.Time{}, false
	}
	at, ok := c.doc.Get().Green[key]
	return at, ok
}

// add keeps that a run with this key was green.
func (c *Cache) add(key string, at time.Time) error {
	if c == nil {
		return nil
	}
	return c.doc.Change(func(f *cacheFile) bool {
		f.Green[key] = at.UTC().Round(0)
		for len(f.Green) > mostCached {
			delete(f.Green, slices.MinFunc(slices.Collect(maps.Keys(f.Green)), func(a, b string) int { return f.Green[a].Compare(f.Green[b]) }))
		}
		return true
	})
}
