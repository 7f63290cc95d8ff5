package ircbridge

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// A Report contains the findings of [Doctor] about a server.
type Report struct {
	Server   string        `json:"server"`
	TLS      bool          `json:"tls"`
	Network  string        `json:"network,omitempty"`
	Nick     string        `json:"nick"`              // the nick that the server gives us
	Account  string        `json:"account,omitempty"` // the account that we are logged in as
	Mask     string        `json:"mask,omitempty"`
	Took     time.Duration `json:"took_ns"` // the time from dialing to the end of the greeting
	Caps     []string      `json:"caps,omitempty"`
	Limits   bridge.Limits `json:"limits"`
	Missing  []string      `json:"missing,omitempty"`  // features that the server lacks, and what does not work without them
	Problems []string      `json:"problems,omitempty"` // problems with this configuration
}

// whatFor lists what does not work without each capability.
var whatFor = []struct{ name, without string }{
	{"account-tag", "permits by account never match"},
	{"echo-message", "a line is proven by a PING after it, and has no id from the server"},
	{"message-tags", "lines have no id, so one line may be mistaken for two"},
	{"server-time", "lines get the local time"},
	{"draft/chathistory", "lines sent while the bridge is disconnected are lost, and lines that may have been sent are sent again with a mark"},
	{"draft/multiline", fmt.Sprintf("long messages are cut after %d lines", maxShown)},
}

// Doctor connects to the server, finds out which features it has, and disconnects. It
// joins no channel and sends no text. It adds one character to the nick, so that a
// running bridge keeps its nick. It returns an error if the options are invalid or if it
// cannot connect.
func Doctor(ctx context.Context, o Options) (Report, error) {
	if err := o.check(); err != nil {
		return Report{}, fmt.Errorf("irc: %w", err)
	}
	rep := Report{Server: o.Server.HostPort(), TLS: o.Server.TLS}
	cfg, err := o.config(o.Server.Nick + "-")
	if err != nil {
		return rep, fmt.Errorf("irc: %w", err)
	}
	begun := time.Now()
	conn, err := irc.Dial(ctx, cfg)
	if err != nil {
		return rep, fmt.Errorf("irc: %w", err)
	}
	rep.Took = time.Since(begun)
	st := conn.State()
	defer func() {
		bye, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Second)
		defer cancel()
		conn.Close(bye, "")
	}()
	rep.Network, rep.Nick, rep.Account, rep.Mask = st.ISupport["NETWORK"], st.Nick, st.Account, st.Source
	rep.Caps, rep.Limits = slices.Sorted(maps.Keys(st.Caps)), limitsOf(st)
	rep.Limits.Text = conn.Limit(irc.Outgoing{Target: o.Channels.Project})
	for _, c := range whatFor {
		if !st.Cap(c.name) {
			rep.Missing = append(rep.Missing, c.name+": "+c.without)
		}
	}
	problem := func(format string, args ...any) { rep.Problems = append(rep.Problems, fmt.Sprintf(format, args...)) }
	if len(o.Allow) == 0 {
		problem("irc.allow is empty: people can only read the channels")
	}
	for _, p := range o.Allow {
		if p.Account != "" && !st.Cap("account-tag") {
			problem("the permit for account %s never matches: the server has no account-tag", p.Account)
		}
	}
	if st.Bouncer {
		rep.Problems = append(rep.Problems, bridge.IdlePermits(o.Allow)...)
	}
	if !o.Server.TLS && !bridge.Loopback(o.Server.Addr) {
		problem("the connection is unencrypted, so anybody along the way can read and change it")
	}
	if o.Style == StyleRelay && !st.Cap("draft/relaymsg") {
		problem("the server has no draft/relaymsg: the agents' names are shown in brackets")
	}
	if most := rep.Limits.Nick; most > 0 && len(o.Server.Nick) > most {
		problem("the nick %s has %d bytes, and the server allows %d", o.Server.Nick, len(o.Server.Nick), most)
	}
	for _, c := range o.fixed() {
		if !st.ISupport.IsChannel(c) {
			problem("%s is not a channel on this server", c)
		} else if most := rep.Limits.Channel; most > 0 && len(c) > most {
			problem("the name of the channel %s has %d bytes, and the server allows %d", c, len(c), most)
		}
	}
	return rep, nil
}
