package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

func deadCommand() *cli.Command {
	return &cli.Command{
		Name:     "dead",
		Category: groupMail,
		Usage:    "manage dead letters: messages that were given up",
		Description: `A message that failed too often, was not a valid message, expired or was
taken back is kept in its mailbox's dead/, with the reason. Nothing is removed
automatically.` +
			examples("claude-swarm dead list", "claude-swarm dead purge --older 30d"),
		Flags:  []cli.Flag{jsonFlag()},
		Action: withPost(deadList), // without a subcommand, it lists the dead letters
		Subcommands: []*cli.Command{
			{
				Name: "list", Usage: "list them", ArgsUsage: "[AGENT…]",
				Description: `Lists the dead letters in the named mailboxes, or in all, oldest first, with the
reasons.` +
					examples("claude-swarm dead list --json"),
				Flags: []cli.Flag{jsonFlag()}, Action: withPost(deadList),
			},
			{
				Name: "show", Usage: "print one, with the reason", ArgsUsage: "ID",
				Description: `Prints a dead letter and the full reason.` +
					examples("claude-swarm dead show k7f3q9m2xd"),
				Flags: []cli.Flag{jsonFlag()}, Action: onMessage(deadShow),
			},
			{
				Name: "retry", Usage: "put it back into its mailbox", ArgsUsage: "ID…",
				Description: `Puts dead letters back into their mailboxes. Their earlier failures no longer
count. One that would be given up again at once is refused; all means every
other one. Only you may do this, not an agent.` +
					examples("claude-swarm dead retry k7f3q9m2xd", "claude-swarm dead retry all"),
				Flags: []cli.Flag{jsonFlag()}, Action: deadRetry,
			},
			{
				Name: "purge", Usage: "delete them", ArgsUsage: "[ID…]",
				Description: `Deletes dead letters: the named ones, those that are older than a given time, or
all. Only you may do this, not an agent.` +
					examples("claude-swarm dead purge k7f3q9m2xd", "claude-swarm dead purge --older 30d"),
				Flags: []cli.Flag{
					spanFlag("older", "those that arrived more than `TIME` ago, such as 12h or 30d"),
					&cli.BoolFlag{Name: "all", Usage: "all of them"},
					jsonFlag(),
				},
				Action: deadPurge,
			},
		},
	}
}

// whyNoRetry returns an error if the letter would immediately become a dead letter again
// after a retry.
func (p *post) whyNoRetry(d view.DeadLetter, now time.Time) error {
	box, err := p.Mailbox(d.Mailbox)
	if err != nil {
		return err
	}
	if err := box.DeadLetters().CheckRetry(d.Letter); err != nil {
		return fail(exitFailed, p.insteadOfRetry(d), "%s would be given up again: %s", d.ID, invalidWhy(err))
	}
	if d.Letter.Original != "" {
		return nil // the letter is a file that was moved aside, and a retry delivers it
	}
	if done, err := box.HasReceipt(d.Letter.Entry); err == nil && done {
		return fail(exitFailed, "claude-swarm trace "+d.ID, "%s is already done: it would be given up again", d.ID)
	}
	if !d.Expires.IsZero() && now.After(d.Expires) {
		return fail(exitFailed, "claude-swarm read "+d.ID+" --body | claude-swarm send "+d.Mailbox+" -",
			"%s expired at %s: it would be given up again", d.ID, timeText(d.Expires, now))
	}
	return nil
}

// invalidWhy returns the reason in an error about a file that is not a message.
func invalidWhy(err error) string {
	if bad, ok := errors.AsType[*dropbox.InvalidError](err); ok {
		return bad.Reason
	}
	return err.Error()
}

// insteadOfRetry says what a person can do with a file that is not a message.
func (p *post) insteadOfRetry(d view.DeadLetter) string {
	path := p.deadFile(d)
	info, err := os.Lstat(path)
	switch {
	case err == nil && info.IsDir():
		return fmt.Sprintf("mv %s/FILE %s/, for each file", screen.TypedWord(path), screen.TypedWord(filepath.Join(p.Store.Dir(), d.Mailbox)))
	case err == nil && info.Mode().IsRegular():
		return fmt.Sprintf("claude-swarm send %s \"…\" --attach %s, or turn it into text first", d.Mailbox, screen.TypedWord(path))
	}
	return "claude-swarm dead show " + d.ID
}

// deadFile returns the path of a dead letter.
func (p *post) deadFile(d view.DeadLetter) string {
	return filepath.Join(p.Store.Dir(), d.Mailbox, "dead", d.Letter.Name)
}

// pickDead finds dead letters by their full or partial ids.
func (p *post) pickDead(ids []string) ([]view.DeadLetter, error) {
	all, err := p.deadLetters()
	if err != nil {
		return nil, err
	}
	return pick(all, ids, "dead letters", func(id string) error {
		found, err := p.find(id)
		if err != nil {
			return unfound("claude-swarm dead list", "dead letter", "", id)
		}
		return fail(exitUnknown, "claude-swarm trace "+found.Entry.ID, "%s is not a dead letter: it is %s in the mailbox of %s",
			found.Entry.ID, view.StateOf(found.Mailbox, found.State), found.Mailbox)
	})
}

