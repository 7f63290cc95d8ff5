package main

import "github.com/urfave/cli/v2"

// daemonVerbs lists the verbs of the daemon and of its agents.
func daemonVerbs() []*cli.Command {
	return []*cli.Command{
		startCommand(),
		stopCommand(),
		restartCommand(),
		reloadCommand(),
		statusCommand(),
		logsCommand(),
		pauseCommand(),
		resumeCommand(),
		abortCommand(),
		compactCommand(),
		clearCommand(),
		haltCommand(),
		unhaltCommand(),
		doctorCommand(),
		hookCommand(),
		standinCommand(),
	}
}
