package notice

import (
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Old is a fact whose caller still makes its texts.
type Old struct {
	Agent, Key    string
	Notice        journal.Notice
	Subject, Body string
}

func (f Old) told() told {
	return told{Event: journal.Event{Key: f.Key, Agent: f.Agent, Notice: &f.Notice}, subject: f.Subject, body: f.Body}
}
