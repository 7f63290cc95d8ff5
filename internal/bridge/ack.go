package bridge

import "github.com/claude-swarm/claude-swarm/dropbox"

// acks are the tasks whose person is being told that the agent has them. Nothing else about such
// a task is sent before that: an alert, which overtakes other lines, would otherwise call a task
// complete before anybody has it. The loop owns it.
type acks struct {
	open map[string]bool // by the id of the task
	over func()          // called when a task is no longer in the list
}

// begin records that a person is about to be told. The caller must call end.
func (a *acks) begin(id string) { a.open[id] = true }

func (a *acks) end(id string) {
	delete(a.open, id)
	a.over()
}

// waits reports whether a message must wait, because it is about one of the tasks.
func (a *acks) waits(about conversation) bool {
	return len(a.open) > 0 && (a.open[about.replyTo] || a.open[about.trace] || a.open[about.thread])
}

// A conversation contains the ids that say what a message is about.
type conversation struct{ replyTo, trace, thread string }

func conversationOf(m *dropbox.Message) conversation {
	return conversation{m.ReplyTo, m.Trace, m.Thread}
}
