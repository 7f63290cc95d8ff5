package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
)

// A letter is a message that was set aside for a recorded reason: a [view.DeadLetter] or
// a [view.Refusal].
type letter interface{ Candidate() client.Candidate }

// lettersOf lists the letters in the named mailboxes, or in all mailboxes if none is named.
// next is the command that the error for an unknown name suggests, with %s in place of the
// correct name.
func lettersOf[L letter](p *post, names []string, next string, list func(*client.Client, []string) ([]L, error)) ([]L, error) {
	names, err := p.mailboxes(names, next)
	if err != nil {
		return nil, err
	}
	return list(p.Client, names)
}

// pick finds letters by their full or partial ids and returns each letter once. The
// argument what is the word used for the letters in the error for an ambiguous id. The
// function none returns the error for an id that matches no letter.
func pick[L letter](all []L, ids []string, what string, none func(id string) error) ([]L, error) {
	var picked []L
	for _, id := range ids {
		hits := slices.DeleteFunc(slices.Clone(all), func(l L) bool { return !dropbox.MatchID(idOf(l), id) })
		switch {
		case len(hits) > 1:
			several := &client.AmbiguousError{Part: id, What: what}
			for _, l := range hits {
				several.Candidates = append(several.Candidates, l.Candidate())
			}
			return nil, several
		case len(hits) == 0:
			return nil, none(id)
		case !slices.ContainsFunc(picked, func(l L) bool { return idOf(l) == idOf(hits[0]) }):
			picked = append(picked, hits[0])
		}
	}
	return picked, nil
}

func idOf(l letter) string { return l.Candidate().ID }

// writeLetter prints a letter as a list item: its id, time, sender, receiver and subject,
// with the reason on the next line. The argument way is a string that names the sender
// and the receiver.
func writeLetter(w io.Writer, l letter, created time.Time, way, reason string) {
	columns := textWidth(w)
	fmt.Fprintln(w, screen.Fit(fmt.Sprintf("%s  %s  %s  %s", idOf(l), timeText(created, time.Now()), screen.OneLine(way), screen.OneLine(l.Candidate().Subject)), columns))
	fmt.Fprintln(w, screen.Fit("  "+screen.OneLine(reason), columns))
}

// sayLetters prints what was done and the number of letters. With --json, it prints their
// ids instead.
func sayLetters[L letter](c *cli.Context, what string, letters []L, thing string) error {
	if c.Bool("json") {
		ids := []string{}
		for _, l := range letters {
			ids = append(ids, idOf(l))
		}
		return printJSON(c.App.Writer, struct {
			V   int      `json:"v"`
			IDs []string `json:"ids"`
		}{1, ids})
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s %s\n", what, screen.Count(len(letters), thing))
	return err
}

// deadLetters returns the dead letters in the named mailboxes, or in all mailboxes if none
// is named, oldest first.
func (p *post) deadLetters(names ...string) ([]view.DeadLetter, error) {
	return lettersOf(p, names, "claude-swarm dead list %s", view.DeadLetters)
}

// refusals returns the refused messages to the named mailboxes, or to all mailboxes if
// none is named, oldest first.
func (p *post) refusals(names ...string) ([]view.Refusal, error) {
	return lettersOf(p, names, "claude-swarm refused list %s", view.Refusals)
}
