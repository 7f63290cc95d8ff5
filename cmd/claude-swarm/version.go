package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/urfave/cli/v2"
)

func versionCommand() *cli.Command {
	return &cli.Command{
		Name:     "version",
		Category: groupProject,
		Usage:    "print the version",
		Description: `Prints the version of this program, and what it was built from. claude-swarm
--version does the same.` +
			examples("claude-swarm version", "claude-swarm version --json"),
		Flags: []cli.Flag{jsonFlag()},
		Action: func(c *cli.Context) error {
			v := newVersionView()
			if c.Bool("json") {
				return printJSON(c.App.Writer, v)
			}
			_, err := fmt.Fprintf(c.App.Writer, "claude-swarm %s (%s)\n", v.Version, v.built())
			return err
		},
	}
}

// A versionView is the JSON output of the verb version.
type versionView struct {
	V        int    `json:"v"`
	Version  string `json:"version"`
	Revision string `json:"revision,omitempty"` // git revision, with + if it was built with uncommitted changes
	Go       string `json:"go"`
	OS       string `json:"os"`
	Arch     string `json:"arch"`
}

func newVersionView() versionView {
	v := versionView{V: 1, Version: version, Go: runtime.Version(), OS: runtime.GOOS, Arch: runtime.GOARCH}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	changed := ""
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Revision = s.Value[:min(len(s.Value), 12)]
		case "vcs.modified":
			if s.Value == "true" {
				changed = "+"
			}
		}
	}
	if v.Revision != "" {
		v.Revision += changed
	}
	return v
}

func (v versionView) built() string {
	text := v.Go + ", " + v.OS + "/" + v.Arch
	if v.Revision != "" {
		text = v.Revision + ", " + text
	}
	return text
}
