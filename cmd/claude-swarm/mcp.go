package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// toolsProgram is the name of the MCP server. It is a separate program; its
// package comment says why.
const toolsProgram = "claude-swarm-mcp"

func mcpCommand() *cli.Command {
	return &cli.Command{
		Name: "mcp", Category: groupAgents,
		Usage: "serve the agents' tools to their client",
		Description: `An MCP server on the standard input and output. The clients of agents start it
by themselves, unless their key mcp is false; docs/agents-tools.md lists the
tools. Inside a turn it serves the agent, elsewhere the lead: a client of your
own, for example.

It is the program claude-swarm-mcp, which is installed beside this one.` +
			examples("claude-swarm mcp </dev/null", "claude mcp add dead-drop -- claude-swarm mcp"),
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			path, err := findConfig(c)
			if err != nil {
				return err
			}
			program := findTools()
			if program == "" {
				return fail(exitFailed, installTools, "%s is not installed beside claude-swarm", toolsProgram)
			}
			return syscall.Exec(program, []string{toolsProgram, "--config", path}, os.Environ())
		},
	}
}

// installTools is how the program comes where it belongs.
const installTools = "make build, or go install github.com/claude-swarm/claude-swarm/cmd/...@latest"

// findTools finds the MCP server: beside our own program, else in the PATH. "" is
// nowhere.
func findTools() string {
	if self, err := os.Executable(); err == nil {
		path := filepath.Join(filepath.Dir(self), toolsProgram)
		if info, err := os.Stat(path); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return path
		}
	}
	path, err := exec.LookPath(toolsProgram)
	if err != nil {
		return ""
	}
	if path, err = filepath.Abs(path); err != nil {
		return ""
	}
	return path
}

// sayIfNoTools warns that agents which are to have the tools will not have them. They
// work anyway, and send by shell commands.
func sayIfNoTools(c *cli.Context, p *project) {
	wants := slices.ContainsFunc(p.file.Agents, func(a config.Agent) bool { return a.MCP })
	if !wants || c.Bool(noMCP) || findTools() != "" {
		return
	}
	fmt.Fprintf(c.App.ErrWriter, "claude-swarm: agents get no tools of their own: %s is not installed beside claude-swarm\n  try: %s\n", toolsProgram, installTools)
}

// toolServer is what the clients of agents start; nil where it is not installed.
func toolServer() *runner.Server {
	if path := findTools(); path != "" {
		return &runner.Server{Command: path}
	}
	return nil
}
