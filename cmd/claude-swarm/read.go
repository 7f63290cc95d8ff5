package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

func readCommand() *cli.Command {
	return &cli.Command{
		Name:      "read",
		Category:  groupMail,
		Usage:     "print a message",
		ArgsUsage: "[ID…]",
		Description: `Prints the envelope of a message, an empty line, and its text. It marks a
message in the lead's mailbox as read. Without ID, it prints the oldest unread
message. At least 4 characters from the beginning or the end of an id are
enough.` +
			examples("claude-swarm read k7f3q9m2xd", "claude-swarm read k7f3 --json"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "body", Usage: "print only the text, byte for byte"},
			jsonFlag(),
		},
		Action: withPost(readEach),
	}
}

// A messageView is the JSON form of a message, which --json prints.
type messageView struct {
	V int `json:"v"`
	*view.Message
	File string `json:"file,omitempty"` // path of a dead letter's file
}

// readEach prints the messages named on the command line, or the oldest unread message if
// none is named.
func readEach(c *cli.Context, p *post) error {
	ids := c.Args().Slice()
	if len(ids) == 0 {
		list, err := view.Inbox(p.Client, p.Me.Name, true)
		if err != nil {
			return err
		}
		if len(list) == 0 {
			_, err := fmt.Fprintf(c.App.ErrWriter, "nothing unread in %s\n", p.ownName(p.Me.Name))
			return err
		}
		ids = []string{list[0].ID}
	}
	for i, id := range ids {
		if i > 0 && !c.Bool("json") && !c.Bool("body") {
			fmt.Fprintln(c.App.Writer)
		}
		if err := read(c, p, id); err != nil {
			return err
		}
	}
	return nil
}

func read(c *cli.Context, p *post, id string) error {
	found, m, err := p.message(id)
	if found.Path != "" {
		if err := private(p.MayReadMessage(found, m)); err != nil {
			return err
		}
	}
	switch {
	case err != nil && found.State == dropbox.Dead:
		return hint(err, "claude-swarm dead show %s", found.Entry.ID)
	case err != nil && found.Path != "" && nextStep(err) == "":
		return hint(err, "ls -l %s", shellWord(filepath.Join(p.Store.Dir(), filepath.FromSlash(found.Path))))
	case err != nil:
		return err
	}
	shown := view.Found(p.Client, found, m)
	if found.State == dropbox.Dead || found.State == dropbox.Refused {
		shown.Reason = p.Reason(found)
	}
	switch {
	case c.Bool("json"):
		err = printJSON(c.App.Writer, messageView{V: 1, Message: shown})
	case c.Bool("body"):
		_, err = c.App.Writer.Write(m.Body)
	default:
		p.called(shown)
		writeMessage(c.App.Writer, shown, time.Now())
		if err = p.sayHowToAnswer(c.App.Writer, m); err == nil {
			err = printed(c.App.Writer)
		}
	}
	if err != nil || found.State != dropbox.Waiting || found.Mailbox != dropbox.Lead || p.Me.Name != dropbox.Lead {
		return err
	}
	box, err := p.Own()
	if err != nil {
		return err
	}
	err = box.MarkRead(found.Entry)
	if errors.Is(err, dropbox.ErrGone) {
		return nil // another process has read or filed the message in the meantime
	}
	return err
}

// writeMessage prints a message in human-readable form.
func writeMessage(w io.Writer, v *view.Message, now time.Time) {
	pal := paletteOf(w)
	line := func(name, value string) {
		if value != "" {
			fmt.Fprintf(w, "%s %s\n", pal.paint(fmt.Sprintf("%-9s", name), color.Faint), screen.OneLine(value))
		}
	}
	from := v.From
	if !v.Proven && v.From != dropbox.Swarm {
		from += " (unverified)"
	}
	line("id", v.ID)
	line("from", from)
	line("to", cmp.Or(strings.Join(v.To, ", "), v.Mailbox))
	line("cc", strings.Join(v.CC, ", "))
	kind := string(v.Type)
	if v.Priority != dropbox.Normal.String() {
		kind += ", " + v.Priority
	}
	line("type", kind)
	line("subject", v.Subject)
	line("outcome", v.Outcome)
	line("time", timeText(v.Created, now))
	if v.Thread != v.ID {
		line("thread", v.Thread)
	}
	line("answers", v.ReplyTo)
	line("depends on", strings.Join(v.DependsOn, ", "))
	line("waits for", v.WaitsFor)
	if v.Expires != nil {
		line("expires", timeText(*v.Expires, now))
	}
	line("state", v.State)
	line("reason", v.Reason)
	for _, a := range v.Attachments {
		line("attached", fmt.Sprintf("%s (%s)", a.Path, byteCount(int(a.Size))))
	}
	fmt.Fprintf(w, "\n%s\n", strings.TrimRight(printable(w, []byte(v.Body)), "\n"))
}
