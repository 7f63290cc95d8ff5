package client

import (
	"errors"
	"fmt"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/config"
)

// Channels contains the IRC settings of the configuration.
type Channels struct {
	Project string              // the default channel
	Alerts  string              // the channel where people learn which agents are waiting for them; "" for none
	Buffer  int                 // the number of lines to keep for each channel
	Known   []string            // the channels in the configuration
	Own     map[string][]string // the agents' own channels, by agent; no entry for an agent without channels
}

// ErrNoIRC reports that IRC is not configured.
var ErrNoIRC = errors.New("IRC is not configured")

// channelsOf returns the IRC settings of a configuration, or nil if it has none.
func channelsOf(file *config.File) *Channels {
	i := file.IRC
	if !i.On() {
		return nil
	}
	c := &Channels{Project: i.Channel(i.Channels.Project), Alerts: i.Channel(i.Channels.Alerts), Buffer: i.BufferSize, Own: i.Own}
	for _, t := range append([]string{i.Channels.Project, i.Channels.Standup, i.Channels.Alerts, i.Channels.Errors}, i.Join...) {
		if t != "" {
			c.Known = append(c.Known, i.Channel(t))
		}
	}
	for _, own := range i.Own {
		c.Known = append(c.Known, own...)
	}
	for _, rule := range i.Map {
		if rule.Channel != "" {
			c.Known = append(c.Known, i.Channel(rule.Channel))
		}
	}
	return c
}

// projectOf returns an agent's default channel.
func (c *Channels) projectOf(agent string) string {
	if own := c.Own[agent]; len(own) > 0 {
		return own[0]
	}
	return c.Project
}

// isChannel reports whether a name is that of a channel rather than a nick.
func isChannel(name string) bool { return name != "" && strings.ContainsRune("#&+!", rune(name[0])) }

func checkTarget(name string) error {
	if !isChannel(name) && strings.ContainsAny(name, "!@$*?%") || len(name) > 64 || strings.ContainsFunc(name, func(r rune) bool { return r <= ' ' || r == ',' || r == ':' || r == 0x7f }) || name == "#" {
		return &TargetError{name}
	}
	return nil
}

// A TargetError reports that a name is valid neither as a channel nor as a nick.
type TargetError struct{ Name string }

func (e *TargetError) Error() string {
	return fmt.Sprintf("%q can be neither a channel nor a nick: neither may contain spaces, commas or colons, or be longer than 64 bytes, and a nick may not contain ! @ $ * ? %%", e.Name)
}

// A StaysError reports that the bridge refuses to leave a configured channel. If it left,
// it could no longer read what people write there.
type StaysError struct{ Channel string }

func (e *StaysError) Error() string {
	return e.Channel + " is a configured channel, and the bridge stays there"
}
