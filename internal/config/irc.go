package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
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
	ChannelKeysFile                       string // of the channels that ask for one

	Style        string // prefix, nicks or relaymsg; default prefix
	NickPrefix   string // before the names of the agents, with style nicks; default "", none
	Slug         string // what {slug} stands for; default the name of the folder
	Channels     IRCChannels
	WorkChannels bool     // a channel for each task; default false
	Join         []string // more channels; default none
	Map          []IRCRule
	Allow        []IRCPermit

	// Own are the channels of the agents that have some, by name, the first one first.
	Own map[string][]string

	BufferSize     int  // lines of a channel that are kept; default 500
	WakesPerMinute int  // messages that one channel may bring agents in a minute; default 10; 0 is any number
	Burst          int  // lines at once; default 4
	Rate           int  // lines a second after that; default 1; 0 is no bound
	Apart          bool // a separate process is the bridge; default false
}

// On tells whether there is IRC.
func (i IRC) On() bool { return i.Server != "" }

// Secrets are the environment variables that hold passwords.
func (i IRC) Secrets() []string {
	return slices.DeleteFunc([]string{i.PasswordEnv, i.ServerPasswordEnv}, func(name string) bool { return name == "" })
}

// Channel is the name of a channel that is written as a template.
func (i IRC) Channel(template string) string { return strings.ReplaceAll(template, slugMark, i.Slug) }

// ProjectOf is the channel in which an agent and people talk.
func (i IRC) ProjectOf(agent string) string {
	if own := i.Own[agent]; len(own) > 0 {
		return own[0]
	}
	return i.Channel(i.Channels.Project)
}

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
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.Server, r.hostPort, name) }},
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
	{Key{"irc.channel_keys_file", "path or null", "null", "The file with the keys of channels that ask for one (mode +k): a line for each, channel and key with a space between."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			r.orNull(n, &f.IRC.ChannelKeysFile, r.folder, name)
		}},
	{Key{"irc.style", strings.Join(ircStyles, " | "), ircStyles[0], "How it is seen who speaks. prefix: [agent] text, on one connection. nicks: a connection for each agent, under its name. relaymsg: one connection and the nick agent/x, which servers such as ergo know. Where the server does not let it, prefix."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Style)(r.oneOf(n, name, ircStyles)) }},
	{Key{"irc.nick_prefix", "text or null", "null", "What stands before the name of an agent in its nick, with style: nicks: of several projects on one server each needs its own. null: nothing, coder is called coder."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.NickPrefix, r.nick, name) }},
	{Key{"irc.slug", "text or null", "null", "What {slug} stands for in the names of channels; null: the name of the project's folder."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.orNull(n, &f.IRC.Slug, r.slug, name) }},
	{Key{"irc.channels", "keys with values", `{project: "project-{slug}", standup: "standup-{slug}", work: "work-{task-id}", alerts: alerts, errors: errors}`,
		"The channels. project: what you and the agents say to each other. standup: what is begun and done. alerts: what needs you. errors: dead letters. work: one for each task, with work_channels. null shows that nowhere; the project's channel is always there. The # may be left out."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.channels(n, name, &f.IRC.Channels) }},
	{Key{"irc.work_channels", "true or false", "false", "Whether each task gets a separate channel, from its begin to its end."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.WorkChannels)(r.truth(n, name)) }},
	{Key{"irc.join", "list", "[]", "More channels that the bridge is in: the agents can read them, and be spoken to there."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.IRC.Join)(r.channelList(n, name))
		}},
	{Key{"irc.map", "list", "[]", "What is shown where, before the defaults; the first that fits counts: [{type: note, channel: none}, {moment: result, from: coder, channel: project-x}]. moment is " + or(ircMoments) + ". What is not written fits anything. channel: none shows it nowhere."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.mapNode = n }},
	{Key{"irc.allow", "list", "[]", "Who may do what: [{account: ann, may: [talk, task, control]}]. talk: speak to agents and answer them; task: give tasks; control: pause, resume, abort, halt, and what channels the bridge is in. account is the login that the server vouches for; mask is nick!user@host; nick alone proves nothing, and is allowed on a server on this machine only. Who is not here is not listened to."},
		func(r *reader, n *yaml.Node, name string, f *File) { r.allowNode = n }},
	{Key{"irc.buffer_size", "number", "500", "How many lines of each channel are kept for the agents to read."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.BufferSize)(r.number(n, name, 1)) }},
	{Key{"irc.wakes_per_minute", "number", "10", "The most messages that one channel may bring to agents in a minute. 0: any number."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.IRC.WakesPerMinute)(r.number(n, name, 0))
		}},
	{Key{"irc.burst", "number", "4", "How many lines the bridge may send at once. The default is safe on every server known to us."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Burst)(r.number(n, name, 1)) }},
	{Key{"irc.rate", "number", "1", "How many lines it may send a second after that. 0: no bound, for your own server without a limit."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Rate)(r.number(n, name, 0)) }},
	{Key{"irc.apart", "true or false", "false", "Whether the bridge is a separate process (claude-swarm irc run), and not part of the daemon."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.IRC.Apart)(r.truth(n, name)) }},
}
