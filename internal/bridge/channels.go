package bridge

import (
	"slices"
	"strings"
)

// Channels are the project's channels; an empty name means that there is no such channel.
// Project must be set.
type Channels struct {
	Project string // the channel for messages that have no other channel
	Standup string
	Work    string // the channel of a task, with {task-id} in its name; see [Channels.WorkOf]
	Alerts  string
	Errors  string

	// Own maps agents to their own channels, if they have any. A message from such an
	// agent that has no other destination goes to the agent's first channel. People can
	// speak to such an agent only in its channels or privately.
	Own map[string][]string
}

// homeOf returns the channel for an agent's messages that have no other destination.
func (c Channels) homeOf(agent string) string {
	if own := c.Own[agent]; len(own) > 0 {
		return own[0]
	}
	return c.Project
}

// WorkOf returns the channel of a task, or "" if tasks have no channels.
func (c Channels) WorkOf(taskID string) string {
	return strings.ReplaceAll(c.Work, "{task-id}", taskID)
}

// taskID is the length of a conversation's id.
const taskID = 10

// taskOf parses a channel's name and returns the id of the conversation that the channel
// belongs to, or "" if the channel is not a task's.
func (c Channels) taskOf(channel string) string {
	before, after, ok := strings.Cut(strings.ToLower(c.Work), "{task-id}")
	name := strings.ToLower(channel)
	if !ok || len(name) != len(before)+taskID+len(after) || !strings.HasPrefix(name, before) || !strings.HasSuffix(name, after) {
		return ""
	}
	id := name[len(before) : len(before)+taskID]
	if strings.ContainsFunc(id, func(c rune) bool { return (c < 'a' || c > 'z') && (c < '0' || c > '9') }) {
		return ""
	}
	return id
}

// Hears reports whether people can speak to an agent in a channel.
func (c Channels) Hears(agent, channel string) bool {
	own := c.Own[agent]
	return len(own) == 0 || slices.ContainsFunc(own, func(c string) bool { return strings.EqualFold(c, channel) })
}
