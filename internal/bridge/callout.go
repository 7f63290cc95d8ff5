package bridge

import (
	"cmp"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// callees knows whom an alert calls by name, so that their phones ring. The loop owns it.
type callees struct {
	permits permits
	mail    *mail
	link    Link
	nicks   map[int]string // the nick under which the bridge last heard the person of a permit, by the permit's index
}

// heard records the nick of a person who has rights.
func (c *callees) heard(who Person) {
	for i, p := range c.permits.allow {
		if p.Check(c.link.Vouched()) == nil && p.matches(who, c.link) {
			c.nicks[i] = who.Nick
		}
	}
}

// of returns the nicks of the people who should act on an alert: the person who gave the
// task, and those with the "control" right if that person lacks the right and the alert
// requires it.
func (c *callees) of(m *dropbox.Message, about Origin) (nicks []string) {
	add := func(nick string) {
		nick = c.link.NowCalled(nick)
		if nick != "" && !slices.ContainsFunc(nicks, func(n string) bool { return c.link.Same(n, nick) }) {
			nicks = append(nicks, nick)
		}
	}
	giver := c.giver(m, about)
	if add(giver.Nick); giver.Nick != "" && m.From != dropbox.Swarm {
		return nicks // to answer an agent, nobody needs the right to control
	}
	var controllers []string
	for i, p := range c.permits.allow {
		if p.Check(c.link.Vouched()) != nil || !slices.Contains(p.May, Control) {
			continue
		}
		nick := c.nicks[i]
		if nick == "" {
			nick, _, _ = strings.Cut(p.Mask, "!")
			nick = cmp.Or(p.Nick, p.Account, nick)
		}
		if strings.ContainsAny(nick, "*?") {
			continue // the mask names no person, and nobody has spoken yet
		}
		if c.link.Same(nick, giver.Nick) || p.Account != "" && c.link.Same(p.Account, giver.Account) {
			return nicks
		}
		controllers = append(controllers, nick)
	}
	for _, nick := range controllers {
		add(nick)
	}
	return nicks
}

// giver returns the origin of the task that an alert is about, or a zero Origin if nobody on
// the network gave it.
func (c *callees) giver(m *dropbox.Message, about Origin) Origin {
	for _, id := range []string{m.Trace, m.Thread, about.About} {
		if id == "" || id == m.ID {
			continue
		}
		if o := c.mail.originOf(id); o.Nick != "" {
			return o
		}
	}
	return Origin{}
}
