package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// voiceLogLines is how many lines of an agent's log a person on IRC gets.
const voiceLogLines = 10

// retry gives a dead letter to its agent again. id may be a part of its id.
func (v daemonVoice) retry(id string) (string, error) {
	names, err := v.store.Mailboxes()
	if err != nil {
		return "", err
	}
	type letter struct {
		dropbox.DeadLetter
		box *dropbox.Mailbox
	}
	var found []letter
	for _, name := range names {
		box, err := v.store.Mailbox(name)
		if err != nil {
			return "", err
		}
		letters, err := box.DeadLetters().List()
		if err != nil {
			return "", err
		}
		for _, d := range letters {
			if d.Original == "" && dropbox.MatchID(d.ID, id) {
				found = append(found, letter{d, box})
			}
		}
	}
	switch len(found) {
	case 0:
		return "", fmt.Errorf("no aborted or failed message %s", screen.Short(id, 20))
	case 1:
	default:
		var ids []string
		for _, d := range found {
			ids = append(ids, d.ID+" of "+d.box.Name())
		}
		return "", fmt.Errorf("%s matches several messages: %s", id, strings.Join(ids, ", "))
	}
	d := found[0]
	if done, err := d.box.HasReceipt(d.Entry); err == nil && done {
		return "", fmt.Errorf("%s is already done: it would be given up again", d.ID)
	}
	if err := d.box.DeadLetters().CheckRetry(d.DeadLetter); err != nil {
		return "", fmt.Errorf("%s would be given up again: %s", d.ID, invalidWhy(err))
	}
	if f, err := v.store.Find(d.ID); err == nil {
		if m, err := v.store.Load(f); err == nil && m.Expired(time.Now()) {
			return "", fmt.Errorf("%s has expired: it would be given up again; send it again", d.ID)
		}
	}
	if err := d.box.DeadLetters().Retry(d.DeadLetter); err != nil {
		return "", err
	}
	return d.box.Name() + " has " + d.ID + " again", nil
}

// logs returns the last lines of an agent's log.
func (v daemonVoice) logs(agent string) (string, error) {
	t, lines, err := openTail(v.project.home.AgentLog(agent), 0, voiceLogLines)
	if err != nil {
		return "", err
	}
	if err := t.close(); err != nil {
		return "", err
	}
	return cmp.Or(strings.TrimRight(string(lines), "\n"), agent+" has written nothing yet"), nil
}

// budget shows the caps or, if words is "raise SCOPE AMOUNT", raises one.
func (v daemonVoice) budget(ctx context.Context, words, by string) (said string, err error) {
	fields := strings.Fields(words)
	if len(fields) == 0 {
		st, err := v.status(ctx)
		if err != nil {
			return "", err
		}
		if st.Budget == nil {
			return "no cap is set", nil
		}
		var lines []string
		for _, row := range st.Budget.Scopes {
			for _, cell := range row.Cells(st.Budget.Digits()) {
				line := fmt.Sprintf("%s: %s of %s spent", row.Scope, cell.Spent, cell.Cap)
				if word := capWord(row, cell); word != "" {
					line += ", " + word
				}
				lines = append(lines, line)
			}
		}
		return strings.Join(lines, "\n"), nil
	}
	if len(fields) != 3 || fields[0] != "raise" {
		return "", errors.New("say which cap, and how much more: budget raise swarm.day 5")
	}
	amount, err := budget.ParseAmount(fields[2], config.ParseSpan)
	if err != nil {
		return "", fmt.Errorf("%w; an amount is %s", err, budget.AmountExamples)
	}
	err = v.ask(ctx, func(ctx context.Context, c *control.Client) error {
		row, err := c.RaiseBudget(ctx, fields[1], amount, by)
		if err != nil {
			return err
		}
		var caps []string
		for _, cell := range row.Cells(screen.Digits(row.Spent.USD)) {
			caps = append(caps, fmt.Sprintf("%s, %s spent", cell.Cap, cell.Spent))
		}
		said = fmt.Sprintf("%s raised by %s: its cap is now %s", row.Scope, amount.Text(), strings.Join(slices.Compact(caps), "; "))
		return nil
	})
	return said, err
}
