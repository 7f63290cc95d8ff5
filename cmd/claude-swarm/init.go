package main

import (
	"fmt"
	"os"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/provision"
)

func initCommand() *cli.Command {
	return &cli.Command{
		Name:     "init",
		Category: groupProject,
		Usage:    "make this folder a project",
		Description: `Writes claude-swarm.yaml, with comments to follow, makes the mailboxes of the
agents in it, and keeps the daemon's own files out of git. What is there is left
as it is: run it again after an agent was added.` +
			examples("claude-swarm init"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			if err := noArguments(c); err != nil {
				return err
			}
			if c.IsSet("config") {
				return usagef("claude-swarm init", "init writes %s of this folder; --config does not go with it", config.Name)
			}
			dir, err := os.Getwd()
			if err != nil {
				return err
			}
			report, err := provision.Init(dir, provision.Options{})
			if err != nil {
				return initError(err)
			}
			return printInit(c, report)
		},
	}
}

// initError gives a bad configuration its exit status. Everything else is a
// matter of the folder.
func initError(err error) error {
	if isConfigError(err) {
		return badConfig(err)
	}
	return hint(err, "ls -ld .")
}

func printInit(c *cli.Context, r provision.Report) error {
	if r.Above != "" {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: this folder lies in another project, %s\n", r.Above)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			provision.Report
		}{1, r})
	}
	w := c.App.Writer
	if !r.Changed() {
		_, err := fmt.Fprintln(w, "everything is there already")
		return err
	}
	said := map[provision.State]string{provision.Made: "made", provision.Added: "added to"}
	next := "claude-swarm start"
	for _, item := range r.Items {
		if word, ok := said[item.State]; ok {
			fmt.Fprintf(w, "%-9s %s\n", word, item.Path)
		}
		if item.Path == config.Name && item.State == provision.Made {
			next = "look at claude-swarm.yaml, then claude-swarm start"
		}
	}
	_, err := fmt.Fprintf(w, "next: %s\n", next)
	return err
}
