package config

import (
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// orNull reads a text that may be null, which is "".
func (r *reader) orNull(n *yaml.Node, to *string, read func(*yaml.Node, string) (string, bool), name string) {
	if isNull(follow(n)) {
		*to = ""
		return
	}
	set(to)(read(n, name))
}

func (r *reader) variable(n *yaml.Node, name string) (string, bool) {
	s, ok := r.word(n, name)
	if ok && !variable().MatchString(s) {
		r.fail(follow(n), "%s: %q is not the name of a variable", name, s).Try = "the name of the variable, not the password"
		return "", false
	}
	return s, ok
}

// nick reads a nick that every server may take. Whether this one does is seen when the
// bridge connects.
func (r *reader) nick(n *yaml.Node, name string) (string, bool) {
	s, ok := r.word(n, name)
	if ok && (len(s) > 32 || '0' <= s[0] && s[0] <= '9' || strings.ContainsFunc(s, func(c rune) bool { return c > '~' || strings.ContainsRune("!@#&*?,.:;/\"'$%()+<=>", c) })) {
		r.fail(follow(n), "%s: %q can be nobody's nick", name, s)
		return "", false
	}
	return s, ok
}

// hostPort reads the address of an IRC server: host, or host:port.
func (r *reader) hostPort(n *yaml.Node, name string) (string, bool) {
	s, ok := r.word(n, name)
	if !ok {
		return "", false
	}
	if _, rest, isURL := strings.Cut(s, "://"); isURL {
		host, _, _ := strings.Cut(rest, "/")
		r.fail(follow(n), "%s: want host or host:port, got the URL %s", name, s).Try = "server: " + host
		return "", false
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil { // there is no port
		host, port = strings.Trim(s, "[]"), "1"
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		r.fail(follow(n), "%s: %q is not a port: that is a number from 1 to 65535", name, port).Try = "server: " + net.JoinHostPort(host, "6697")
		return "", false
	}
	if host == "" || strings.ContainsAny(host, "/@#,") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		r.fail(follow(n), "%s: %q is neither host nor host:port", name, s).Try = "server: irc.example.net:6697"
		return "", false
	}
	return s, true
}

func (r *reader) slug(n *yaml.Node, name string) (string, bool) {
	s, ok := r.word(n, name)
	if ok && s != slugOf(s) {
		r.fail(follow(n), "%s: %q: want small letters, digits and -", name, s).Try = "slug: " + slugOf(s)
		return "", false
	}
	return s, ok
}

// slugOf makes a slug of any name.
func slugOf(name string) string {
	s := strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, strings.ToLower(name))
	s = strings.Trim(s, "-")
	if s == "" {
		return "swarm"
	}
	return s[:min(len(s), 30)]
}

// channel reads the name of a channel. A # in front may be left out, since it begins a
// comment in YAML.
func (r *reader) channel(n *yaml.Node, name string) (string, bool) {
	n = follow(n)
	if isNull(n) {
		r.fail(n, "%s: a channel has no name; # begins a comment here", name).Try = `"#general", or general`
		return "", false
	}
	s, ok := r.word(n, name)
	if !ok {
		return "", false
	}
	if !strings.ContainsRune("#&+!", rune(s[0])) {
		s = "#" + s
	}
	if len(s) < 2 || len(s) > 64 || strings.ContainsAny(s, ",:") {
		r.fail(n, "%s: %q cannot be the name of a channel", name, s)
		return "", false
	}
	return s, true
}

// channelList reads a list of channels.
func (r *reader) channelList(n *yaml.Node, name string) (list []string, ok bool) {
	n = follow(n)
	if n.Kind != yaml.SequenceNode {
		return r.list(n, name) // says what is wrong with it
	}
	ok = true
	for _, item := range n.Content {
		c, good := r.channel(item, name)
		if good && !slices.Contains(list, c) {
			list = append(list, c)
		}
		ok = ok && good
	}
	return list, ok
}

