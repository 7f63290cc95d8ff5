// Claude-swarm-mcp is the MCP server of the agents' tools. `claude-swarm mcp` becomes
// this program, and the clients of agents start it by themselves:
//
//	claude-swarm-mcp [--config FILE]
//
// It speaks MCP on the standard input and output until its client hangs up. Inside a
// turn it serves the agent, elsewhere the lead.
//
// It is a separate program, to be installed beside claude-swarm, since what it is
// built on is made ready at every start: that would lengthen each `claude-swarm send`
// by a tenth, and each of these servers would hold the whole daemon in memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"syscall"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/door"
	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// version is set by the linker (make build).
var version = "dev"

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintf(os.Stderr, "claude-swarm-mcp: %v\n  try: claude-swarm help mcp\n", err)
		os.Exit(1)
	}
}

func run(args []string, stdin io.Reader, stdout io.Writer) error {
	flags := flag.NewFlagSet("claude-swarm-mcp", flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	named := flags.String("config", "", "")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if flags.NArg() > 0 {
		return errors.New("it takes no arguments")
	}
	path, err := door.FindConfig(*named, os.Getenv)
	if err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	server := mcpserver.New(mcpserver.Options{
		Version: version, IRC: hasIRC(path), Turn: os.Getenv(runner.MarkVar) != "",
		Open: func() (*mcpserver.Desk, error) { return openDesk(path) },
		Dial: dial,
	})
	return server.Serve(ctx, mcpserver.Lines(stdin, stdout))
}

// hasIRC tells whether the configuration has IRC. A file with a mistake is told of by
// every call.
func hasIRC(path string) bool {
	file, err := load(path)
	return err == nil && file.IRC.On()
}

// load reads the configuration. A mistake that comes into it while a turn runs keeps
// the agent from nothing: what the daemon goes by is still in force.
func load(path string) (*config.File, error) {
	file, err := config.Load(path)
	if _, bad := errors.AsType[config.Errors](err); bad && os.Getenv(runner.AgentVar) != "" {
		if old := config.InForce(path); old != nil {
			return old, nil
		}
	}
	return file, err
}

// openDesk reads the project as it is now.
func openDesk(path string) (*mcpserver.Desk, error) {
	file, err := load(path)
	if err != nil {
		return nil, err
	}
	store, err := door.OpenStore(file)
	if err != nil {
		return nil, err
	}
	d, err := door.Open(door.PlaceOf(file, store), os.Getenv)
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	return &mcpserver.Desk{Door: d, Project: file.Dir, Plan: planOf(file), Folders: foldersOf(file, d.Me.Name), Close: store.Close}, nil
}

// planOf is what the tools tell of the agents.
func planOf(file *config.File) swarm.Plan {
	plan := swarm.Plan{Lead: file.Lead, LeadName: file.LeadName}
	for _, a := range file.Agents {
		plan.Agents = append(plan.Agents, swarm.Spec{Name: a.Name, Role: a.Role, Zone: a.Zone, Backend: a.Backend, Attached: a.Attached, Client: runner.Spec{Dir: a.Cwd}})
	}
	return plan
}

// foldersOf are those that somebody may work in.
func foldersOf(file *config.File, name string) []string {
	folders := []string{file.ProjectDir}
	if a, ok := file.Agent(name); ok {
		folders = append([]string{a.Cwd, file.ProjectDir}, a.AllowedDirs...)
	}
	if name != dropbox.Lead {
		folders = append(folders, mcpserver.WorkFolder(file.DeadDropDir, name))
	}
	var list []string
	for _, folder := range folders {
		if !slices.Contains(list, folder) {
			list = append(list, folder)
		}
	}
	return list
}

// dial finds the daemon of a project.
func dial(ctx context.Context, d *mcpserver.Desk) (mcpserver.Daemon, error) {
	note, _ := rendezvous.Holder(d.Home.LockFile())
	client, err := control.Dial(ctx, d.Project, version, os.Getenv, note.Socket)
	if err != nil {
		return nil, err
	}
	return client, nil
}
