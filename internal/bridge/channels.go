package bridge

import (
	"slices"
	"strings"
)

// Channels are the project's channels; "" is none, except that Project must be set.
type Channels struct {
	Project string // what is said without another place
	Standup string
	Work    string // with {task-id} in it; see [Channels.WorkOf]
	Alerts  string
	Errors  string

	// Own are the channels of agents that have some: what such an agent says without
	// another place goes to the first, and it is spoken to there alone, or privately.
	Own map[string][]string
}

// homeOf is where an agent says what has no other place.
func (c Channels) homeOf(agent string) string {
	if own := c.Own[agent]; len(own) > 0 {
		return own[0]
	}
	return c.Project
}

// WorkOf is the channel of a task; "" when there is none.
func (c Channels) WorkOf(taskID string) string {
	return strings.ReplaceAll(c.Work, "{task-id}", taskID)
}

// taskID is how long the id of a conversation is.
const taskID = 10

// taskOf is the conversation whose channel that is, by the name; "" is none.
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

// Hears tells whether an agent is spoken to in a channel.
func (c Channels) Hears(agent, channel string) bool {
	own := c.Own[agent]
	return len(own) == 0 || slices.ContainsFunc(own, func(c string) bool { return strings.EqualFold(c, channel) })
}