// channels reads irc.channels.
func (r *reader) channels(n *yaml.Node, name string, to *IRCChannels) {
	places := []struct {
		key string
		to  *string
	}{{"project", &to.Project}, {"standup", &to.Standup}, {"work", &to.Work}, {"alerts", &to.Alerts}, {"errors", &to.Errors}}
	var known []string
	for _, p := range places {
		known = append(known, p.key)
	}
	r.each(n, name, func(key string, k, v *yaml.Node) {
		i := slices.Index(known, key)
		switch {
		case i < 0:
			r.unknown(k, key, known, nil)
		case isNull(follow(v)) && key == "project":
			r.fail(v, "%s: project: the bridge needs this one", name)
		case isNull(follow(v)):
			*places[i].to = ""
		default:
			c, ok := r.channel(v, name+": "+key)
			if ok && key == "work" && !strings.Contains(c, taskMark) {
				r.fail(follow(v), "%s: work: %s is missing in %s", name, taskMark, c)
				return
			}
			set(places[i].to)(c, ok)
		}
	})
}

// irc reads what names agents, when these are known, and looks at the whole.
func (r *reader) irc(f *File) {
	if f.IRC.Slug == "" {
		f.IRC.Slug = slugOf(filepath.Base(f.Dir))
	}
	if r.mapNode != nil {
		r.rules(r.mapNode, f)
	}
	if r.allowNode != nil {
		r.permits(r.allowNode, f)
	}
	i := &f.IRC
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
	if r.tls == nil {
		i.TLS = !here
	}
	at := f.place("irc")
	if p := f.where["irc.sasl"]; p != nil {
		at = *p
	}
	switch {
	case i.SASL == "plain" && !i.TLS && !here:
		r.failAt(at, "irc.sasl: plain would send the password unencrypted to another machine").Try = "tls: true"
	case i.SASL == "plain" && i.PasswordEnv == "" && i.PasswordFile == "":
		r.failAt(at, "irc.sasl: plain needs a password").Try = "password_file: FILE, or password_env: NAME"
	case i.SASL == "external" && (i.CertFile == "" || !i.TLS):
		r.failAt(at, "irc.sasl: external needs TLS and a certificate").Try = "tls: true, cert_file: FILE, key_file: FILE"
	case i.PasswordEnv != "" && i.PasswordFile != "":
		r.failAt(at, "irc: the password is either in password_env or in password_file")
	case i.ServerPasswordEnv != "" && i.ServerPasswordFile != "":
		r.failAt(at, "irc: the password of the server is either in server_password_env or in server_password_file")
	case (i.CertFile == "") != (i.KeyFile == ""):
		r.failAt(at, "irc: cert_file and key_file belong together")
	case i.NickPrefix != "" && i.Style != "nicks":
		at := f.place("irc")
		if p := f.where["irc.nick_prefix"]; p != nil {
			at = *p
		}
		r.failAt(at, "irc.nick_prefix: the agents have nicks with style: nicks only").Try = "style: nicks"
	case i.CertFile != "" && !i.TLS:
		r.failAt(at, "irc: cert_file is of no use without TLS").Try = "tls: true"
	}
}

// rules reads irc.map.
func (r *reader) rules(n *yaml.Node, f *File) {
	const name = "irc.map"
	known := []string{"type", "from", "to", "moment", "channel"}
	who := slices.Concat(f.Names(), []string{dropbox.Lead, dropbox.IRC, dropbox.Swarm})
	if f.LeadName != "" {
		who = append(who, f.LeadName)
	}
	r.entries(n, name, func(item *yaml.Node) {
		var rule IRCRule
		channel, before := false, len(r.errs)
		r.each(item, name, func(key string, k, v *yaml.Node) {
			switch at := name + ": " + key; key {
			case "type":
				set(&rule.Type)(r.oneOf(v, at, typeWords()))
			case "from":
				set(&rule.From)(r.oneOf(v, at, who))
				rule.From = f.addressOf(rule.From)
			case "to":
				set(&rule.To)(r.oneOf(v, at, who))
				rule.To = f.addressOf(rule.To)
			case "moment":
				set(&rule.Moment)(r.oneOf(v, at, ircMoments))
			case "channel":
				channel = true
				if v := follow(v); v.Kind == yaml.ScalarNode && v.Value == "none" {
					return
				}
				set(&rule.Channel)(r.channel(v, at))
			default:
				r.unknown(k, key, known, nil)
			}
		})
		if !channel && len(r.errs) == before {
			r.fail(item, "%s: the channel is missing", name).Try = "channel: NAME, or channel: none"
		}
		f.IRC.Map = append(f.IRC.Map, rule)
	})
}

