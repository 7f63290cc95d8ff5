package main

import (
	"fmt"
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// questionFlags returns the flags of the verbs that ask a question and wait for the
// answer.
func questionFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "answerers", Usage: "`WHO` may answer: human, any or first"},
		&cli.StringFlag{Name: "on-timeout", Usage: "what to `DO` if nobody answers in time: continue (the default; exit status 5), deny (print No.), pause or abort (the agent whose turn this is)"},
	}
}

// An unanswered specifies who may answer a question and what happens if no answer arrives
// in time.
type unanswered struct {
	post      *post
	answerers string // "" if the flag is not set
	onTimeout string

	lack client.Lack // must be set before end is called
}

// unansweredOf returns the values of the flags --answerers and --on-timeout. The argument
// as is the command line without these flags.
func (p *post) unansweredOf(c *cli.Context, as string) (u unanswered, err error) {
	u = unanswered{post: p, answerers: c.String("answerers"), onTimeout: c.String("on-timeout")}
	who := []string{client.ByHuman, client.ByAny, client.ByFirst}
	does := []string{client.AtContinue, client.AtPause, client.AtDeny, client.AtAbort}
	switch {
	case u.answerers != "" && !slices.Contains(who, u.answerers):
		return u, badWord("answerers", u.answerers, who)
	case u.onTimeout != "" && !slices.Contains(does, u.onTimeout):
		return u, badWord("on-timeout", u.onTimeout, does)
	case (u.onTimeout == client.AtPause || u.onTimeout == client.AtAbort) && p.Me.Turn == "":
		return u, usagef(as+" --on-timeout deny", "--on-timeout %s is for an agent in its turn, and this is not a turn", u.onTimeout)
	}
	return u, nil
}

// asked records the unanswered questions for end.
func (u *unanswered) asked(text string, patience time.Duration, sent []dropbox.Delivery, of func(dropbox.Delivery) string) {
	u.lack = client.Lack{Text: text, Patience: patience}
	for _, d := range sent {
		u.lack.Asked = append(u.lack.Asked, swarm.PauseQuestion{ID: d.ID, Of: of(d), Agents: u.answerers == client.ByAny})
	}
}

// end performs the action that --on-timeout specifies for a question that was not
// answered in time. The argument late is the error about the missing answer.
func (u *unanswered) end(c *cli.Context, late error) error {
	waited, id := screen.Span(u.lack.Patience), u.lack.Asked[0].ID
	me := u.post.Me.Name
	switch u.onTimeout {
	case client.AtDeny:
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: nobody answered %s within %s: treat that as a no\n", id, waited)
		if c.Bool("json") {
			return printJSON(c.App.Writer, struct {
				V       int    `json:"v"`
				ID      string `json:"id"`
				Outcome string `json:"outcome"`
				Text    string `json:"text"`
			}{1, id, client.AtDeny, client.Denied})
		}
		_, err := fmt.Fprintln(c.App.Writer, client.Denied)
		return err
	case client.AtPause:
		err := ask(c, u.post.project, func(d *control.Client, by string) error {
			return d.Pause(c.Context, me, swarm.PauseOrder{By: by, Why: u.lack.Why(), Questions: u.lack.Asked})
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s is paused after this turn, until somebody answers or resumes it\n", me)
	case client.AtAbort:
		fmt.Fprintln(c.App.ErrWriter, "claude-swarm: this turn is being aborted")
		return ask(c, u.post.project, func(d *control.Client, by string) error {
			_, err := d.Abort(c.Context, me, by, u.lack.Why())
			return err
		})
	}
	return late
}
