package main

import "github.com/urfave/cli/v2"

// A verb is a word that is typed after the program's name, together with the function that
// returns its command.
type verb struct {
	name string
	make func() *cli.Command
}

// verbs returns all verbs. The help lists the verbs of each group in this order. Related
// verbs share a file.
func verbs() []verb {
	return []verb{
		{"start", startCommand},
		{"stop", stopCommand},
		{"restart", restartCommand},
		{"reload", reloadCommand},
		{"status", statusCommand},
		{"logs", logsCommand},
		{"pause", pauseCommand},
		{"resume", resumeCommand},
		{"drain", drainCommand},
		{"undrain", undrainCommand},
		{"abort", abortCommand},
		{"compact", compactCommand},
		{"clear", clearCommand},
		{"budget", budgetCommand},
		{"halt", haltCommand},
		{"unhalt", unhaltCommand},
		{"doctor", doctorCommand},
		{"compat", compatCommand},
		{"hook", hookCommand},
		{"init", initCommand},
		{"config", configCommand},
		{"verify", verifyCommand},
		{"merge", mergeCommand},
		{"demo", demoCommand},
		{"completion", completionCommand},
		{"version", versionCommand},
		{"history", historyCommand},
		{"diff", diffCommand},
		{"tasks", tasksCommand},
		{"events", eventsCommand},
		{"mcp", mcpCommand},
		{"irc", ircCommand},
		{"webhooks", webhooksCommand},
		{"send", sendCommand},
		{"inbox", inboxCommand},
		{"read", readCommand},
		{"reply", replyCommand},
		{"cancel", cancelCommand},
		{"remove", removeCommand},
		{"publish", publishCommand},
		{"subscribe", subscribeCommand},
		{"unsubscribe", unsubscribeCommand},
		{"topics", topicsCommand},
		{"claim", claimCommand},
		{"ack", ackCommand},
		{"attach", attachCommand},
		{"dead", deadCommand},
		{"refused", refusedCommand},
		{"trace", traceCommand},
		{completeName, completeCommand},
		{verbTreeName, verbTreeCommand},
	}
}

// commandsFor returns the commands for a command line. If the first word is a verb, it
// creates only the command for that verb, because creating the flags and the help for
// all verbs would take longer than most verbs need to run. Otherwise, and for the
// verbs that list the others, it creates all commands.
func commandsFor(args []string) []*cli.Command {
	all := verbs()
	if len(args) > 1 && args[1] != completeName && args[1] != verbTreeName {
		for _, v := range all {
			if v.name == args[1] {
				return []*cli.Command{v.make()}
			}
		}
	}
	commands := make([]*cli.Command, 0, len(all))
	for _, v := range all {
		commands = append(commands, v.make())
	}
	return commands
}
