package client

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// sendTask sends agents the task in a message for a channel: "TASK: @coder fix the build"
// is a task when the lead posts it, and the policy judges it like any other task. note
// explains why a message that looks like a task does not give one.
func (c *Client) sendTask(at, text string) (tasks []dropbox.Delivery, note string, err error) {
	to, what, ok := ircbridge.TaskFor(text, c.Agents, c.Tags)
	if !ok || !isChannel(at) {
		return nil, "", nil
	}
	to = slices.DeleteFunc(to, func(name string) bool { return name == c.Me.Name })
	switch {
	case c.Me.Name != dropbox.Lead && c.Me.Name != c.Lead:
		return nil, "TASK: gives a task if a person or the lead posts it; from you it reaches nobody. Use send to give one.", nil
	case what == "":
		return nil, "No task follows TASK:, so nobody gets one. Write it as in: TASK: @coder fix the build", nil
	case len(to) == 0:
		return nil, "TASK: names no other agent, so nobody gets it. The agents are " + strings.Join(c.Agents, ", ") + ".", nil
	}
	tasks, err = c.Send(&dropbox.Message{To: to, Type: dropbox.Task, Body: []byte(what + "\n")})
	return tasks, "", err
}
