package dropbox

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
)

// The folders of the topics. They have those of a mailbox, and two more.
const (
	subscriptionsFolder = "subscriptions" // one file for each subscriber, a pattern a line
	grantsFolder        = "grants"        // who has claimed what; see [Store.ClaimOffer]
)

// maxPatterns is the most patterns of one subscriber.
const maxPatterns = 64

func subscriptionFile(name string) string {
	return topicsDir + "/" + subscriptionsFolder + "/" + name
}

// makeTopics makes the folders of the topics. To repeat it is harmless.
func (s *Store) makeTopics() error {
	if err := makeMailbox(s.disk, topicsDir); err != nil {
		return err
	}
	made := false
	for _, folder := range []string{subscriptionsFolder, grantsFolder} {
		there, err := s.disk.exists(topicsDir + "/" + folder)
		if err == nil && !there {
			made = true
			err = s.disk.mkdir(topicsDir + "/" + folder)
		}
		if err != nil {
			return err
		}
	}
	if !made {
		return nil
	}
	return s.disk.syncDir(topicsDir)
}

// Subscribe adds patterns to those of an agent, durable, and returns all that it
// has, sorted. The errors are [*UnknownError] or [*NameError] for the agent and
// [*InvalidError] for a pattern.
func (s *Store) Subscribe(agent string, patterns ...string) ([]string, error) {
	return s.resubscribe(agent, patterns, func(has []string) []string {
		return append(has, patterns...)
	})
}

// Unsubscribe takes patterns away from those of an agent, or all of them when none
// is named, and returns what is left. A pattern that it does not have is not an error.
func (s *Store) Unsubscribe(agent string, patterns ...string) ([]string, error) {
	return s.resubscribe(agent, patterns, func(has []string) []string {
		if len(patterns) == 0 {
			return nil
		}
		return slices.DeleteFunc(has, func(p string) bool { return slices.Contains(patterns, p) })
	})
}

// resubscribe replaces the patterns of an agent by one rename. Two programs that
// change those of one agent at once: the last one wins.
func (s *Store) resubscribe(agent string, patterns []string, change func(has []string) []string) ([]string, error) {
	fail := func(err error) ([]string, error) {
		return nil, fmt.Errorf("subscriptions of %s: %w", agent, err)
	}
	if err := checkMailbox(agent); err != nil {
		return fail(s.misnamed(agent, err))
	}
	if err := s.known(agent); err != nil {
		return fail(err)
	}
	for _, p := range patterns {
		if err := CheckPattern(p); err != nil {
			return fail(err)
		}
	}
	has, err := s.Subscriptions(agent)
	if err != nil {
		return fail(err)
	}
	has = change(has)
	slices.Sort(has)
	has = slices.Compact(has)
	if len(has) > maxPatterns {
		return fail(invalid("%d patterns, %d at most", len(has), maxPatterns))
	}
	if err := s.makeTopics(); err != nil {
		return fail(err)
	}
	scratch := topicsDir + "/" + tmpFolder + "/subscriptions-" + NewID()
	err = s.disk.write(scratch, []byte(strings.Join(append(slices.Clone(has), ""), "\n")))
	if err != nil {
		return fail(err)
	}
	if err := s.disk.replace(scratch, subscriptionFile(agent)); err != nil {
		return fail(errors.Join(err, ignoreMissing(s.disk.remove(scratch))))
	}
	if err := s.disk.syncDir(topicsDir + "/" + subscriptionsFolder); err != nil {
		return fail(err)
	}
	return has, nil
}

// Subscriptions lists the patterns of an agent, sorted. Lines that are no pattern
// are left out: a person may write the file as well.
func (s *Store) Subscriptions(agent string) ([]string, error) {
	if err := checkMailbox(agent); err != nil {
		return nil, fmt.Errorf("subscriptions: %w", s.misnamed(agent, err))
	}
	data, err := s.disk.readFile(subscriptionFile(agent), maxPatterns*(maxTopic+1)*4)
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

// Subscribers lists who has a pattern for this topic, sorted.
func (s *Store) Subscribers(topic string) ([]string, error) {
	names, err := s.disk.names(topicsDir + "/" + subscriptionsFolder)
	if err != nil {
		return nil, fmt.Errorf("subscribers of %s: %w", topic, err)
	}
	slices.Sort(names)
	var out []string
	for _, name := range names {
		if checkMailbox(name) != nil {
			continue
		}
		if is, err := s.isMailbox(name); err != nil {
			return nil, fmt.Errorf("subscribers of %s: %w", topic, err)
		} else if !is {
			continue
		}
		has, err := s.Subscriptions(name)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(has, func(p string) bool { return TopicMatches(p, topic) }) {
			out = append(out, name)
		}
	}
	return out, nil
}
