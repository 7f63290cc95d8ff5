package mcpserver

// tools are all of them, in the order of the documentation; a client gets them by
// their names. One tool is one line here, and a file.
func tools() []tool {
	return []tool{
		reads("whoami", `Who you are in this swarm: your name, role and zone, who leads, which message your turn works on, in which folders you may work, and whether the daemon runs.`, (*call).whoami),
		reads("list_agents", `The agents of this swarm: what each is for, where it works, whether it is idle, works or is stopped and why, and how much mail waits for it. Ask before you send work to somebody.`, (*call).listAgents),
		does("send", `Send a message to another agent, several, or the lead. It returns at once. A task or a question is worked on in a turn of the recipient, whose answer comes to you as a message in a later turn of yours; status and note wake nobody and are read with the next turn. To wait for an answer use ask.`, (*call).send),
		does("ask", `Ask another agent, or the lead, and wait for the answer. Use it when you cannot go on without; else send a question, and the answer comes in a later turn. An agent answers when the turn that it is in has ended, so two agents that ask each other wait for nothing.`, (*call).ask),
		does("reply", `Answer a message that lies in your mailbox. What your turn works on is answered by your last words at its end, without this.`, (*call).reply),
		reads("inbox", `What lies in your mailbox: what you work on now, and what waits for your next turns. To look takes nothing away.`, (*call).inbox),
		reads("read", `A message with its whole text, by its id. To read takes nothing away.`, (*call).read),
		does("publish", `Publish work or news on a topic, when you do not know who should get it. Work (a task, a question, a handoff) is offered to every agent that subscribes, and done by the one that claims it first; its result comes to you. A status or a note goes to all who subscribe, and nobody answers.`, (*call).publish),
		does("subscribe", `Hear from now on what is published on topics: work is offered to you as a message, news comes along with your next turn. It is kept until you unsubscribe.`, (*call).subscribe),
		does("unsubscribe", `Hear no more of topics that you subscribed to. What was offered to you already stays in your mailbox.`, (*call).unsubscribe),
		reads("topics", `Who subscribes to what, and the published work that is not done: by whom it was published, and who has claimed it.`, (*call).topics),
		does("claim", `Take published work, before you begin with it. Of all who claim, one alone gets it; the others are told who has it, and are not to do it.`, (*call).claim),
		does("ack", `Close published work that you claimed, with its result or with why it failed. Work that was offered to you by the message of this turn is closed by the end of the turn, without this.`, (*call).ack),
		reads("history", `What an agent did: its last turns, what they were about, how they ended, and which files they changed.`, (*call).history),
		reads("board_read", `Read the board, which holds what all agents should know: how things stand, what was decided, and what agents left for their next session.`, (*call).boardRead),
		does("board_write", `Write on the board: how things stand (status), a decision (decisions), or what your next session is to know (handoff). It is kept in files that people and git can read. Nobody is woken by it.`, (*call).boardWrite),
		does("compact_context", `Have your context compacted when this turn has ended: your conversation is summed up by your client, and what you did last is given back word for word.`, (*call).compactContext),
		does("clear_context", `Have your context cleared when this turn has ended: your next message begins a fresh session that knows nothing of this one but the handoff that you leave.`, (*call).clearContext),
		reads("set_directory", `Change to another folder for your work, among those that are yours: it gives the folder's CLAUDE.md and what is in it. Your conversation goes on.`, (*call).setDirectory),
	}
}
