package mcpserver

// tools are all of them, in the order of the list that a client gets. One tool is
// one line here, and a file.
func tools() []tool {
	return []tool{
		reads("whoami", `Who you are in this swarm: your name, role and zone, who leads, which message your turn works on, in which folders you may work, and whether the daemon runs.`, (*call).whoami),
		does("send", `Send a message to another agent, several, or the lead. It returns at once. A task or a question is worked on in a turn of the recipient, whose answer comes to you as a message in a later turn of yours; status and note wake nobody and are read with the next turn.`, (*call).send),
	}
}
