package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// Control sequences of the terminal.
const (
	screenEnter = "\x1b[?1049h\x1b[?25l\x1b[?7l" // alternate screen, hidden cursor, no line wrapping
	screenLeave = "\x1b[?7h\x1b[?25h\x1b[?1049l"
	screenHome  = "\x1b[H"
	lineClear   = "\x1b[K" // clears from the cursor to the end of the line
	screenClear = "\x1b[J"
)

// watchStatus shows the status until Ctrl-C. On a terminal, it redraws the status in
// place. Elsewhere, it prints the status again whenever the status changes. With --json,
// each status is printed on one line.
func watchStatus(c *cli.Context) error {
	w := c.App.Writer
	live := canRedraw(w) && !c.Bool("json")
	if live {
		fmt.Fprint(w, screenEnter)
		defer fmt.Fprint(w, screenLeave)
	}
	wake := make(chan struct{}, 1)
	ctx, cancel := context.WithCancel(c.Context)
	ended := make(chan struct{})
	go func() { // ends when ctx is done; the code below waits for it
		defer close(ended)
		wakeOnEvents(ctx, c, wake)
	}()
	defer func() { cancel(); <-ended }()

	began := time.Now()
	var before []byte
	for {
		st, err := statusNow(c)
		switch {
		case c.Context.Err() != nil:
			return nil // Ctrl-C is the normal way to end the watch
		case err != nil:
			return err
		}
		now, err := frame(c, st, time.Now())
		if err != nil {
			return err
		}
		if live {
			_, rows := screenSize(w)
			redraw(w, smaller(st, lookOf(c, time.Now()), rows), rows)
		} else if same, err := frame(c, st, began); err != nil {
			return err
		} else if !bytes.Equal(same, before) {
			// The comparison uses the same time for both pictures, so that the passing of
			// time alone does not count as a change.
			if _, err := w.Write(now); err != nil {
				return err
			}
			before = same
		}
		tick := time.NewTimer(time.Second)
		select {
		case <-c.Context.Done():
		case <-wake:
			// Wait briefly, because events come in bursts and people cannot read faster
			// than this.
			tick.Reset(100 * time.Millisecond)
			select {
			case <-tick.C:
			case <-c.Context.Done():
			}
		case <-tick.C:
		}
		tick.Stop()
	}
}

// canRedraw reports whether w is a terminal on which a new picture can replace the previous
// one.
func canRedraw(w io.Writer) bool { return isTerminal(w) && os.Getenv("TERM") != "dumb" }

// frame returns the status as text or JSON. The argument at is the current time, from
// which durations are calculated.
func frame(c *cli.Context, st swarm.Status, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	if c.Bool("json") {
		err := json.NewEncoder(&out).Encode(view.StatusOf(st))
		return out.Bytes(), err
	}
	return []byte(draw(st, lookOf(c, at)).String()), nil
}

// redraw overwrites the old picture line by line, and clears only the screen below it,
// because clearing the whole screen would make it flicker. It clears each line before it
// writes the line, because after a full-width line, the cursor is still on the last
// character.
func redraw(w io.Writer, lines []string, rows int) {
	picture := screenHome + lineClear + strings.Join(lines, "\n"+lineClear)
	if len(lines) < rows || rows == 0 {
		picture += "\n" + screenClear
	}
	fmt.Fprint(w, picture)
}
