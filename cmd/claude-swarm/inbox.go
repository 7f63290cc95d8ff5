package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

func inboxCommand() *cli.Command {
	return &cli.Command{
		Name:      "inbox",
		Category:  groupMail,
		Usage:     "list what is in a mailbox",
		ArgsUsage: "[AGENT]",
		Description: `Lists the messages in your mailbox: first the open questions, then the others,
each oldest first; the new ones, and those that you have read but not filed.
With AGENT, it lists the messages waiting for AGENT.

Your mailbox is the lead's mailbox. Inside a turn it is the agent's mailbox,
and an agent cannot list other mailboxes. ! marks urgent messages.` +
			examples("claude-swarm inbox --unread", "claude-swarm inbox --json"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "unread", Usage: "only those that are unread"},
			&cli.StringSliceFlag{Name: "done", Usage: "file the message `ID`, and list nothing; more IDs may follow; all means every message except questions"},
			jsonFlag(),
		},
		Action: withPost(inbox),
	}
}

func inbox(c *cli.Context, p *post) error {
	if ids := c.StringSlice("done"); len(ids) > 0 {
		return p.fileAll(c, append(ids, c.Args().Slice()...))
	}
	if c.NArg() > 1 {
		return usagef("claude-swarm inbox "+c.Args().First(), "inbox: one mailbox at a time")
	}
	name := p.Me.Name
	if c.NArg() == 1 && p.isGone(c.Args().First()) {
		name = c.Args().First()
	} else if c.NArg() == 1 {
		names, err := p.recipients(c.Args().First(), "claude-swarm inbox %s")
		if err != nil {
			return err
		}
		if len(names) != 1 {
			return usagef("claude-swarm inbox "+names[0], "inbox: one mailbox at a time")
		}
		name = names[0]
	}
	if err := private(p.MaySee(name)); err != nil {
		return err
	}
	list, err := view.Inbox(p.Client, name, c.Bool("unread"))
	if err != nil {
		return err
	}
	if name == dropbox.Lead {
		view.QuestionsFirst(list)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V        int             `json:"v"`
			Mailbox  string          `json:"mailbox"`
			Messages []*view.Message `json:"messages"`
		}{1, name, list})
	}
	p.called(list...)
	writeInbox(c.App.Writer, name, p.ownName(name), list, time.Now())
	return nil
}

// writeInbox prints a mailbox as a table.
func writeInbox(w io.Writer, name, own string, list []*view.Message, now time.Time) {
	if len(list) == 0 {
		fmt.Fprintf(w, "nothing in %s\n", own)
		return
	}
	pal := paletteOf(w)
	t := table{width: screenWidth(w), keep: 4}
	for _, m := range list {
		about := m.Reason
		if about == "" {
			about = screen.OneLine(m.Gist())
		}
		t.add(m.ID, timeText(m.Created, now), m.State, m.From, string(m.Type), urgentMark(m)+about)
	}
	t.write(w, func(row, column int, cell string) string {
		switch {
		case column == 3:
			return pal.paint(cell, agentColour(list[row].From))
		case list[row].State == view.StateUnread && column != 1:
			return pal.paint(cell, color.Bold)
		}
		return cell
	})
	if name == dropbox.Lead {
		fmt.Fprintln(w)
		writeSteps(w, inboxSteps(list)...)
	}
}

// manyUnread is the number of unread messages at which the inbox says how to file them all.
const manyUnread = 5

// inboxSteps returns the commands that the lead's inbox suggests: first to answer the first
// message if it is a question.
func inboxSteps(list []*view.Message) []string {
	first, unread := list[0], 0
	for _, m := range list {
		if m.Type != dropbox.Question && m.State == view.StateUnread {
			unread++
		}
	}
	steps := []string{"read one: claude-swarm read " + first.ID, "answer: claude-swarm reply ID \"…\""}
	if first.Type == dropbox.Question {
		steps = []string{"a question waits: claude-swarm read " + first.ID, fmt.Sprintf("answer: claude-swarm reply %s \"…\"", first.ID)}
	}
	if unread >= manyUnread {
		steps = append(steps, "file all but questions: claude-swarm inbox --done all")
	}
	return steps
}

func urgentMark(m *view.Message) string {
	if m.Priority == dropbox.Urgent.String() {
		return "! "
	}
	return ""
}

// allButQuestions returns the ids of all messages in the caller's mailbox that are not
// questions.
func (p *post) allButQuestions(c *cli.Context) ([]string, error) {
	list, err := view.Inbox(p.Client, p.Me.Name, false)
	var ids []string
	asked := 0
	for _, m := range list {
		if m.Type == dropbox.Question {
			asked++
			continue
		}
		ids = append(ids, m.ID)
	}
	if asked > 0 && err == nil {
		fmt.Fprintf(c.App.ErrWriter, "%s not filed: answer with claude-swarm reply ID \"…\", or file it by its ID\n", screen.Count(asked, "question"))
	}
	return ids, err
}

// fileAll files messages in the lead's mailbox as done. It rejects agents, because the daemon
// files an agent's mail when the turn ends.
func (p *post) fileAll(c *cli.Context, ids []string) error {
	if err := p.leadOnly("file mail by hand"); err != nil {
		return err
	}
	box, err := p.Own()
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(ids, func(id string) bool { return strings.HasPrefix(id, "-") }); i >= 0 {
		return usagef("claude-swarm inbox --done all", "inbox: --done needs an id or the word all, not %s", ids[i])
	}
	filed := 0
	if slices.Equal(ids, []string{dropbox.All}) {
		if ids, err = p.allButQuestions(c); err != nil {
			return err
		}
	}
	for _, id := range ids {
		found, err := p.find(id)
		if err != nil {
			return err
		}
		if found.Mailbox != p.Me.Name {
			return fail(exitFailed, "claude-swarm cancel "+found.Entry.ID, "%s is in the mailbox of %s; only the lead's own mail is filed by hand", found.Entry.ID, found.Mailbox)
		}
		switch found.State {
		case dropbox.Done:
			if !c.Bool("json") {
				fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s has already been filed\n", found.Entry.ID)
			}
			continue
		case dropbox.Refused:
			return fail(exitFailed, "claude-swarm read "+found.Entry.ID, "%s was refused", found.Entry.ID)
		case dropbox.Dead:
			return fail(exitFailed, "claude-swarm dead show "+found.Entry.ID, "%s is a dead letter", found.Entry.ID)
		}
		if err := box.File(found.Entry); err != nil {
			return err
		}
		filed++
	}
	if !c.Bool("json") {
		fmt.Fprintf(c.App.Writer, "filed %s\n", screen.Count(filed, "message"))
		return nil
	}
	return printJSON(c.App.Writer, struct {
		V     int `json:"v"`
		Filed int `json:"filed"`
	}{1, filed})
}
