package config

import (
	"cmp"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/budget"
)

// An Agent is one agent with a value for every key. The value is taken from the agent's
// own entry, then from defaults, then from the built-in values.
type Agent struct {
	Name   string // also its mailbox and its address
	Role   string `key:"role" is:"empty" doc:"What the agent is for, one line. The agent itself and the other agents read this."`
	Zone   string `key:"zone" is:"empty" doc:"The part of the project that the agent is responsible for, one line."`
	System string `key:"system" is:"raw" doc:"Added to the client's system prompt in every turn. claude-swarm itself adds name, role, zone, the other agents and how to send mail."`
	// Tags are also addresses: @TAG means every agent with that tag.
	Tags    []string `key:"tags" is:"tag,once" doc:"Words for what the agent is good at: [frontend, go]. They are shown to the other agents, and @frontend is the address of every agent with that tag: \x60claude-swarm send @frontend TEXT\x60. A tag has the same form as an agent's name, but must not be the name of an agent."`
	Backend string   `key:"backend" is:"raw,backend" from:"backend" doc:"The kind of agent program. A kind without a default program needs the key command."`

	// Command is the backend's program and its first arguments. If the program contains a
	// slash, it has been made an absolute path; otherwise it is looked up in PATH when a
	// turn starts.
	Command []string `key:"command" also:"acp_command" is:"raw" type:"text or list" split:"words" from:"command" doc:"The program of the backend and its first arguments. Text is split at spaces, and quotes work as in a shell, but no shell runs it. A program with a slash is relative to this file. acp_command is another name for this key. The command of defaults is for the backend of defaults: an agent with another backend uses the default command of that backend."`

	// BackendOptions contains YAML values: nil, bool, int, float64, string, []any and
	// map[string]any.
	BackendOptions map[string]any `key:"backend_options" is:"removable" type:"keys with values" doc:"Settings that only this backend or its client has, with any values. The backend checks the settings that it reads, and passes all others on to its client. An agent's options are added to those of defaults if both have the same backend; NAME: null removes one."`
	Permissions    Permissions    `key:"permissions" default:"{allow: [], ask: [], deny: [], otherwise: null, timeout: 10m}" doc:"What a client that asks before it uses a tool may do: {allow: [fetch, \"execute go test*\"], ask: [\"execute git push*\"], deny: [\"execute rm -rf*\"], otherwise: deny, timeout: 10m}. ask is a question to the lead; without an answer within timeout it means deny. otherwise is for calls that no entry names; null allows edits in the agent's folder and denies the rest. An agent's lists are added to those of defaults. See docs/permissions.md."`

	PermissionMode string `key:"permission_mode" from:"mode" doc:"What the client may do without asking, in the client's terms; each backend supports some of them, and null is the default of the backend. For claude, bypassPermissions allows everything, and applies only where it is set explicitly; if allowed_tools is a list, the client runs in dontAsk instead, unless this is plan or bypassPermissions."`
	WindowTokens   int    `key:"window_tokens" default:"100000" doc:"How much of the agent's latest turns is kept and given back after the client has compacted its context, in tokens of 4 bytes."`
	// With a compact_window of 50,000, versions 2.1.197 and 2.1.330 of Claude Code did not
	// compact a context of 72,000 tokens.
	CompactWindow int           `key:"compact_window" least:"100000" default:"200000" doc:"The context size, in tokens, by which the client decides when to compact (33,000 below this number), regardless of the limit of the model: with a model of 1,000,000 tokens the default compacts at a sixth of that. The minimum is 100000, because Claude Code does not compact below that."`
	StallTimeout  time.Duration `key:"stall_timeout" default:"10m" doc:"A turn is stopped, and counts as a failure, if it goes this long with no event, no open tool call and no child that uses the processor, also while its client is starting."`
	TurnTimeout   time.Duration `key:"turn_timeout" default:"2h" doc:"The maximum duration of a turn, not counting the time in which it waits for an answer; a longer turn is stopped, and counts as a failure."`
	RetryDelay    time.Duration `key:"retry_delay" default:"30s" doc:"The wait after a failed turn; it doubles with each further failure, up to 10 minutes."`
	MaxFailures   int           `key:"max_failures" default:"3" doc:"How many times one message may fail before it becomes a dead letter and its sender is notified."`
	Session       Session       `key:"session" type:"resume | continue | fresh" default:"resume" doc:"The conversation that a turn continues. resume: the agent's own. continue: the newest one in the folder, so no two agents may share that folder. fresh: a new one for every message."`

	// If Attached is set, a person's own session acts as this agent, and the daemon runs
	// no turns for it. AttachedMail determines what the Stop hook of that session does
	// with mail.
	Attached     bool          `key:"attached" doc:"The agent is a Claude Code session that a person runs, attached with claude-swarm attach. The daemon runs no turns for it; its mail waits for that session."`
	AttachedMail string        `key:"attached_mail" type:"continue | notify" default:"continue" doc:"What an attached session does with mail at the end of a turn. continue: it automatically continues with the next message, at most 8 in a row. notify: it only tells the person that there is mail, and the person fetches it with /inbox."`
	Linger       time.Duration `key:"linger" zero:"for a process for each turn" from:"linger" doc:"How long the client stays running after a turn, for the next message: that saves the startup time, but uses the client's memory. 0s: a process for each turn. The default is that of the backend: 10m for all clients except claude, because they are slow to start. It needs session: resume, because a client has only one conversation."`
	Background   bool          `key:"background" doc:"Let the client work in parallel with the conversation, and begin work on its own: commands and sub-agents in the background, timers, Monitor, Workflow and teams (see docs/teams.md). With false, a tool call waits for the work that it began, and those tools are refused, except the ones in allowed_tools. With true, a turn ends when all these tasks have ended; if one never ends, such as a server, stall_timeout or turn_timeout ends the turn."`

	// AllowedTools are the tools that the agent may use; see ToolList and AllTools. nil
	// allows all tools that claude-swarm knows; a list denies every tool that is not in
	// it, even if the list is empty.
	AllowedTools    *[]string `key:"allowed_tools" is:"empty" type:"text, list or null" split:"allowed" doc:"The tools that the agent may use, by the client's names, separated by commas or as a list: \"Read,Glob,Bash(git diff:*)\". null allows all tools of the client that this version of claude-swarm knows; a tool that a newer client adds is off, and status names it. all allows such tools too. With a list, everything that is not on it is denied. Sending and reading mail is always allowed. SendMessage and ListAgents, through which the sessions of one user reach each other without the mailboxes, cannot be allowed."`
	DisallowedTools *[]string `key:"disallowed_tools" is:"empty" type:"text, list or null" split:"tools" doc:"The tools that the agent may not use, even if they are allowed above; written in the same way."`

	// AllowedDirs contains absolute paths.
	CCLead      bool                 `key:"cc_lead" doc:"Send the lead a copy, as a note, of every message that the agent sends to other agents and of every answer that it gives them. Publications and dropped files are not copied."`
	MCP         bool                 `key:"mcp" default:"true" doc:"Give the agent the tools of claude-swarm's own MCP server, dead-drop: to send and ask, to list the agents, to read and write the board."`
	MCPServers  map[string]MCPServer `key:"mcp_servers" type:"names with keys" is:"ours,server,removable" like:"{command: %s}" doc:"Further MCP servers for the client: {NAME: {command: …, args: […], env: {…}}}, or {NAME: {type: http, url: …, headers: {…}}}; sse is another type. An agent's servers are added to those of defaults; NAME: null removes one. Without a list in allowed_tools, all their tools are allowed. The client starts no other MCP server."`
	AllowedDirs []string             `key:"allowed_dirs" is:"path" doc:"Folders that the agent may make its working folder with the tool set_directory, besides cwd, project_dir and the folders in them. Relative to this file."`

	// If Model or PermissionMode is empty, the client chooses. Cwd is absolute. Channels
	// may contain {slug}.
	Model    string            `key:"model" is:"word" type:"text or null" doc:"The model, by the client's name or alias for it, with the provider's prefix if the client requires one (anthropic/claude-sonnet-4-6); null is the client's own choice. The meaning of an alias changes with the version of the client: for Claude Code 2.1.330, opus, which is also its own choice, is claude-opus-5-5, sonnet is claude-sonnet-5-5, haiku is claude-haiku-5-5 and fable is claude-fable-5-2, of 1,000,000 tokens each; a full name pins one."`
	Thinking string            `key:"thinking" type:"off | low | medium | high | xhigh | max | null" doc:"How much the model thinks before it answers; null is the client's own choice."`
	Cwd      string            `key:"cwd" is:"cwd" type:"path" default:"." doc:"The folder in which the agent works. Relative to project_dir."`
	Channels []string          `key:"channels" is:"word,channel,once" doc:"The channels of the agent on IRC: [shop-api]. Its lines, and the copies of its mail, go to the first unless they name another; people speak to it there, or privately. []: the project's channel, and people speak to it in every channel. The # may be left out; {slug} means the project."`
	Reread   []string          `key:"reread" doc:"Files that the agent reads at the beginning of every turn, relative to cwd."`
	Env      map[string]string `key:"env" is:"free,name" doc:"Variables added to the client's environment. Values are used as written, without expansion. An agent's variables are added to those of defaults."`
	Budget   budget.AgentCaps  `key:"budget" like:"{day: 8, turn: 2}" default:"{day: null, turn: null}" doc:"The maximum that this agent may spend, in place of budget.agent: {day: 8, turn: 2}. null removes a cap."`
	EnvDrop  []string          `key:"env_drop" is:"drop" doc:"Variables removed from the client's environment: NAME, or PREFIX_* for all with that prefix."`

	// A Heartbeat of 0 means no heartbeats.
	Hours           Hours         `key:"hours" like:"{work: \"mon-fri 08:00-20:00\"}" default:"{zone: null, work: null}" doc:"The hours in which this agent begins turns, overriding the top-level hours, key by key: {zone: Asia/Tokyo, work: \"mon-fri 09:00-18:00\"}. work: always lets it work at all times."`
	Heartbeat       time.Duration `key:"heartbeat" is:"switch" zero:"for none" type:"time span, true or null" doc:"Prompt the agent when it has been idle for this long without any mail; true is 30s. Each further prompt waits twice as long, up to an hour, until mail arrives. Such a turn costs as much as any other. null and false mean none. See docs/hours.md."`
	HeartbeatPrompt string        `key:"heartbeat_prompt" is:"raw" type:"text or null" doc:"What the heartbeat tells the agent; null means a request to continue any work that it has put aside."`
}