func deadList(c *cli.Context, p *post) error {
	list, err := p.deadLetters(c.Args().Slice()...)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int               `json:"v"`
			Letters []view.DeadLetter `json:"letters"`
		}{1, list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "no dead letters")
		return err
	}
	for i, d := range list {
		if i > 0 {
			fmt.Fprintln(c.App.Writer)
		}
		way := d.Mailbox
		if d.From != "" {
			way = p.Called(d.From) + " → " + d.Mailbox
		}
		writeLetter(c.App.Writer, d, d.Created, way, d.Reason)
	}
	if i := slices.IndexFunc(list, func(d view.DeadLetter) bool { return p.whyNoRetry(d, time.Now()) == nil }); i >= 0 {
		fmt.Fprintln(c.App.Writer)
		writeSteps(c.App.Writer, "try again: claude-swarm dead retry "+list[i].ID, "more: claude-swarm dead show ID")
	} else {
		fmt.Fprintf(narrowed(c.App.Writer), "\nmore: claude-swarm dead show %s\n", list[0].ID)
	}
	return nil
}

func deadShow(c *cli.Context, p *post, id string) error {
	picked, err := p.pickDead([]string{id})
	if err != nil {
		return err
	}
	d := picked[0]
	file := p.deadFile(d)
	found, m, err := p.message(d.ID)
	if d.Letter.Original == "" && err == nil {
		shown := view.MessageIn(p.Client, found.Mailbox, found.State, m)
		shown.Reason = d.Reason
		if c.Bool("json") {
			return printJSON(c.App.Writer, messageView{1, shown, file})
		}
		p.called(shown)
		writeMessage(c.App.Writer, shown, time.Now())
		return nil
	}
	// The dead letter is not a readable message, so print only the information about its
	// file.
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V int `json:"v"`
			view.DeadLetter
			State string `json:"state"`
			File  string `json:"file"`
		}{1, d, view.StateDead, file})
	}
	_, err = fmt.Fprintf(c.App.Writer, "id        %s\nmailbox   %s\ntime      %s\nreason    %s\nfile      %s\n",
		d.ID, d.Mailbox, timeText(d.Created, time.Now()), screen.OneLine(d.Reason), file)
	return err
}

func deadRetry(c *cli.Context) error {
	if c.NArg() == 0 {
		return usagef("claude-swarm dead list", "dead retry: name the dead letters")
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	if c.NArg() == 1 && c.Args().First() == dropbox.All {
		return p.retryAll(c)
	}
	picked, err := p.pickDead(c.Args().Slice())
	if err != nil {
		return err
	}
	for _, d := range picked {
		if err := p.whyNoRetry(d, time.Now()); err != nil {
			return err
		}
	}
	return p.retry(c, picked)
}

// retryAll puts back all dead letters, except those that would be given up again.
func (p *post) retryAll(c *cli.Context) error {
	all, err := p.deadLetters()
	if err != nil {
		return err
	}
	var picked []view.DeadLetter
	for _, d := range all {
		if why := p.whyNoRetry(d, time.Now()); why != nil {
			fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %v\n", why)
			continue
		}
		picked = append(picked, d)
	}
	return p.retry(c, picked)
}

// retry puts dead letters back into their mailboxes.
func (p *post) retry(c *cli.Context, picked []view.DeadLetter) error {
	for _, d := range picked {
		box, err := p.Mailbox(d.Mailbox)
		if err == nil {
			err = box.DeadLetters().Retry(d.Letter)
		}
		if err != nil {
			return err
		}
	}
	if err := sayLetters(c, "put back", picked, "dead letter"); err != nil {
		return err
	}
	var to []string
	for _, d := range picked {
		to = append(to, d.Mailbox)
	}
	p.sayHoldups(c, to...)
	return nil
}

func deadPurge(c *cli.Context) error {
	age, all := spanOf(c, "older"), c.Bool("all")
	ways := 0
	for _, given := range []bool{c.NArg() > 0, age > 0, all} {
		if given {
			ways++
		}
	}
	if ways != 1 {
		return usagef("claude-swarm dead purge --older 30d", "dead purge: specify which ones: IDs, --older TIME, or --all")
	}
	p, err := openPost(c)
	if err != nil {
		return err
	}
	defer p.close()
	var picked []view.DeadLetter
	if c.NArg() > 0 {
		picked, err = p.pickDead(c.Args().Slice())
	} else {
		picked, err = p.deadLetters()
		before := time.Now().Add(-age)
		picked = slices.DeleteFunc(picked, func(d view.DeadLetter) bool { return d.Created.After(before) })
	}
	if err != nil {
		return err
	}
	for _, d := range picked {
		box, err := p.Mailbox(d.Mailbox)
		if err == nil {
			err = box.DeadLetters().Purge(d.Letter)
		}
		if err != nil {
			return err
		}
	}
	return sayLetters(c, "removed", picked, "dead letter")
}
