package main

import (
	"fmt"
	"io"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// progress shows a person at a terminal where the message is, in one line that it redraws.
// Without a terminal, it prints nothing.
type progress struct {
	w     io.Writer
	on    bool
	drawn bool
	text  string
	since time.Time
}

func newProgress(w io.Writer) *progress {
	return &progress{w: w, on: isTerminal(w), since: time.Now()}
}

// every returns a ticker for redrawing the line. It never ticks if the output is not a
// terminal.
func (s *progress) every() *time.Ticker {
	t := time.NewTicker(time.Second)
	if !s.on {
		t.Stop()
	}
	return t
}

func (s *progress) say(d dropbox.Delivery, state dropbox.State, now time.Time) {
	switch {
	case d.To == dropbox.Lead:
		s.text = "is waiting for the lead"
	case state == dropbox.Claimed:
		s.text = d.To + " is working on it"
	case state == dropbox.Done:
		s.text = d.To + " has done it"
	default:
		s.text = "is waiting in the mailbox of " + d.To
	}
	s.draw(now)
}

func (s *progress) draw(now time.Time) {
	if !s.on || s.text == "" {
		return
	}
	fmt.Fprintf(s.w, "\r\033[K%s · %s", s.text, screen.Span(now.Sub(s.since)))
	s.drawn = true
}

func (s *progress) clear() {
	if s.drawn {
		fmt.Fprint(s.w, "\r\033[K")
		s.drawn = false
	}
}
