package ircbridge

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// hears tells whether an agent is spoken to in a channel.
func (r *run) hears(agent, channel string) bool {
	own := r.Channels.Own[agent]
	return len(own) == 0 || slices.ContainsFunc(own, func(c string) bool { return strings.EqualFold(c, channel) })
}

// unheard tells a person, now and then, that an agent is not spoken to where they did.
func (r *run) unheard(t irc.Text, agent string, now time.Time) {
	r.Log.Info("not heard", "agent", agent, keyNick, t.Nick, keyChannel, t.Target)
	key := agent + " " + r.fold().Fold(t.Nick+" "+t.Target)
	if now.Sub(r.deaf[key]) < tellAgain {
		return
	}
	if r.deaf == nil || len(r.deaf) >= 256 {
		r.deaf = map[string]time.Time{}
	}
	r.deaf[key] = now
	r.tell(t, fmt.Sprintf("%s does not hear %s. Speak to it in %s, or privately: /msg %s %s: …",
		agent, t.Target, strings.Join(r.Channels.Own[agent], " or "), r.main.nick, agent))
}