// permits reads irc.allow.
func (r *reader) permits(n *yaml.Node, f *File) {
	const name = "irc.allow"
	r.entries(n, name, func(item *yaml.Node) {
		var p IRCPermit
		nick, before := item, len(r.errs)
		r.each(item, name, func(key string, k, v *yaml.Node) {
			switch at := name + ": " + key; key {
			case "account":
				set(&p.Account)(r.word(v, at))
			case "mask":
				set(&p.Mask)(r.mask(v, at))
			case "nick":
				nick = k
				set(&p.Nick)(r.word(v, at))
			case "may":
				if list, ok := r.list(v, at); ok {
					for i, right := range list {
						if !slices.Contains(ircRights, right) {
							r.fail(follow(follow(v).Content[i]), "%s: %q is not one of %s", at, right, or(ircRights)).Near = dropbox.Nearest(right, ircRights)
						}
					}
					p.May = list
				}
			default:
				r.unknown(k, key, []string{"account", "mask", "nick", "may"}, nil)
			}
		})
		if len(r.errs) > before {
			return
		}
		set := len(slices.DeleteFunc([]string{p.Account, p.Mask, p.Nick}, func(s string) bool { return s == "" }))
		switch {
		case set != 1:
			r.fail(item, "%s: want one of account, mask and nick", name).Try = "{account: NAME, may: [talk]}"
		case len(p.May) == 0:
			r.fail(item, "%s: may is missing: what is allowed?", name).Try = "may: [" + strings.Join(ircRights, ", ") + "]"
		case p.Nick != "" && f.IRC.On() && !onThisMachine(f.IRC.Server):
			r.fail(nick, "%s: anybody can take the nick %s, and the server is not on this machine", name, p.Nick).Try = "account: " + p.Nick + ", on a server with accounts"
		}
		f.IRC.Allow = append(f.IRC.Allow, p)
	})
}

// mask reads nick!user@host.
func (r *reader) mask(n *yaml.Node, name string) (string, bool) {
	s, ok := r.word(n, name)
	if !ok {
		return "", false
	}
	_, rest, full := strings.Cut(s, "!")
	_, host, full2 := strings.Cut(rest, "@")
	switch {
	case !full || !full2:
		r.fail(follow(n), "%s: %q is not a mask", name, s).Try = `mask: "*!*@host.example"`
	case strings.Trim(host, "*?.") == "":
		r.fail(follow(n), "%s: %q fits everybody: the host has to say who it is", name, s).Try = `mask: "*!*@host.example"`
	default:
		return s, true
	}
	return "", false
}

// entries calls f for each entry of a list.
func (r *reader) entries(n *yaml.Node, name string, f func(item *yaml.Node)) {
	n = follow(n)
	if isNull(n) {
		return
	}
	if n.Kind != yaml.SequenceNode {
		r.fail(n, "%s: want a list, got %s", name, kind(n))
		return
	}
	for _, item := range n.Content {
		if item = follow(item); item.Kind != yaml.MappingNode {
			r.fail(item, "%s: want keys with values, got %s", name, kind(item))
			continue
		}
		f(item)
	}
}

// onThisMachine tells whether a server, host or host:port, is on this machine.
func onThisMachine(server string) bool {
	host := server
	if h, _, err := net.SplitHostPort(server); err == nil {
		host = h
	}
	ip := net.ParseIP(strings.Trim(host, "[]"))
	return strings.EqualFold(strings.TrimSuffix(host, "."), "localhost") || ip != nil && ip.IsLoopback()
}
