package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"sync"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/mcpserver"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/whisper"
)

// mcpCommand returns a verb that is run by clients, not by people. The program's help
// does not list the verb because it has no category.
func mcpCommand() *cli.Command {
	return &cli.Command{
		Name:  "mcp",
		Usage: "serve the agents' tools to their client",
		Description: `Runs an MCP server on the standard input and output until its client closes the
connection. The agents' clients start it automatically, unless the agent's mcp
key is false; docs/agents-tools.md lists the tools. Inside a turn it
serves the agent, and elsewhere the lead, for example for a client of your own.` +
			examples("claude-swarm mcp </dev/null", "claude mcp add dead-drop -- claude-swarm mcp"),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			path, err := findConfig(c)
			if err != nil {
				return err
			}
			ctx, stop := signal.NotifyContext(c.Context, os.Interrupt, syscall.SIGTERM)
			defer stop()
			irc, capped := offers(path)
			var heard whispers
			server := mcpserver.New(mcpserver.Options{
				Version: version, IRC: irc, Budget: capped, Turn: os.Getenv(runner.MarkVar) != "",
				Open:     func(ctx context.Context) (*mcpserver.Caller, error) { return openCaller(ctx, path) },
				Dial:     heard.dial,
				Listed:   func() { sayReady(c.App.ErrWriter) },
				Whispers: heard.fetch,
			})
			return server.Serve(ctx, c.App.Reader, c.App.Writer)
		},
	}
}

// toolServer returns the command line with which an agent's client starts the MCP server.
func toolServer(program string) *runner.Server {
	return &runner.Server{Command: program, Args: []string{"mcp"}}
}

// sayReady creates the file that tells a backend that the client of its turn has received
// the tools. The file is needed because not every client's protocol reports this. If the
// file cannot be created, sayReady prints the reason to the client's log.
func sayReady(stderr io.Writer) {
	path := os.Getenv(runner.ReadyVar)
	if path == "" {
		return
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		fmt.Fprintln(stderr, "claude-swarm:", err)
	}
}

// offers reports whether the configuration uses IRC and whether it contains a budget cap.
// If the configuration file cannot be loaded, it returns false for both, because every
// tool call reports the error.
func offers(path string) (irc, capped bool) {
	file, err := loadForTools(path)
	if err != nil {
		return false, false
	}
	return file.IRC.On(), budgetOf(file).Bounds()
}

// loadForTools reads the configuration. If the file is invalid during a turn,
// loadForTools returns the configuration that the daemon uses, so that the agent can
// continue to work.
func loadForTools(path string) (*config.File, error) {
	file, err := config.Load(path)
	if _, bad := errors.AsType[config.Errors](err); bad && os.Getenv(runner.AgentVar) != "" {
		if old := config.InForce(path); old != nil {
			return old, nil
		}
	}
	return file, err
}

// openCaller opens the project with its current configuration.
func openCaller(ctx context.Context, path string) (*mcpserver.Caller, error) {
	file, err := loadForTools(path)
	if err != nil {
		return nil, err
	}
	store, err := client.OpenStore(file)
	if err != nil {
		return nil, err
	}
	err = ownMailboxes(journal.HomeOf(file.Dir), store)
	var me journal.Identity
	if err == nil {
		me, err = whoAmI(ctx, file.Dir)
	}
	if err != nil {
		return nil, errors.Join(err, store.Close())
	}
	d := client.New(client.ProjectOf(file, store), me)
	caller := &mcpserver.Caller{Client: d, Project: file.Dir, Plan: planForTools(file), Folders: foldersOf(file, d.Me.Name), Close: store.Close}
	if d.Me.Turn != "" {
		// Without the record, for example of a turn that ended, nothing says that the turn ran in a tree.
		if rec, err := journal.ReadRecord(journal.HomeOf(file.Dir), d.Me.Turn); err == nil && rec.Cwd != "" {
			moveToTree(caller, file, rec)
		}
	}
	return caller, nil
}

// moveToTree makes the caller's folders those of the working tree in which its turn runs: a turn
// that set its folder to the project itself would work in the person's files.
func moveToTree(caller *mcpserver.Caller, file *config.File, rec *journal.Record) {
	top := filepath.Join(file.Dir, filepath.FromSlash(rec.Tree))
	var from string
	for i, a := range caller.Plan.Agents {
		if a.Name == rec.Agent {
			from = a.Client.Dir
			caller.Plan.Agents[i].Client.Dir = rec.Cwd
		}
	}
	folders := []string{rec.Cwd}
	for _, folder := range caller.Folders {
		rel, err := filepath.Rel(from, folder)
		if there := filepath.Join(rec.Cwd, rel); err == nil && folder != mcpserver.WorkFolder(file.DeadDropDir, rec.Agent) && isBelow(there, top) {
			folder = there
		} else if isBelow(file.Dir, folder) {
			folder = top // instead of a folder that contains the project
		}
		if !slices.Contains(folders, folder) {
			folders = append(folders, folder)
		}
	}
	caller.Folders = folders
}

// isBelow reports whether a path is folder or below it. Both are absolute and clean.
func isBelow(path, folder string) bool {
	rel, err := filepath.Rel(folder, path)
	return err == nil && filepath.IsLocal(rel)
}

// planForTools returns the information that the tools report about the agents.
func planForTools(file *config.File) swarm.Plan {
	plan := swarm.Plan{Names: mail.Names{Lead: file.Lead, LeadName: file.LeadName}}
	for _, a := range file.Agents {
		plan.Agents = append(plan.Agents, swarm.Spec{Name: a.Name, AgentSettings: a.AgentSettings})
	}
	return plan
}

// foldersOf returns the folders in which the named agent or the lead may work.
func foldersOf(file *config.File, name string) []string {
	folders := []string{file.ProjectDir}
	if a, ok := file.Agent(name); ok {
		folders = append([]string{a.Client.Dir, file.ProjectDir}, a.AllowedDirs...)
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

// whispers stores the whispers that arrive with the daemon's answers until a tool result
// shows them.
type whispers struct {
	mu    sync.Mutex
	lines []string
}

func (w *whispers) add(line string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lines = append(w.lines, line)
}

func (w *whispers) pop() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	lines := w.lines
	w.lines = nil
	return lines
}

// fetch returns the whispers for the agent in whose turn the server runs, and removes them
// from w.
func (w *whispers) fetch(ctx context.Context, d *mcpserver.Caller) []string {
	if os.Getenv(runner.MarkVar) != "" && whisper.Waits(d.Home, d.Me.Name) {
		if client, err := dialDaemon(ctx, d, w.add); err == nil {
			_ = client.Whispers(ctx) // if this fails, the whispers that were not sent remain pending
			client.Close()
		}
	}
	return w.pop()
}

// dial connects to a project's daemon and collects its whispers in w.
func (w *whispers) dial(ctx context.Context, d *mcpserver.Caller) (mcpserver.Daemon, error) {
	client, err := dialDaemon(ctx, d, w.add)
	if err != nil {
		return nil, err
	}
	return client, nil
}

// dialDaemon connects to a project's daemon. The client calls the function heard with
// each whisper that arrives with the daemon's answers.
func dialDaemon(ctx context.Context, d *mcpserver.Caller, heard func(string)) (*control.Client, error) {
	note, _ := discovery.Holder(d.Home.LockFile())
	client, err := control.Dial(ctx, d.Project, version, os.Getenv, note.Socket)
	if err != nil {
		return nil, err
	}
	client.OnWhisper(heard)
	return client, nil
}
