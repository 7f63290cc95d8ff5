package config

import (
	"net"
	"path/filepath"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// IRC says where people read and steer the swarm from. Without a server there is no
// IRC.
type IRC struct {
	Server string // host, or host:port; default "", none
	Nick   string // of the bridge; default swarm

	TLS      bool   // default: unless the server is on this machine
	TLSName  string // the name that its certificate is for; default "", the host
	CAFile   string // PEM of who issued that, absolute; default "", those of the system
	CertFile string // PEM of our own certificate, absolute; default "", none
	KeyFile  string // PEM of its key, absolute

	SASL    string // plain or external; default "", no login
	Account string // default "", the nick

	// A password is read when the bridge starts: from a variable, or from a file.
	PasswordEnv, PasswordFile             string // of the account
	ServerPasswordEnv, ServerPasswordFile string // of the server

	Style        string // prefix, nicks or relaymsg; default prefix
	Slug         string // what {slug} stands for; default the name of the folder
	Channels     IRCChannels
	WorkChannels bool     // a channel for each task; default false
	Join         []string // more channels; default none
	Map          []IRCRule
	Allow        []IRCPermit

	BufferSize     int  // lines of a channel that are kept; default 500
	WakesPerMinute int  // messages that one channel may bring agents in a minute; default 10; 0 is any number
	Burst          int  // lines at once; default 4
	Rate           int  // lines a second after that; default 1; 0 is no bound
	Apart          bool // a process of its own is the bridge; default false
}

// On tells whether there is IRC.
func (i IRC) On() bool { return i.Server != "" }

// Secrets are the environment variables that hold passwords.
func (i IRC) Secrets() []string {
	return slices.DeleteFunc([]string{i.PasswordEnv, i.ServerPasswordEnv}, func(name string) bool { return name == "" })
}

// Channel is the name of a channel that is written as a template.
func (i IRC) Channel(template string) string { return strings.ReplaceAll(template, slugMark, i.Slug) }

// IRCChannels are the channels of the project, with {slug} in them; "" is none.
type IRCChannels struct {
	Project, Standup, Work, Alerts, Errors string
}

// An IRCRule says in which channel something is shown. An empty field is anything.
type IRCRule struct {
	Type, From, To, Moment string
	Channel                string // "" hides it
}

// An IRCPermit says what somebody on IRC may do. One of Account, Mask and Nick is set.
type IRCPermit struct {
	Account, Mask, Nick string
	May                 []string // talk, task, control; at least one
}

const (
	slugMark = "{slug}"
	taskMark = "{task-id}"
)

var (
	ircStyles  = []string{"prefix", "nicks", "relaymsg"}
	ircSASL    = []string{"plain", "external"}
	ircRights  = []string{"talk", "task", "control"}
	ircMoments = []string{"begun", "result", "failed", "mail", "alert", "dead"}
)

func builtinIRC() IRC {
	return IRC{
		Nick: "swarm", Style: ircStyles[0], BufferSize: 500, WakesPerMinute: 10, Burst: 4, Rate: 1,
		Channels: IRCChannels{Project: "#project-" + slugMark, Standup: "#standup-" + slugMark, Work: "#work-" + taskMark, Alerts: "#alerts", Errors: "#errors"},
	}
}

// ircKeys is the section irc; docs/irc.md tells how to use it.
var ircKeys = []fileKey{
	{Key{"irc.server", "text or null", "null", "The IRC server, host or host:port; the port is 6697 with TLS, else 6667. null: no IRC."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.Server, r.word, name) }},
	{Key{"irc.nick", "text", "swarm", "The nick of the bridge. Where it is taken, it takes a similar one and comes back to it later."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Nick)(r.nick(n, name)) }},
	{Key{"irc.tls", "true, false or auto", "auto", "Whether the connection is encrypted; the certificate is verified. auto: unless the server is on this machine."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			if v := follow(n); v.Kind == yaml.ScalarNode && v.Value == "auto" {
				return
			}
			if v := follow(n); v.Kind == yaml.ScalarNode && v.Tag == "!!str" {
				r.fail(v, "%s: want true, false or auto, got %s", name, v.Value)
			} else if yes, ok := r.truth(n, name); ok {
				f.IRC.TLS, r.tls = yes, &yes
			}
		}},
	{Key{"irc.tls_name", "text or null", "null", "The name that the certificate of the server is for; null: the host."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.TLSName, r.word, name) }},
	{Key{"irc.ca_file", "path or null", "null", "A file with the certificates (PEM) of those whom the server's is believed from; null: those of the system."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.CAFile, r.folder, name) }},
	{Key{"irc.cert_file", "path or null", "null", "A file with a certificate (PEM) for the bridge; with sasl: external it is the login."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.CertFile, r.folder, name) }},
	{Key{"irc.key_file", "path or null", "null", "The file with the key of cert_file (PEM)."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.KeyFile, r.folder, name) }},
	{Key{"irc.sasl", "plain, external or null", "null", "How the bridge logs in to its account: plain with a password, over TLS or on this machine alone; external with its certificate. Refused, it does not try again. null: it does not log in."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			r.orNull(n, &f.IRC.SASL, func(n *yaml.Node, name string) (string, bool) { return r.oneOf(n, name, ircSASL) }, name)
		}},
	{Key{"irc.account", "text or null", "null", "The account of the bridge; null: called like its nick."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.Account, r.word, name) }},
	{Key{"irc.password_env", "text or null", "null", "The environment variable with the password of the account. The agents do not get it."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			r.orNull(n, &f.IRC.PasswordEnv, r.variable, name)
		}},
	{Key{"irc.password_file", "path or null", "null", "The file with the password of the account, on its first line. Passwords never stand in this file."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.PasswordFile, r.folder, name) }},
	{Key{"irc.server_password_env", "text or null", "null", "The environment variable with the password of the server itself (PASS), for servers that want one."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			r.orNull(n, &f.IRC.ServerPasswordEnv, r.variable, name)
		}},
	{Key{"irc.server_password_file", "path or null", "null", "The file with it, on its first line."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			r.orNull(n, &f.IRC.ServerPasswordFile, r.folder, name)
		}},
	{Key{"irc.style", strings.Join(ircStyles, " | "), ircStyles[0], "How it is seen who speaks. prefix: [agent] text, on one connection. nicks: a connection for each agent, under its name. relaymsg: one connection and the nick agent/x, which servers such as ergo know. Where the server does not let it, prefix."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Style)(r.oneOf(n, name, ircStyles)) }},
	{Key{"irc.slug", "text or null", "null", "What {slug} stands for in the names of channels; null: the name of the project's folder."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.Slug, r.slug, name) }},
	{Key{"irc.channels", "keys with values", `{project: "project-{slug}", standup: "standup-{slug}", work: "work-{task-id}", alerts: alerts, errors: errors}`,
		"The channels. project: what you and the agents say to each other. standup: what is begun and done. alerts: what needs you. errors: dead letters. work: one for each task, with work_channels. null shows that nowhere; the project's channel is always there. The # may be left out."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.channels(n, name, &f.IRC.Channels) }},
	{Key{"irc.work_channels", "true or false", "false", "Whether each task gets a channel of its own, from its begin to its end."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.WorkChannels)(r.truth(n, name)) }},
	{Key{"irc.join", "list", "[]", "More channels that the bridge is in: the agents can read them, and be spoken to there."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			var list []string
			if n = follow(n); n.Kind != yaml.SequenceNode {
				r.list(n, name) // says what is wrong with it
				return
			}
			for _, item := range n.Content {
				if c, ok := r.channel(item, name); ok {
					list = append(list, c)
				}
			}
			f.IRC.Join = list
		}},
	{Key{"irc.map", "list", "[]", "What is shown where, before the defaults; the first that fits counts: [{type: note, channel: none}, {moment: result, from: coder, channel: project-x}]. moment is " + or(ircMoments) + ". What is not written fits anything. channel: none shows it nowhere."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.mapNode = n }},
	{Key{"irc.allow", "list", "[]", "Who may do what: [{account: ann, may: [talk, task, control]}]. talk: speak to agents and answer them; task: give tasks; control: pause, resume, abort, halt. account is the login that the server vouches for; mask is nick!user@host; nick alone proves nothing, and is allowed on a server on this machine only. Who is not here is not listened to."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.allowNode = n }},
	{Key{"irc.buffer_size", "number", "500", "How many lines of each channel are kept for the agents to read."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.BufferSize)(r.number(n, name, 1)) }},
	{Key{"irc.wakes_per_minute", "number", "10", "The most messages that one channel may bring to agents in a minute. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.IRC.WakesPerMinute)(r.number(n, name, 0))
		}},
	{Key{"irc.burst", "number", "4", "How many lines the bridge may send at once. The default is safe on every server known to us."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Burst)(r.number(n, name, 1)) }},
	{Key{"irc.rate", "number", "1", "How many lines it may send a second after that. 0: no bound, for a server of your own without a limit."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Rate)(r.number(n, name, 0)) }},
	{Key{"irc.apart", "true or false", "false", "Whether the bridge is a process of its own (claude-swarm irc run), and not part of the daemon."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Apart)(r.truth(n, name)) }},
}

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
		r.fail(follow(n), "%s: %q is no name of a variable", name, s).Try = "the name of the variable, not the password"
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
	case i.CertFile != "" && !i.TLS:
		r.failAt(at, "irc: cert_file is of no use without TLS").Try = "tls: true"
	}
}

// rules reads irc.map.
func (r *reader) rules(n *yaml.Node, f *File) {
	const name = "irc.map"
	known := []string{"type", "from", "to", "moment", "channel"}
	who := slices.Concat(f.Names(), []string{dropbox.Lead, dropbox.IRC, dropbox.Swarm})
	r.entries(n, name, func(item *yaml.Node) {
		var rule IRCRule
		channel, before := false, len(r.errs)
		r.each(item, name, func(key string, k, v *yaml.Node) {
			switch at := name + ": " + key; key {
			case "type":
				set(&rule.Type)(r.oneOf(v, at, typeWords()))
			case "from":
				set(&rule.From)(r.oneOf(v, at, who))
			case "to":
				set(&rule.To)(r.oneOf(v, at, who))
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
		r.fail(follow(n), "%s: %q is no mask", name, s).Try = `mask: "*!*@host.example"`
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
