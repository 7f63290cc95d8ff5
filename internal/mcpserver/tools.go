package mcpserver

// tools returns the tools that every server offers, in the order of the documentation; a
// client gets them sorted by name.
func tools() []tool {
	return []tool{
		reads("whoami", `Get your name, role, zone, lead and folders, the message of your turn, and whether the daemon is running.`, crewOf, crew.whoami),
		reads("list_agents", `List the agents: role, zone, folder, state, and how much mail is waiting for each. Call it before you send work.`, crewOf, crew.list),
		does("send", `Send a message. A task or a question begins a turn of the recipient, and you get the answer in a later turn. A status or a note does not wake the agent: the recipient gets it with its next turn.`, mailOf, mail.send),
		does("ask", `Ask and wait for the answer, if you need it to continue; otherwise send a question. An agent answers after its current turn, so two agents that ask each other get no answer.`, askerOf, asker.ask),
		does("reply", `Answer a message in your mailbox. You do not need this for the message of your turn: your last words answer it.`, mailOf, mail.reply),
		reads("inbox", `List your mailbox: the message of your turn, and the waiting ones. They stay there.`, mailboxOf, mailbox.list),
		reads("read", `Read the whole text of a message. It stays where it is.`, mailboxOf, mailbox.read),
		does("publish", `Publish work or news on a topic if you do not know who should get it. Work (a task, a question, a handoff) is offered to all subscribers; the first to claim it does it, and you get its result. News (a status, a note) goes to all.`, mailOf, mail.publish),
		does("subscribe", `Subscribe to topics: from now on you get published work as a message that offers it, and news with your next turn.`, topicsOf, topics.subscribe),
		does("unsubscribe", `End subscriptions. Earlier offers stay in your mailbox.`, topicsOf, topics.unsubscribe),
		reads("topics", `List who subscribes to what, and the open work: who published it, and who claimed it.`, topicsOf, topics.list),
		does("claim", `Claim published work before you begin it. Only one agent gets it; the others are told which agent has it, and must not do it.`, workOf, work.claim),
		does("ack", `Close published work that you claimed, with its result or why it failed. You do not need this for work that the message of your turn offered: the end of the turn closes it.`, workOf, work.ack),
		reads("history", `List an agent's last turns: what they were about, how they ended, and which files they changed.`, crewOf, crew.history),
		reads("tasks", `List what people asked for, how far it came, who has it, and what it cost.`, crewOf, crew.tasks),
		reads("board_read", `Read the board, which holds what all agents should know.`, boardOf, boardPages.read),
		does("board_write", `Write on the board: the current state (status), decisions (decisions), or what your next session should know (handoff). This wakes no agent.`, boardOf, boardPages.write),
		does("compact_context", `Compact your context after this turn: the client summarizes it, and you get your latest work back verbatim.`, ownTurnOf, ownTurn.compact),
		does("clear_context", `Clear your context after this turn: your next message begins a new session, which gets only your handoff.`, ownTurnOf, ownTurn.clear),
		reads("set_directory", `Change your working folder to another of your folders, and get its CLAUDE.md and its entries. Your conversation continues.`, foldersOf, folders.enter),
	}
}

// budgetTools returns the tools that are offered if the configuration has a cap.
func budgetTools() []tool {
	return []tool{
		reads("budget", `Show how much you may still spend today and on the task of your turn. Once a cap is reached, your mail waits for a person.`, crewOf, crew.budget),
	}
}

// ircTools returns the tools that are offered if IRC is configured. The last five
// duplicate some of the others, with names and defaults that suit any chat system.
func ircTools() []tool {
	return []tool{
		does("irc_send", `Post a message on IRC, to a channel or a person, if others should see it while you work. It returns immediately. Your answer to a message from IRC goes there automatically.`, chatOf, chat.send),
		does("irc_read", `Read the lines posted in a channel since you last read it, oldest first. It does not wait. Call it between two pieces of work; lines addressed to you arrive as messages anyway.`, chatOf, chat.read),
		does("irc_ask", `Ask the people in a channel, or one person, and wait for the answer. Use this only if you cannot continue without it. People may be away.`, chatOf, chat.ask),
		does("irc_join", `Have the bridge join a channel: from then on you can read what is said there.`, chatOf, chat.join),
		does("irc_part", `Have the bridge leave a channel. After that, nobody else in the swarm can read it either.`, chatOf, chat.part),
		reads("irc_channels", `List the channels that the bridge is in: how many people are there, and how much you have not read.`, chatOf, chat.channels),
		reads("irc_who", `List the members of a channel, with their modes: @ is an operator, + has a voice.`, chatOf, chat.who),
		does("irc_topic", `Get the topic of a channel, or set it to text.`, chatOf, chat.topic),
		does("send_message", `Post a message to a channel. The same as irc_send.`, chatOf, chat.sendMessage),
		reads("read_messages", `List recent messages in a channel, newest first, whether you have read them or not.`, chatOf, chat.readMessages),
		does("create_channel", `Create a channel, such as one for a task, or join it if it exists.`, chatOf, chat.createChannel),
		reads("list_channels", `List the names of the active channels; irc_channels gives more details.`, chatOf, chat.listChannels),
		reads("get_members", `List the nicks in a channel; irc_who also lists their modes.`, chatOf, chat.getMembers),
	}
}
