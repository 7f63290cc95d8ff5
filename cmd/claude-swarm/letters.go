package main

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/door"
)

// A letter is a message that lies aside with a reason: it is dead, or a rule refused
// it.
type letter interface {
	id() string
	created() time.Time
	candidate() door.Candidate
}

// lettersIn gathers letters from the named mailboxes, or from all, oldest first. next
// is what to type instead of a wrong name, with %s for the right one.
func lettersIn[L letter](p *post, names []string, next string, in func(*dropbox.Mailbox) ([]L, error)) ([]L, error) {
	names, err := p.mailboxes(names, next)
	if err != nil {
		return nil, err
	}
	list := []L{}
	for _, name := range names {
		box, err := p.Mailbox(name)
		if err != nil {
			return nil, err
		}
		letters, err := in(box)
		if err != nil {
			return nil, err
		}
		list = append(list, letters...)
	}
	slices.SortStableFunc(list, func(a, b L) int { return a.created().Compare(b.created()) })
	return list, nil
}

// pick finds letters by parts of their ids, each once. what they are is said where
// a part stands for several; of one that fits none, none says what is wrong.
func pick[L letter](all []L, ids []string, what string, none func(id string) error) ([]L, error) {
	var picked []L
	for _, id := range ids {
		hits := slices.DeleteFunc(slices.Clone(all), func(l L) bool { return !dropbox.MatchID(l.id(), id) })
		switch {
		case len(hits) > 1:
			several := &door.AmbiguousError{Part: id, What: what}
			for _, l := range hits {
				several.Candidates = append(several.Candidates, l.candidate())
			}
			return nil, several
		case len(hits) == 0:
			return nil, none(id)
		case !slices.ContainsFunc(picked, func(l L) bool { return l.id() == hits[0].id() }):
			picked = append(picked, hits[0])
		}
	}
	return picked, nil
}

// writeLetter prints a letter for a list: what it is, and the reason below. way is from
// whom to whom.
func writeLetter(w io.Writer, l letter, way, subject, reason string) {
	columns := textWidth(w)
	fmt.Fprintln(w, fit(fmt.Sprintf("%s  %s  %s  %s", l.id(), moment(l.created(), time.Now()), oneLine(way), oneLine(subject)), columns))
	fmt.Fprintln(w, fit("  "+oneLine(reason), columns))
}

// noReason stands where a reason has been lost.
const noReason = "no reason is kept"

// sayLetters says what was done to which.
func sayLetters[L letter](c *cli.Context, what string, letters []L, thing string) error {
	if c.Bool("json") {
		ids := []string{}
		for _, l := range letters {
			ids = append(ids, l.id())
		}
		return printJSON(c.App.Writer, struct {
			V   int      `json:"v"`
			IDs []string `json:"ids"`
		}{1, ids})
	}
	_, err := fmt.Fprintf(c.App.Writer, "%s %s\n", what, count(len(letters), thing))
	return err
}