// A Session determines which conversation of the client a turn continues.
type Session string

// The session modes.
const (
	SessionResume   Session = "resume"   // the agent's own session, identified by its id
	SessionContinue Session = "continue" // the newest session in the folder, even if it is a person's
	SessionFresh    Session = "fresh"    // a new session for every message
)

// An MCPServer provides additional tools to an agent's client. It is a program that the
// client starts, or an address to which it connects.
type MCPServer struct {
	Type    string            `key:"type" type:"stdio | http | sse"`
	Command string            `key:"command" is:"program"` // only for stdio; an absolute path if it contains a slash
	Args    []string          `key:"args" is:"any"`        // only for stdio
	Env     map[string]string `key:"env" is:"free,name"`   // only for stdio; added to the program's environment
	URL     string            `key:"url" is:"url"`         // only for http and sse
	Headers map[string]string `key:"headers" is:"header"`  // only for http and sse
}

// wants returns the key that a server of this type needs, and the keys that it must not
// have.
func (s *MCPServer) wants() (needs string, not []string) {
	if s.Type == "stdio" {
		return "command", []string{"url", "headers"}
	}
	return "url", []string{"command", "args", "env"}
}

// check requires the key that a server of this type needs, and refuses keys that belong
// to other types.
func (s *MCPServer) check(r *reader, path string, ok bool) {
	if !ok {
		return
	}
	if s.Type == "" && s.Command == "" && s.URL != "" {
		r.fail(path, "type: http", "the type is missing: http or sse")
		return
	}
	s.Type = cmp.Or(s.Type, "stdio")
	needs, not := s.wants()
	if _, ok := r.at[path+"."+needs]; !ok {
		r.fail(path, "", "the server's %s is missing", needs)
	}
	for _, key := range not {
		if at, ok := r.at[path+"."+key]; ok {
			r.report(at.key, path, wrong("", "%s does not belong in a server of type %s", key, s.Type))
		}
	}
}
