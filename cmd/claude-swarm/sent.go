package main

import (
	"fmt"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// printSent prints the id of the delivered message. For several messages, it prints one
// line each, with the id and the receiver.
func printSent(c *cli.Context, sent []dropbox.Delivery, waits bool) error {
	if waits {
		c.Context.Done() // starts handling Ctrl-C, because a person may press it as soon as the id is printed
	}
	for _, d := range sent {
		if d.Duplicate {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: duplicate of %s: not sent again\n", d.ID)
		}
	}
	if c.Bool("json") && waits {
		return nil // the answer is the only JSON value that is printed
	}
	if c.Bool("json") {
		type line struct {
			ID        string `json:"id"`
			To        string `json:"to"`
			Duplicate bool   `json:"duplicate"`
		}
		lines := []line{}
		for _, d := range sent {
			lines = append(lines, line{d.ID, d.To, d.Duplicate})
		}
		err := printJSON(c.App.Writer, struct {
			V    int    `json:"v"`
			Sent []line `json:"sent"`
		}{1, lines})
		return unprinted(sent[0].ID, err)
	}
	for _, d := range sent {
		line := d.ID
		if len(sent) > 1 {
			line += "  " + d.To
		}
		if _, err := fmt.Fprintln(c.App.Writer, line); err != nil {
			return unprinted(d.ID, err)
		}
	}
	return nil
}

// hintText returns the text of a message as it appears in a hint.
func hintText(s textSource) string {
	if s.file != "" {
		return "--file " + shellWord(s.file)
	}
	if len(s.words) == 1 && s.words[0] == "-" {
		return "-"
	}
	return `"` + screen.Cut(screen.OneLine(strings.Join(s.words, " ")), 40) + `"`
}
