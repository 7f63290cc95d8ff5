// Claude-swarm lets files in folders wake coding agents. Each agent has a
// mailbox, a folder; whoever leaves a message there, by hand or by program, has
// it worked on, and finds the answer in the mailbox of the lead.
//
// Usage:
//
//	claude-swarm [--config FILE] VERB [ARGUMENT…]
//
// A project is a folder with a claude-swarm.yaml; it is found from any folder
// below it. Run claude-swarm help for the verbs, and claude-swarm help VERB for
// one of them.
//
// The exit status is 0 when it is done, 1 when it failed, 2 for a wrong command
// line, 3 when there is no such agent, message or project, 4 when a daemon is
// needed and none runs, 5 after a time-out, 6 when a rule refuses it, 78 for a
// bad configuration, and 130 when it was interrupted.
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

// run is the program as a function: it returns the exit status.
func run(args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	ctx := newInterruptible()
	defer ctx.stop()
	out := &output{w: stdout, broken: ctx.cancel} // who prints for ever is of no use any more
	app := newApp(args, stdin, out, stderr)
	app.Metadata = map[string]any{typedArgs: args[1:]}
	line, err := arrange(app, args)
	switch {
	case err != nil:
		return report(stderr, err)
	case line.help:
		writeHelp(out, app, line.chain)
	default:
		err = oneOf(app.RunContext(ctx, line.args), args[1:])
	}
	lost := printed(out)
	switch {
	case lost == nil && ctx.Err() != nil && errors.Is(err, context.Canceled):
		return exitInterrupted
	case lost != nil && (err == nil || errors.Is(err, context.Canceled) || errors.Is(err, lost)):
		err = cannotPrint(lost) // else the verb knows more about it
	}
	return report(stderr, err)
}
