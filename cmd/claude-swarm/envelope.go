package main

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// The verbs send, reply and publish share the following flags.

func fileFlag() cli.Flag {
	return &cli.StringFlag{Name: "file", Usage: "take the text from `FILE`"}
}

func attachFlag() cli.Flag {
	return &cli.StringSliceFlag{Name: "attach", Usage: "send `FILE` along; can be repeated"}
}

func priorityFlag() cli.Flag {
	return &cli.StringFlag{Name: "priority", Value: "normal", Usage: "`P`: urgent, normal or low; default normal"}
}

// envelopeOf returns a message without text or recipients, based on the flags of send.
func envelopeOf(c *cli.Context) (*dropbox.Message, error) {
	m := &dropbox.Message{
		Type:    dropbox.Type(c.String("type")),
		Subject: screen.OneLine(c.String("subject")),
		Key:     c.String("key"),
	}
	if !m.Type.Valid() {
		return nil, badWord("type", string(m.Type), typeWords())
	}
	var err error
	if m.Priority, err = priorityOf(c); err != nil {
		return nil, err
	}
	for _, flag := range []string{"now", "interrupt"} {
		if !c.Bool(flag) {
			continue
		}
		if m.Priority != dropbox.Urgent && c.IsSet("priority") {
			return nil, usagef(`claude-swarm send coder "…" --`+flag, "--%s makes a message urgent, but --priority is %s", flag, m.Priority)
		}
		m.Priority = dropbox.Urgent
	}
	if when, ok := c.Generic("expires").(*whenValue); ok {
		m.Expires = when.at
	}
	return m, nil
}

// priorityOf returns the priority from the --priority flag.
func priorityOf(c *cli.Context) (dropbox.Priority, error) {
	said := c.String("priority")
	p, err := dropbox.ParsePriority(said)
	if err != nil {
		return p, badWord("priority", said, []string{"urgent", "normal", "low"})
	}
	return p, nil
}

func typeWords() []string {
	var words []string
	for _, t := range dropbox.Types() {
		words = append(words, string(t))
	}
	return words
}

// badWord returns the error for a flag whose value is not one of the given words.
func badWord(flag, value string, words []string) error {
	next := "--" + flag + " " + words[0]
	text := fmt.Sprintf("--%s: %q is not one of %s", flag, value, strings.Join(words, ", "))
	if near := nearest(value, words); near != "" {
		next = "--" + flag + " " + near
	}
	return usagef(next, "%s", text)
}

// attachments puts the files that --attach names into the store.
func (p *post) attachments(c *cli.Context) ([]dropbox.Attachment, error) {
	var list []dropbox.Attachment
	for _, path := range c.StringSlice("attach") {
		a, err := p.attach(path)
		if err != nil {
			return nil, err
		}
		list = append(list, a)
	}
	return list, nil
}

// attach puts a file into the store.
func (p *post) attach(path string) (dropbox.Attachment, error) {
	a, err := p.Attach(path)
	switch {
	case isFileError(err):
		return a, hintFile(err)
	case errors.Is(err, fs.ErrNotExist):
		return a, fail(exitFailed, "ls "+shellWord(filepath.Dir(path)), "no file %s to attach", path)
	case errors.Is(err, client.ErrNotRegular):
		next := "tar -cf all.tar " + shellWord(path) + "   (then --attach all.tar)"
		if info, err := os.Stat(path); err == nil && !info.IsDir() { // for a device or a pipe, tar would store only the name
			next = "cat " + shellWord(path) + " >copy   (then --attach copy)"
		}
		return a, fail(exitFailed, next, "%s is not a regular file", path)
	}
	return a, refused(err, "")
}
