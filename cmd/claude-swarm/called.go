package main

import (
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
)

// called replaces the lead's address in views with the lead's name from the configuration.
// Use it only for views that a person reads, because files and --json keep the address.
func (p *post) called(views ...*view.Message) {
	for _, v := range views {
		v.From, v.To, v.CC = p.Called(v.From), p.AllCalled(v.To), p.AllCalled(v.CC)
	}
}

// calledBy returns the name of a mailbox's owner according to a configuration.
func calledBy(f *config.File, mailbox string) string {
	return mail.Names{LeadName: f.LeadName}.Called(mailbox)
}

// called replaces the lead's address in a status with the lead's name from the
// configuration.
func called(st swarm.Status) {
	names := mail.Names{LeadName: st.Lead.Name}
	for _, a := range st.Agents {
		if a.Message != nil {
			a.Message.From = names.Called(a.Message.From)
		}
	}
}
