package provision

import "path/filepath"

// A State describes what a run found or did.
type State string

// These are the states of an [Item].
const (
	Made   State = "made"   // it did not exist and was created
	There  State = "there"  // it existed and was not changed
	Added  State = "added"  // our lines were added to an existing file
	Remade State = "remade" // it is ours and was recreated

	Current State = "current" // it is ours and up to date
	Present State = "present" // it belongs to the person
	Drifted State = "drifted" // it is ours, but was created by another version or has been changed
	Missing State = "missing"

	Removed State = "removed"
	Taken   State = "taken" // our lines were removed from a file that remains; Why names them
	Kept    State = "kept"  // it was not removed or changed; Why is the reason
)

// An Item is one file or folder of a project.
type Item struct {
	Path  string `json:"path"` // relative to the project's folder if the path is inside it
	State State  `json:"state"`
	Why   string `json:"why,omitempty"`
	Try   string `json:"try,omitempty"`
}

// A Report lists what a run found and did, in order.
type Report struct {
	Config string `json:"config"`          // absolute path of claude-swarm.yaml
	Items  []Item `json:"items"`           // after Init, at least claude-swarm.yaml and the mailboxes
	Above  string `json:"above,omitempty"` // the claude-swarm.yaml of a project that contains this one, if any
}

// Changed reports whether [Init] or [Attach] changed anything.
func (r Report) Changed() bool {
	for _, i := range r.Items {
		if i.State != There && i.State != Kept {
			return true
		}
	}
	return false
}

// Sound reports whether nothing is missing and nothing has drifted.
func (r Report) Sound() bool {
	for _, i := range r.Items {
		if i.State == Missing || i.State == Drifted {
			return false
		}
	}
	return true
}

func (r *Report) add(path string, state State, why, try string) {
	r.Items = append(r.Items, Item{Path: short(filepath.Dir(r.Config), path), State: state, Why: why, Try: try})
}

// made adds an item that has just been created or already existed.
func (r *Report) made(path string, now bool) {
	state := There
	if now {
		state = Made
	}
	r.add(path, state, "", "")
}

func (r *Report) kept(path, why string) { r.add(path, Kept, why, "") }

// short returns the path relative to dir if it is in dir, and otherwise the unchanged
// path.
func short(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}
