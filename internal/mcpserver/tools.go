package mcpserver

// tools are all of them, in the order of the documentation; a client gets them by
// their names. One tool is one line here, and a file.
func tools() []tool {
	return []tool{
		reads("whoami", `Get your name, role, zone and lead, the message of your turn, your folders, and whether the daemon runs.`, (*call).whoami),
		reads("list_agents", `List the agents: role, zone, folder, state, and how much mail waits for each. Call it before you send work.`, (*call).listAgents),
		does("send", `Send a message to an agent, several, or the lead. A task or a question begins a turn of the recipient, and the answer comes to you in a later turn; a status or a note wakes nobody and is read with the next turn.`, (*call).send),
		does("ask", `Ask an agent or the lead, and wait for the answer. Use it when you cannot go on without; else send a question. An agent answers after its current turn, so two that ask each other get no answer.`, (*call).ask),
		does("reply", `Answer a message in your mailbox. Your last words answer the message of your turn without this.`, (*call).reply),
		reads("inbox", `List your mailbox: the message of your turn, and those that wait. They stay there.`, (*call).inbox),
		reads("read", `Read the whole text of a message. It stays where it is.`, (*call).read),
		does("publish", `Publish work or news on a topic, when you do not know who should get it. Work (a task, a question, a handoff) is offered to every subscriber; the first that claims it does it, and you get its result. News (a status, a note) goes to every subscriber.`, (*call).publish),
		does("subscribe", `Hear what is published on topics from now on: work comes as a message that offers it, news comes with your next turn.`, (*call).subscribe),
		does("unsubscribe", `End subscriptions. What was offered to you already stays in your mailbox.`, (*call).unsubscribe),
		reads("topics", `List who subscribes to what, and the open work: who published it, and who claimed it.`, (*call).topics),
		does("claim", `Take published work, before you begin with it. One agent alone gets it; the others are told who has it, and must not do it.`, (*call).claim),
		does("ack", `Close published work that you claimed, with its result or why it failed. The end of your turn closes what the message of the turn offered, without this.`, (*call).ack),
		reads("history", `List the last turns of an agent: what they were about, how they ended, and which files they changed.`, (*call).history),
		reads("board_read", `Read the board, which holds what all agents should know.`, (*call).boardRead),
		does("board_write", `Write on the board: how things stand (status), what was decided (decisions), or what your next session should know (handoff). It wakes nobody.`, (*call).boardWrite),
		does("compact_context", `Compact your context after this turn: the client sums it up, and you get your last work back word for word.`, (*call).compactContext),
		does("clear_context", `Clear your context after this turn: your next message begins a new session, which knows your handoff alone.`, (*call).clearContext),
		reads("set_directory", `Change your working folder to another of your folders, and get its CLAUDE.md and its entries. Your conversation goes on.`, (*call).setDirectory),
	}
}
