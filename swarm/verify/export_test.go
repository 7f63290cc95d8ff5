package verify

// AtStep makes a Runner call f after each step that a crash may follow.
func (r *Runner) AtStep(f func(name string)) { r.step = f }

var (
	Match     = match
	EnvironOf = environOf
)

// MostCached is the number of green runs that a Cache keeps.
const MostCached = mostCached

// Add adds a key to the cache.
var Add = (*Cache).add
