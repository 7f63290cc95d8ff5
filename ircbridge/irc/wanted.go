package irc

import (
	"maps"
	"slices"
	"sync"
)

// A wanted contains the channels that a client should be in. It is safe for concurrent
// use.
type wanted struct {
	changed chan struct{} // wakes the translator

	mu     sync.Mutex // guards the fields below
	list   []Channel
	again  map[string]bool   // folded names of channels for which Join was called again
	failed map[string]string // for each channel that did not let us in, the reason
}

func newWanted(channels []Channel) *wanted {
	return &wanted{changed: make(chan struct{}, 1), list: slices.Clone(channels), again: make(map[string]bool)}
}

// add adds a channel, or causes a new attempt to join it.
func (w *wanted) add(ch Channel, fold CaseMapping) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(ch.Name, fold)
	w.list = append(w.list, ch)
	w.again[fold.Fold(ch.Name)] = true
	w.wake()
}

// remove removes a channel, and the recorded reason why it did not let us in.
func (w *wanted) remove(channel string, fold CaseMapping) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.drop(channel, fold)
	maps.DeleteFunc(w.failed, func(name, _ string) bool { return fold.Same(name, channel) })
	w.wake()
}

func (w *wanted) drop(channel string, fold CaseMapping) {
	w.list = slices.DeleteFunc(w.list, func(ch Channel) bool { return fold.Same(ch.Name, channel) })
}

func (w *wanted) wake() {
	select {
	case w.changed <- struct{}{}:
	default: // the translator checks the whole list anyway
	}
}

// pending returns the list, and the folded names of the channels for which Join was
// called since the last call to pending.
func (w *wanted) pending() (list []Channel, again map[string]bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	again, w.again = w.again, make(map[string]bool)
	return slices.Clone(w.list), again
}

// fail records why a channel does not let us in; joined removes this record.
func (w *wanted) fail(channel, why string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.failed == nil {
		w.failed = make(map[string]string)
	}
	w.failed[channel] = why
}

func (w *wanted) joined(channel string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.failed, channel)
}

// begin clears the failures of the previous connection.
func (w *wanted) begin() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failed = nil
}

// failures returns the channels that do not let us in, with the reasons.
func (w *wanted) failures() map[string]string {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := make(map[string]string, len(w.failed))
	maps.Copy(all, w.failed)
	return all
}
