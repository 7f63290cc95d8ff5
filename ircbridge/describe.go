package ircbridge

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// describe notes in the state what a new connection can do.
func (r *run) describe(st irc.State) {
	r.describeUs(st)
	s := &r.state
	s.Network = st.ISupport["NETWORK"]
	s.Caps = slices.Sorted(maps.Keys(st.Caps))
	s.Limits = limitsOf(st)
	if conn, ok := r.main.client.Conn(); ok {
		s.Limits.Text = conn.Limit(irc.Outgoing{Target: r.Channels.Project})
	}
	s.Style, s.Instead, r.noRelay = r.Style, "", ""
	if r.Style == StyleRelay && !st.Cap("draft/relaymsg") {
		r.noRelay = "nothing is relayed: the server has no draft/relaymsg"
		s.Style, s.Instead = StylePrefix, r.noRelay
	}
}

// describeUs notes in the state what the bridge is called.
func (r *run) describeUs(st irc.State) {
	s := &r.state
	s.Nick, s.Mask, s.Account, s.Wanted = st.Nick, st.Source, st.Account, ""
	if !st.CaseMapping().Same(st.Nick, r.Server.Nick) {
		s.Wanted = r.Server.Nick
	}
}

// limitsOf reads what a server bears.
func limitsOf(st irc.State) Limits {
	l := Limits{
		Nick: st.ISupport.Number("NICKLEN", 0), Channel: st.ISupport.Number("CHANNELLEN", 0), Topic: st.ISupport.Number("TOPICLEN", 0),
		CaseMapping: string(st.CaseMapping()),
	}
	if st.Cap("draft/chathistory") {
		l.History = st.ISupport.Number("CHATHISTORY", 100)
	}
	for part := range strings.SplitSeq(st.Caps["draft/multiline"], ",") {
		name, number, _ := strings.Cut(part, "=")
		n, _ := strconv.Atoi(number)
		switch name {
		case "max-bytes":
			l.MultilineBytes = n
		case "max-lines":
			l.MultilineLines = n
		}
	}
	return l
}
