package config

import (
	"slices"
	"strings"
)

// IRC configures the connection to IRC, where people read and control the swarm. If Server
// is empty, IRC is off. All paths are absolute, and a null value is "".
type IRC struct {
	Server   string `key:"server" is:"word,host" type:"text or null" doc:"The IRC server, host or host:port; the port is 6697 with TLS, else 6667. null: no IRC."`
	Nick     string `key:"nick" is:"word,nick" default:"swarm" doc:"The nick of the bridge. If it is in use, the bridge uses a similar one, and tries the configured one again later."`
	TLS      bool   `key:"tls" type:"true, false or auto" default:"auto" doc:"Whether the connection is encrypted; the certificate is verified. auto: unless the server is on this machine."`
	TLSName  string `key:"tls_name" is:"word" type:"text or null" doc:"The name in the server's certificate; null: the host."`
	CAFile   string `key:"ca_file" is:"path" type:"path or null" doc:"A file with the certificates (PEM) of the authorities that may sign the server's; null: those of the system."`
	CertFile string `key:"cert_file" is:"path" type:"path or null" doc:"A file with a certificate (PEM) for the bridge; with sasl: external, it is the login."`
	KeyFile  string `key:"key_file" is:"path" type:"path or null" doc:"The file with the key of cert_file (PEM)."`
	SASL     string `key:"sasl" type:"plain | external | null" doc:"How the bridge logs in to its account: plain with a password, over TLS or on this machine only; external with its certificate. After a refusal it does not try again. null: it does not log in."`
	Account  string `key:"account" is:"word" type:"text or null" doc:"The account of the bridge; null: the same as its nick."`

	// Passwords are read from a variable or a file when the bridge starts.
	PasswordEnv        string `key:"password_env" is:"word,variable" type:"text or null" doc:"The environment variable with the password of the account. The agents do not get it."`
	PasswordFile       string `key:"password_file" is:"path" type:"path or null" doc:"The file with the password of the account, on its first line. This file never contains passwords."`
	ServerPasswordEnv  string `key:"server_password_env" is:"word,variable" type:"text or null" doc:"The environment variable with the password of the server itself (PASS), for servers that need one."`
	ServerPasswordFile string `key:"server_password_file" is:"path" type:"path or null" doc:"The file with that password, on its first line."`
	ChannelKeysFile    string `key:"channel_keys_file" is:"path" type:"path or null" doc:"The file with the keys of channels that need one (mode +k): one line for each, with the channel, a space and the key."`

	Style        string      `key:"style" type:"prefix | nicks | relaymsg" default:"prefix" doc:"How IRC shows which agent is speaking. prefix: [agent] text, on one connection. nicks: a connection for each agent, under its name. relaymsg: one connection and the nick agent/x, which servers such as ergo support. If the server does not allow the style, prefix is used."`
	NickPrefix   string      `key:"nick_prefix" is:"word,nick" type:"text or null" doc:"A prefix of the agents' nicks, with style: nicks: several projects on one server need different prefixes. null: no prefix; coder's nick is coder."`
	Slug         string      `key:"slug" is:"word,slug" type:"text or null" doc:"The meaning of {slug} in the names of channels; null: the name of the project's folder, also after the folder was moved or renamed."`
	Channels     IRCChannels `key:"channels" default:"{project: \"project-{slug}\", standup: \"standup-{slug}\", work: \"work-{task-id}\", alerts: alerts, errors: errors}" doc:"The channels. project: talk between you and the agents. standup: turns that begin and end. alerts: what needs your attention. errors: dead letters. work: one for each task, with work_channels. null: shown nowhere; the project's channel always exists. The # may be left out."`
	WorkChannels bool        `key:"work_channels" doc:"Whether each task gets a separate channel for as long as it lasts."`
	Join         []string    `key:"join" is:"word,channel,once" doc:"Further channels that the bridge joins: the agents can read them, and people can speak to agents there."`
	Map          []IRCRule   `key:"map" doc:"Which channel shows what, before the defaults; the first rule that matches decides: [{type: note, channel: none}, {moment: result, from: coder, channel: project-x}]. moment is begun, result, failed, mail, alert, dead, permission, task_created, task_completed or notice, or the word of a notice, such as agent_error. A key that is left out matches anything. channel: none shows it nowhere."`
	Allow        []IRCPermit `key:"allow" doc:"Who may do what: [{account: ann, may: [talk, task, control]}]. talk: speak to agents and answer them; task: give tasks; control: pause, resume, abort, halt, and the bridge's channels. account is the login that the server vouches for; mask is nick!user@host; nick alone proves nothing, and is allowed only on a server on this machine. The bridge obeys no other people."`

	// Own maps each agent's name to that agent's own channels, the main channel first. An
	// agent that uses the project's channels has no entry.
	Own map[string][]string

	BufferSize     int  `key:"buffer_size" default:"500" doc:"How many lines of each channel are kept for the agents to read."`
	WakesPerMinute int  `key:"wakes_per_minute" zero:"for any number" default:"10" doc:"The maximum number of messages from one channel to agents in a minute. 0: any number."`
	Burst          int  `key:"burst" default:"4" doc:"How many lines the bridge may send in one burst. The default is safe on every server that was tested."`
	Rate           int  `key:"rate" zero:"for no bound" default:"1" doc:"How many lines per second it may send after that. 0: no limit, for your own server if it has none."`
	Apart          bool `key:"apart" doc:"Whether the bridge is a separate process (claude-swarm irc run), rather than part of the daemon."`
}

