// Claude-swarm lets files in folders wake coding agents. Each agent has a mailbox, which is a
// folder. When a person or a program puts a message into the mailbox, the agent works on it,
// and the answer is delivered to the lead's mailbox.
//
// Usage:
//
//	claude-swarm [--config FILE] VERB [ARGUMENT…]
//
// A project is a folder that contains a claude-swarm.yaml. You can run claude-swarm in
// this folder and in every folder below it. Run claude-swarm help for a list of the verbs
// and claude-swarm help VERB for help on one verb.
//
// The exit status is 0 for success, 1 for a failure, 2 for an invalid command line, 3 if
// an agent, message or project does not exist, 4 if the command needs a daemon but none
// is running, 5 after a timeout, 6 if a rule forbids the command, 78 for an invalid
// configuration, and 130 for an interrupted command.
//
// # Files
//
// The files form layers. A file uses only files from its own layer and from the layers
// below it:
//
//	main.go                      one command line, from its arguments to the exit status
//	app.go, args.go, help.go     the flags and the help of all verbs
//	verbs.go                     the list of the verbs
//	send.go, status.go, …        the verbs; related verbs share a file
//	daemon.go, wire.go, irc*.go  the daemon that start runs, with everything that it connects
//	post.go, wait.go, events.go  the project's mail, the answers to it, and the daemon's events
//	client.go, project.go        the daemon and the configuration of a project
//	print.go, table.go, text.go  output for people and for programs
//	errors.go, flags.go …        exit statuses, hints, flags, and the typed command line
//
// # The daemon's goroutines
//
// Besides those of [swarm.Swarm.Run], the daemon has these goroutines and waits for them. The
// first SIGTERM or SIGINT means stop: no further work begins, and running
// turns end. The second one means kill: the running turns are ended. After a SIGKILL,
// the clients lose their standard input and exit after their turn, and the next daemon
// follows them.
//
//	signals    SIGTERM, SIGINT, and SIGHUP, which reloads
//	bridge     the mailbox irc, the connection and .claude-swarm/irc/, unless irc has no server
//	           or is apart; a reload replaces it; it ends after the agents
//	webhooks   the mailbox hooks and webhooks.json; they end after the agents, within 3 s
//	socket     the control socket, and a check every 30 s that its file exists; it ends last, so
//	           callers that wait for the exit of the daemon learn of it
//
// If the bridge or the webhooks end with an error or a panic, the status says so, and the daemon
// starts them again after 5 s, or after up to 5 min if they panic repeatedly.
//
// # Tests
//
// The scripts in testdata/script test the verbs of the complete program, with real daemons
// and a stand-in for the agents' client. The comments in script_test.go list the commands
// that the scripts can use.
//
// No verb refers to the list of verbs directly. Completion reads the verbs from the
// [cli.App] in its context, and [arrange] reports mistyped verbs.
package main

import (
	"context"
	"errors"
	"io"
	"os"
)

func main() {
	os.Exit(run(os.Args, os.Stdin, os.Stdout, os.Stderr))
}

// run executes one command line and returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx := newInterruptible()
	defer ctx.stop()
	out := &output{w: stdout, broken: ctx.cancel} // if the output cannot be written, the verb is cancelled
	app := newApp(args, stdin, out, stderr)
	app.Metadata = map[string]any{typedArgs: args[1:]}
	line, err := arrange(app, args)
	switch {
	case err != nil:
		return report(stderr, err)
	case line.help:
		writeHelp(narrowed(out), app, line.chain)
	default:
		err = withCandidate(app.RunContext(ctx, line.args), args[1:])
		if len(line.chain) > 0 && line.chain[0].Name != "mcp" && line.chain[0].Name != "hook" {
			sayWhispers(stderr)
		}
	}
	lost := printed(out)
	switch {
	case lost == nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case lost != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, lost)):
		err = cannotPrint(lost) // in all other cases, err has more details
	}
	return report(stderr, err)
}
