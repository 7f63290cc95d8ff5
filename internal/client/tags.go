package client

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// TagMark is the prefix of an address that is a tag: @frontend means every agent with the
// tag frontend.
const TagMark = "@"

// A TagError reports that no agent has a tag.
type TagError struct {
	Tag  string
	Near []string // addresses that the sender may have meant, best match first
	Tags []string // all tags, sorted
}

// Error names the existing tags.
func (e *TagError) Error() string {
	if len(e.Tags) == 0 {
		return fmt.Sprintf("no agent has the tag %q, or any other tag", e.Tag)
	}
	return fmt.Sprintf("no agent has the tag %q; the tags are %s%s", e.Tag, TagMark, strings.Join(e.Tags, ", "+TagMark))
}

// ErrOwnTag reports that only the sender has a tag.
var ErrOwnTag = errors.New("no agent but the sender has that tag")

// tagged returns the agents with a tag, except the caller. The error is a [*TagError] or
// wraps [ErrOwnTag].
func (c *Client) tagged(tag string) ([]string, error) {
	with, ok := c.Tags[tag]
	if !ok {
		e := &TagError{Tag: tag, Tags: slices.Sorted(maps.Keys(c.Tags))}
		for _, near := range dropbox.Nearest(tag, e.Tags) {
			e.Near = append(e.Near, TagMark+near)
		}
		if slices.Contains(c.Agents, tag) {
			e.Near = []string{tag}
		}
		return nil, e
	}
	others := slices.DeleteFunc(slices.Clone(with), func(name string) bool { return name == c.Me.Name })
	if len(others) == 0 {
		return nil, fmt.Errorf("%s%s: %w", TagMark, tag, ErrOwnTag)
	}
	return others, nil
}
