package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/lineage"
	"github.com/claude-swarm/claude-swarm/internal/rights"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// callerPatience is how long a verb waits for the daemon to say who the caller is. A daemon
// that is suspended or overloaded does not prevent anybody from sending.
const callerPatience = time.Second

// startPatience is how long a verb waits for a daemon that holds its lock and has not written
// its note. A daemon writes it within milliseconds, but later on a busy machine.
const startPatience = 5 * time.Second

// whoAmI returns the agent in whose turn this process runs, or the lead.
func (p *project) whoAmI(ctx context.Context) (journal.Identity, error) {
	return whoAmI(ctx, p.dir)
}

// whoAmI returns the agent in whose turn this process runs, or the lead. The daemon of the
// project decides, because it sees all processes. A process in a separate PID namespace, as in
// a sandbox, does not see its ancestors. Only if no daemon runs or answers, this process
// decides by itself.
//
// A daemon that was killed leaves its note behind, and its successor holds the lock before it
// has written a note. So whoAmI asks again before it refuses.
func whoAmI(ctx context.Context, dir string) (journal.Identity, error) {
	home := journal.HomeOf(dir)
	for deadline := time.Now().Add(startPatience); ; {
		note, held := discovery.Holder(home.LockFile())
		if !held {
			return journal.WhoAmI(home, os.Getenv)
		}
		who, err := askWho(ctx, dir, note.Socket)
		if answer, ok := errors.AsType[*control.Error](err); ok && answer.Code == control.CodeUntraced {
			if os.Getenv(runner.MarkVar) != "" { // the environment names a turn that is not running here
				return journal.Identity{}, &journal.TraceError{Why: answer.Message}
			}
			return journal.Identity{}, fail(exitRefused, answer.Hint, "%s", answer.Message)
		}
		late, elsewhere := time.Now().After(deadline), note.Namespace != "" && note.Namespace != lineage.PIDNamespace()
		switch {
		case err == nil:
			return home.IdentityOf(who, os.Getenv)
		case ctx.Err() != nil:
			return journal.Identity{}, ctx.Err()
		case !elsewhere && (late || note.PID != 0):
			return journal.WhoAmI(home, os.Getenv)
		case late:
			return journal.Identity{}, fail(exitRefused, "type it in a terminal on the machine where the daemon runs",
				"the daemon (pid %d) does not say who is asking, and its processes cannot be seen from here", note.PID)
		}
		time.Sleep(20 * time.Millisecond) // the interval between checks; the deadline limits their number
	}
}

// ownMailboxes returns an error if the daemon of another project works with the mailboxes.
// Through a second configuration, an agent could otherwise write to them as a person.
func ownMailboxes(home journal.Home, store *dropbox.Store) error {
	if lockHeld(home) {
		return nil // the project's daemon holds both locks
	}
	holder, held := store.Holder()
	if !held || lockHeld(home) { // the daemon may have just started
		return nil
	}
	return fail(exitRefused, "the configuration of that project", "the mailboxes in %s belong to the daemon of another project: %s", store.Dir(), holder)
}

// askWho asks the daemon for whom this process runs.
func askWho(ctx context.Context, dir, socket string) (journal.Caller, error) {
	ctx, cancel := context.WithTimeout(ctx, callerPatience)
	defer cancel()
	c, err := control.Dial(ctx, dir, version, os.Getenv, socket)
	if err != nil {
		return journal.Caller{}, err
	}
	who, err := c.WhoAmI(ctx, journal.ClaimOf(os.Getenv))
	return who, errors.Join(err, c.Close())
}

// rightful makes a verb check the caller's right before it does anything.
func rightful(verb *cli.Command, name string) {
	entry, action := rights.OfVerb(name), verb.Action
	if action == nil || entry.Right <= rights.Known { // a verb that needs to know the caller finds out by itself
		return
	}
	verb.Action = func(c *cli.Context) error {
		if err := refuseWithout(c, entry, name); err != nil {
			return err
		}
		return action(c)
	}
}

// folderOf returns the folder of the project that a verb changes, or "" for none. init changes
// the project in the working folder, and with --check it changes nothing.
func folderOf(c *cli.Context, name string) (string, error) {
	if name == "init" {
		if c.Bool("check") {
			return "", nil
		}
		return os.Getwd()
	}
	path, _, err := whichConfig(c)
	if err != nil {
		return "", nil // the verb reports this itself
	}
	return filepath.Dir(path), nil
}

// mayActFor checks that the caller may act in the name of an agent: a person may for each
// agent, and an agent only for itself. doing says what only the lead may do for others, such
// as "change the topics of another agent".
func mayActFor(me journal.Identity, agent, doing string) error {
	if me.Name == dropbox.Lead || me.Name == agent {
		return nil
	}
	return fail(exitRefused, askLead, "only the lead may %s, not %s", doing, me.Name)
}

// refuseWithout returns an error if the caller lacks the right to a verb. Outside a project
// nobody is refused, because the verb itself then reports that a project is missing.
func refuseWithout(c *cli.Context, entry rights.Entry, name string) error {
	dir, err := folderOf(c, name)
	if dir == "" || err != nil {
		return err
	}
	me, err := whoAmI(c.Context, dir)
	if _, ok := errors.AsType[*journal.TraceError](err); ok && !lockHeld(journal.HomeOf(dir)) {
		return nil // a turn of another project, and no daemon runs in this one
	} else if err != nil {
		return err
	}
	who := rights.Caller{InTurn: me.InTurn()}
	if me.Name != dropbox.Lead {
		who.Agent = me.Name
	}
	if entry.Right.Allows(who) || name == "pause" && strings.Join(namesIn(c), " ") == me.Name {
		return nil
	}
	return fail(exitRefused, askLead, "only the lead may %s, not %s", entry.Doing, me.Name)
}
