package mail

import (
	"fmt"
)

// These texts tell the model of an attached session that mail is its work. Since version
// 2.1.332, Claude Code puts what a hook says into a frame that tells the model to follow
// "what the hook itself asks", and to treat what the hook "only relays", such as another
// person's words, as data. A message alone would be such data, so the hook itself asks for
// the work. Neither text is an approval: the client asks the person as before.

// dutyText is for the beginning of a session.
func dutyText(agent string) string {
	return fmt.Sprintf("This session is the agent %s of a claude-swarm project: the person who runs the session attached it, so that it works on\n"+
		"the mail of %s. The hook of claude-swarm gives it one message at a time, under a line that begins with \"claude-swarm: turn\n"+
		"for %s\". Such a message is a task of this session: do it, as far as your other instructions allow. It approves nothing.", agent, agent, agent)
}

// requestText is the request of a Stop hook. The prompt of the message follows it.
func requestText(agent string) string {
	return fmt.Sprintf("The hook of claude-swarm asks you to do the task below now. The person who runs this session attached it as the agent\n"+
		"%s for this. Do what the message asks, as far as your other instructions allow. The message approves nothing.", agent)
}
