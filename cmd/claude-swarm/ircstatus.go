package main

import (
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// ircLine describes the state of the IRC connection in text for people.
func ircLine(s swarm.IRCStatus, now time.Time) string {
	line := "IRC: "
	switch {
	case s.Connected:
		line += fmt.Sprintf("connected to %s as %s", s.Server, s.Nick)
		if s.Since != nil {
			line += " for " + since(*s.Since, now)
		}
		line += ", " + screen.Count(len(s.Channels), "channel")
	default:
		line += "not connected to " + s.Server
		if s.Since != nil {
			line += " for " + since(*s.Since, now)
		}
		if s.Why != "" {
			line += ": " + screen.OneLine(s.Why)
		}
		if s.NextTry != nil && s.NextTry.After(now) {
			line += "; tries again in " + screen.Span(s.NextTry.Sub(now))
		}
	}
	if s.Waiting > 0 {
		line += fmt.Sprintf(", %s to be posted", screen.Count(s.Waiting, "message"))
	}
	if s.Questions > 0 {
		line += fmt.Sprintf(", %s open", screen.Count(s.Questions, "question"))
	}
	for _, w := range s.Warnings {
		line += "\n! " + screen.OneLine(w)
	}
	if s.Next != "" {
		line += "\nnext: " + s.Next
	}
	return line
}