// On reports whether IRC is configured.
func (i IRC) On() bool { return i.Server != "" }

// Secrets returns the names of the environment variables that contain passwords.
func (i IRC) Secrets() []string {
	return slices.DeleteFunc([]string{i.PasswordEnv, i.ServerPasswordEnv}, func(name string) bool { return name == "" })
}

// Channel converts a template to a channel name by replacing {slug}.
func (i IRC) Channel(template string) string { return strings.ReplaceAll(template, slugMark, i.Slug) }

// ProjectOf returns the channel in which people talk with an agent.
func (i IRC) ProjectOf(agent string) string {
	if own := i.Own[agent]; len(own) > 0 {
		return own[0]
	}
	return i.Channel(i.Channels.Project)
}

// IRCChannels are the channels of the project. A name may contain {slug}; "" means that
// there is no such channel.
type IRCChannels struct {
	Project string `key:"project" is:"word,channel" type:"text or null" default:"project-{slug}"`
	Standup string `key:"standup" is:"word,channel" type:"text or null" default:"standup-{slug}"`
	Work    string `key:"work" is:"word,channel,work" type:"text or null" default:"work-{task-id}"`
	Alerts  string `key:"alerts" is:"word,channel" type:"text or null" default:"alerts"`
	Errors  string `key:"errors" is:"word,channel" type:"text or null" default:"errors"`
}

// An IRCRule determines in which channel a message is shown. An empty field matches
// anything.
type IRCRule struct {
	Type    string `key:"type" type:"task | question | result | status | handoff | note"`
	From    string `key:"from"`
	To      string `key:"to"`
	Moment  string `key:"moment" type:"begun | result | failed | mail | alert | dead | permission | task_created | task_completed | notice | agent_question | agent_spiraling | agent_timeout | agent_error | agent_complete | limit | budget | context | dead_letter | unpaused"`
	Channel string `key:"channel" is:"word,shown"` // "" means that the message is not shown
}

// An IRCPermit specifies what a person on IRC may do. Exactly one of Account, Mask and
// Nick is set.
type IRCPermit struct {
	Account string   `key:"account" is:"word"`
	Mask    string   `key:"mask" is:"word,mask,certain"`
	Nick    string   `key:"nick" is:"word"`
	May     []string `key:"may" of:"talk | task | control"` // at least one
}

func (c *IRCChannels) check(r *reader, path string, _ bool) {
	if c.Project == "" {
		r.fail(path+".project", "", "the bridge needs this channel")
	}
}

func (rule *IRCRule) check(r *reader, path string, ok bool) {
	if _, written := r.at[path+".channel"]; ok && !written {
		r.fail(path, "channel: NAME, or channel: none", "the channel is missing")
	}
}

func (p *IRCPermit) check(r *reader, path string, ok bool) {
	set := slices.DeleteFunc([]string{p.Account, p.Mask, p.Nick}, func(s string) bool { return s == "" })
	if ok && len(set) != 1 {
		r.fail(path, "{account: NAME, may: [talk]}", "want one of account, mask and nick")
	} else if ok && len(p.May) == 0 {
		r.fail(path, "may: [talk, task, control]", "may is missing: what is allowed?")
	}
}
