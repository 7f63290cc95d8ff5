package runner

import "time"

// A Spec contains the settings that stay the same for all turns of an agent. Dir is
// required; the zero value of every other field means the backend's default. The tags are
// those of the configuration's keys, and say what a person reads about them; package config
// explains them.
type Spec struct {
	// Command is the program and its first arguments. If it is empty, it is the backend's
	// default program. A program without a slash is found in the PATH of Turn.Env.
	Command []string `key:"command" also:"acp_command" is:"raw" type:"text or list" split:"words" from:"command" doc:"The program of the backend and its first arguments. Text is split at spaces, and quotes work as in a shell, but no shell runs it. A program with a slash is relative to this file. acp_command is another name for this key. The command of defaults is for the backend of defaults: an agent with another backend uses the default command of that backend."`
	// Dir is the client's working directory, as an absolute path.
	Dir string `key:"cwd" is:"cwd" type:"path" default:"." doc:"The folder in which the agent works. Relative to project_dir."`
	// System is the text to add to the client's system prompt.
	System string `key:"system" is:"raw" doc:"Added to the client's system prompt in every turn. claude-swarm itself adds name, role, zone, the other agents and how to send mail."`
	// Model is the client's name for the model.
	Model string `key:"model" is:"word" type:"text or null" doc:"The model, by the client's name or alias for it, with the provider's prefix if the client requires one (anthropic/claude-sonnet-4-6); null is the client's own choice. The meaning of an alias changes with the version of the client: for Claude Code 2.1.330, opus, which is also its own choice, is claude-opus-5-5, sonnet is claude-sonnet-5-5, haiku is claude-haiku-5-5 and fable is claude-fable-5-2, of 1,000,000 tokens each; a full name pins one."`
	// Thinking is off, low, medium, high, xhigh or max.
	Thinking string `key:"thinking" type:"off | low | medium | high | xhigh | max | null" doc:"How much the model thinks before it answers; null is the client's own choice."`
	// PermissionMode is the client's name for the mode.
	PermissionMode string `key:"permission_mode" from:"mode" doc:"What the client may do without asking, in the client's terms; each backend supports some of them, and null is the default of the backend. For claude, bypassPermissions allows everything, and applies only where it is set explicitly; if allowed_tools is a list, the client runs in dontAsk instead, unless this is plan or bypassPermissions."`
	// AllowedTools lists the allowed tools; all others are denied. nil allows all built-in
	// tools, and an empty list allows no tools.
	AllowedTools *[]string `key:"allowed_tools" is:"empty" type:"text, list or null" split:"allowed" doc:"The tools that the agent may use, by the client's names, separated by commas or as a list: \"Read,Glob,Bash(git diff:*)\". null allows all tools of the client that this version of claude-swarm knows; a tool that a newer client adds is off, and status names it. all allows such tools too. With a list, everything that is not on it is denied. Sending and reading mail is always allowed. SendMessage and ListAgents, through which the sessions of one user reach each other without the mailboxes, cannot be allowed."`
	// DisallowedTools lists tools that are denied even if AllowedTools contains them.
	DisallowedTools *[]string `key:"disallowed_tools" is:"empty" type:"text, list or null" split:"tools" doc:"The tools that the agent may not use, even if they are allowed above; written in the same way."`
	// Unsorted lists tools that the client offers and that claude-swarm does not know
	// ([Kind].Unsorted). They are denied unless AllowedTools contains them.
	Unsorted []string
	// NoTools means that the client has no tools at all, regardless of the fields above.
	// A backend that cannot remove the tools denies every tool call.
	NoTools bool
	// Background allows the client to work in parallel with the conversation and to begin
	// work on its own, with background commands, background sub-agents, timers and
	// monitors. Without it, a tool call waits for the work that it began. A turn ends
	// when all its tasks have ended.
	Background bool `key:"background" doc:"Let the client work in parallel with the conversation, and begin work on its own: commands and sub-agents in the background, timers, Monitor, Workflow and teams (see docs/teams.md). With false, a tool call waits for the work that it began, and those tools are refused, except the ones in allowed_tools. With true, a turn ends when all these tasks have ended; if one never ends, such as a server, stall_timeout or turn_timeout ends the turn."`
	// Servers contains additional MCP servers, by name. The client has no MCP servers
	// apart from these and Turn.Tools.
	Servers map[string]Server `key:"mcp_servers" type:"names with keys" is:"ours,server,removable" like:"{command: %s}" doc:"Further MCP servers for the client: {NAME: {command: …, args: […], env: {…}}}, or {NAME: {type: http, url: …, headers: {…}}}; sse is another type. An agent's servers are added to those of defaults; NAME: null removes one. Without a list in allowed_tools, all their tools are allowed. The client starts no other MCP server."`
	// With a CompactWindow of 50,000, versions 2.1.197 and 2.1.330 of Claude Code did not
	// compact a context of 72,000 tokens.
	CompactWindow int `key:"compact_window" least:"100000" default:"200000" doc:"The context size, in tokens, by which the client decides when to compact (33,000 below this number), regardless of the limit of the model: with a model of 1,000,000 tokens the default compacts at a sixth of that. The minimum is 100000, because Claude Code does not compact below that."`
	// Options contains settings that are specific to this kind of client, by name. The values
	// are those of YAML: nil, bool, int, float64, string, []any and map[string]any.
	Options map[string]any `key:"backend_options" is:"removable" type:"keys with values" doc:"Settings that only this backend or its client has, with any values. The backend checks the settings that it reads, and passes all others on to its client. An agent's options are added to those of defaults if both have the same backend; NAME: null removes one."`

	// Stall is how long a turn may run without an event while no tool call is open and
	// its processes use no CPU time. After that, the turn is stopped. 0 means never.
	Stall time.Duration `key:"stall_timeout" default:"10m" doc:"A turn is stopped, and counts as a failure, if it goes this long with no event, no open tool call and no child that uses the processor, also while its client is starting."`
	// Timeout is how long a turn may run before it is stopped. 0 means never.
	Timeout time.Duration `key:"turn_timeout" default:"2h" doc:"The maximum duration of a turn, not counting the time in which it waits for an answer; a longer turn is stopped, and counts as a failure."`
}

// A Server is an MCP server, whose tools the client offers to its model. It is either a
// program that the client starts and uses over its standard input and output, or a URL that
// the client calls.
type Server struct {
	Type    string            `key:"type" type:"stdio | http | sse"` // of a URL, http or sse; of a program, stdio or ""
	Command string            `key:"command" is:"program"`           // the program; "" for a URL
	Args    []string          `key:"args" is:"any"`
	Env     map[string]string `key:"env" is:"free,name"` // added to the program's environment
	URL     string            `key:"url" is:"url"`
	Headers map[string]string `key:"headers" is:"header"` // of the requests to the URL
}
