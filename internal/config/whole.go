package config

import (
	"fmt"
	"net"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// named checks the names of the agents and of the lead.
func (r *reader) named(f *File) {
	r.namesAgent(f, "lead", f.Lead)
	f.Topics.Fallback = r.fallback(f, "topics.fallback", f.Topics.Fallback)
	for i := range f.Topics.Rules {
		rule, path := &f.Topics.Rules[i], fmt.Sprintf("topics.rules[%d]", i)
		if _, written := r.at[path+".fallback"]; !written {
			rule.Fallback = f.Topics.Fallback
			continue
		}
		rule.Fallback = r.fallback(f, path+".fallback", rule.Fallback)
	}
	for _, a := range f.Agents {
		for _, tag := range a.Tags {
			if f.hasAgent(tag) {
				path := "agents." + a.Name + ".tags"
				r.once(r.find(path).value, path, wrong("another word", "%s is the name of an agent, which is already an address", tag))
			}
		}
	}
	if f.LeadName == "" {
		return
	}
	switch e := badName("lead_name", f.LeadName); {
	case e != nil:
		r.report(r.find("lead_name").value, "", e)
	case f.hasAgent(f.LeadName):
		r.fail("lead_name", "lead: "+f.LeadName, "%s is an agent; the key lead makes an agent the lead", f.LeadName)
	case f.Lead != "":
		r.fail("lead_name", "remove lead or lead_name", "the lead is the agent %s, which already has a name", f.Lead)
	}
}

// fallback returns the address of the agent or role that gets unclaimed work. It refuses a name
// that neither an agent nor a role has.
func (r *reader) fallback(f *File, key, name string) string {
	name = f.addressOf(name)
	if name != "" && name != dropbox.Lead && !slices.Contains(f.namesAndRoles(), name) {
		e := unlike(name, f.namesAndRoles(), "there is no agent or role %s", name)
		if len(e.Near) == 0 {
			e.Try = "human, or one of " + strings.Join(f.namesAndRoles(), ", ")
		}
		r.report(r.find(key).value, key, e)
	}
	return name
}

// topicRule refuses a rule without a pattern. ok is false if the rule has another problem.
func (r *reader) topicRule(rule *swarm.TopicRule, path string, ok bool) {
	if ok && rule.Topic == "" {
		r.fail(path, `topic: "review.*"`, "the topic is missing")
	}
}

// namesAgent refuses a key whose value is the name of an unknown agent. It accepts "".
func (r *reader) namesAgent(f *File, key, name string) {
	if name != "" && !f.hasAgent(name) {
		r.report(r.find(key).value, key, unlike(name, f.Names(), "there is no agent %s", name))
	}
}

// acl replaces each role in policy.acl with the agents that have the role.
func (r *reader) acl(f *File) {
	written := f.Policy.ACL
	f.Policy.ACL = nil
	for who, access := range written {
		path, agents := "policy.acl."+who, f.withRole(who)
		if access.Direct != nil {
			access.Direct = r.correspondents(f, path+".direct", *access.Direct)
		}
		if f.hasAgent(who) {
			agents = append(agents, who)
		} else if len(agents) == 0 {
			e := unlike(who, f.namesAndRoles(), "no agent or role is called %s", who)
			if who == "fallback" {
				e.Try = "topics: {fallback: AGENT}"
			}
			r.report(r.find(path).key, "policy.acl", e)
		}
		for _, agent := range agents {
			if f.Policy.ACL == nil {
				f.Policy.ACL = make(map[string]Access)
			}
			if _, own := written[agent]; agent == who || !own {
				f.Policy.ACL[agent] = access
			}
		}
	}
}

// correspondents converts a list of agents and roles to the names of agents.
func (r *reader) correspondents(f *File, path string, list []string) *[]string {
	agents := []string{}
	for i, who := range list {
		switch role := f.withRole(who); {
		case f.Leads(who):
			// every agent may write to the lead
		case f.hasAgent(who), dropbox.IsBridge(who):
			agents = append(agents, who)
		case len(role) > 0:
			agents = append(agents, role...)
		default:
			r.report(follow(r.find(path).value.Content[i]), path, unlike(who, f.namesAndRoles(), "no agent or role is called %s", who))
		}
	}
	slices.Sort(agents)
	agents = slices.Compact(agents)
	return &agents
}

// irc checks the irc section, which it can do only once the agents are known.
func (r *reader) irc(f *File) {
	i := &f.IRC
	if f.slugless = i.Slug == ""; f.slugless {
		i.Slug = slugFor(f.Dir)
	}
	who := append(append(f.Names(), dropbox.Lead), append(dropbox.Bridges(), dropbox.Swarm)...)
	if f.LeadName != "" {
		who = append(who, f.LeadName)
	}
	for n := range i.Map {
		for key, name := range map[string]*string{"from": &i.Map[n].From, "to": &i.Map[n].To} {
			if at := fmt.Sprintf("irc.map[%d].%s", n, key); *name != "" {
				r.report(r.find(at).value, at, oneOf(*name, who))
				*name = f.addressOf(*name)
			}
		}
	}
	for _, a := range f.Agents {
		for _, c := range a.Channels {
			if i.Own == nil {
				i.Own = map[string][]string{}
			}
			i.Own[a.Name] = append(i.Own[a.Name], i.Channel(c))
		}
	}
	if !i.On() {
		return
	}
	here := onThisMachine(i.Server)
	if tls := r.at["irc.tls"].value; tls == nil || tls.Value == "auto" {
		i.TLS = !here
	}
	for n, p := range i.Allow {
		if p.Nick != "" && p.Account+p.Mask == "" && !here {
			r.report(r.find(fmt.Sprintf("irc.allow[%d].nick", n)).key, "irc.allow", wrong("account: "+p.Nick+", on a server with accounts",
				"anybody can take the nick %s, and the server is not on this machine", p.Nick))
		}
	}
	switch {
	case i.SASL == "plain" && !i.TLS && !here:
		r.fail("irc.sasl", "tls: true", "plain would send the password unencrypted to another machine")
	case i.SASL == "plain" && i.PasswordEnv == "" && i.PasswordFile == "":
		r.fail("irc.sasl", "password_file: FILE, or password_env: NAME", "plain needs a password")
	case i.SASL == "external" && (i.CertFile == "" || !i.TLS):
		r.fail("irc.sasl", "tls: true, cert_file: FILE, key_file: FILE", "external needs TLS and a certificate")
	case i.PasswordEnv != "" && i.PasswordFile != "":
		r.fail("irc", "", "set either password_env or password_file, not both")
	case i.ServerPasswordEnv != "" && i.ServerPasswordFile != "":
		r.fail("irc", "", "set either server_password_env or server_password_file, not both")
	case (i.CertFile == "") != (i.KeyFile == ""):
		r.fail("irc", "", "cert_file and key_file belong together")
	case i.NickPrefix != "" && i.Style != "nicks":
		r.fail("irc.nick_prefix", "style: nicks", "agents have nicks only with style: nicks")
	case i.CertFile != "" && !i.TLS:
		r.fail("irc", "tls: true", "cert_file is useless without TLS")
	}
}

// onThisMachine reports whether a server (host or host:port) is on this machine.
func onThisMachine(server string) bool {
	host := server
	if h, _, err := net.SplitHostPort(server); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") || ip != nil && ip.IsLoopback()
}
