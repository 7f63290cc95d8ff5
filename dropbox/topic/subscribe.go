package topic

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxPatterns is the maximum number of patterns per subscriber.
const maxPatterns = 64

// Subscribe durably adds patterns to an agent and returns all of its patterns, sorted.
// The error is a [*dropbox.UnknownError] or [*dropbox.NameError] if the agent is unknown
// or its name is invalid, and a [*dropbox.InvalidError] if a pattern is invalid.
func (t Topics) Subscribe(agent string, patterns ...string) ([]string, error) {
	return t.resubscribe(agent, patterns, func(has []string) []string {
		return append(has, patterns...)
	})
}

// Unsubscribe removes the given patterns from an agent, or all of its patterns if none
// are given, and returns the remaining ones. It is not an error if the agent does not
// have one of the patterns.
func (t Topics) Unsubscribe(agent string, patterns ...string) ([]string, error) {
	return t.resubscribe(agent, patterns, func(has []string) []string {
		if len(patterns) == 0 {
			return nil
		}
		return slices.DeleteFunc(has, func(p string) bool { return slices.Contains(patterns, p) })
	})
}

// resubscribe replaces an agent's patterns with a single rename. If two callers change an
// agent's patterns at the same time, the last change wins.
func (t Topics) resubscribe(agent string, patterns []string, change func(has []string) []string) ([]string, error) {
	fail := func(err error) ([]string, error) {
		return nil, fmt.Errorf("subscriptions of %s: %w", agent, err)
	}
	if err := t.store.Known(agent); err != nil {
		return fail(err)
	}
	for _, p := range patterns {
		if err := CheckPattern(p); err != nil {
			return fail(err)
		}
	}
	has, err := t.Subscriptions(agent)
	if err != nil {
		return fail(err)
	}
	has = change(has)
	slices.Sort(has)
	has = slices.Compact(has)
	if len(has) > maxPatterns {
		return fail(invalid("%d patterns; the maximum is %d", len(has), maxPatterns))
	}
	if err := t.makeFolders(); err != nil {
		return fail(err)
	}
	text := strings.Join(append(slices.Clone(has), ""), "\n")
	if err := t.subscriptions.Replace(agent, []byte(text)); err != nil {
		return fail(err)
	}
	return has, nil
}

// Subscriptions lists the patterns of an agent, sorted. It skips invalid lines, because a
// person may have edited the file.
func (t Topics) Subscriptions(agent string) ([]string, error) {
	if dropbox.CheckMailbox(agent) != nil {
		return nil, fmt.Errorf("subscriptions: %w", t.store.Known(agent))
	}
	data, err := t.subscriptions.Read(agent, maxPatterns*(maxTopic+1)*4)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	} else if err != nil {
		return nil, fmt.Errorf("subscriptions of %s: %w", agent, err)
	}
	var has []string
	for line := range strings.Lines(string(data)) {
		if p := strings.TrimSpace(line); CheckPattern(p) == nil {
			has = append(has, p)
		}
	}
	slices.Sort(has)
	return slices.Compact(has), nil
}

// Subscribers returns the sorted names of the agents that have a pattern matching the
// given topic.
func (t Topics) Subscribers(topic string) ([]string, error) {
	names, err := t.subscriptions.Names()
	if err != nil {
		return nil, fmt.Errorf("subscribers of %s: %w", topic, err)
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		if dropbox.CheckMailbox(name) != nil {
			continue
		}
		if err := t.store.Known(name); errors.Is(err, dropbox.ErrNoMailbox) {
			continue
		} else if err != nil {
			return nil, fmt.Errorf("subscribers of %s: %w", topic, err)
		}
		has, err := t.Subscriptions(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(has, func(p string) bool { return Matches(p, topic) }) {
			out = append(out, name)
		}
	}
	return out, nil
}
