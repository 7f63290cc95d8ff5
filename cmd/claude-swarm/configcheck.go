package main

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"
	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

func configCommand() *cli.Command {
	return &cli.Command{
		Name:     "config",
		Category: groupProject,
		Usage:    "inspect the configuration",
		Description: `Inspects claude-swarm.yaml.` +
			examples("claude-swarm config check"),
		Subcommands: []*cli.Command{{
			Name:  "check",
			Usage: "show what is in force, or what is wrong",
			Description: `Prints the whole configuration in force, every key with its value, as valid YAML
for the file. A mistake is printed with file, line and column, and the exit
status is 78. Notes name the settings that do not apply to some agents, and the
options that may be misspelled.` +
				examples("claude-swarm config check", "claude-swarm config check --json"),
			Flags:  []cli.Flag{jsonFlag()},
			Action: configCheck,
		}},
	}
}

func configCheck(c *cli.Context) error {
	if err := noArguments(c); err != nil {
		return err
	}
	p, err := loadProject(c)
	if err != nil {
		return err
	}
	if err := checkOutside(p.file); err != nil {
		return badConfig(err)
	}
	all := effective(p.file)
	if c.Bool("json") {
		first := keyed{{"v", 1}, {"path", p.file.Path}}
		if notes := p.file.Notes(); len(notes) > 0 {
			var texts []string
			for _, note := range notes {
				texts = append(texts, note.Error())
			}
			first = append(first, entry{"notes", texts})
		}
		return printJSON(c.App.Writer, append(first, all...))
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := errors.Join(enc.Encode(all), enc.Close()); err != nil {
		return err
	}
	fmt.Fprintf(c.App.Writer, "# in force: %s\n", p.file.Path)
	for _, note := range p.file.Notes() {
		fmt.Fprintf(c.App.Writer, "# note: %v\n", note)
		if note.Try != "" {
			fmt.Fprintf(c.App.Writer, "#   try: %s\n", note.Try)
		}
	}
	_, err = c.App.Writer.Write(out.Bytes())
	return err
}

// effective returns all keys of a configuration with their effective values, in the
// documented order.
func effective(f *config.File) keyed {
	return config.Effective(f, func(keys []string, values []any) keyed {
		all := keyed{}
		for i, key := range keys {
			value := values[i]
			if d, ok := value.(time.Duration); ok {
				value = yamlSpan(d)
			}
			all = append(all, entry{key, value})
		}
		return all
	})
}

// yamlSpan formats a time span without zero units at the end: 10m, not 10m0s.
func yamlSpan(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}
