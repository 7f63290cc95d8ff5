package config

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// A Key is one line of the reference: docs/configuration.md is made of these.
type Key struct {
	// Path is where the key stands: "debounce", "log.max_size_mb",
	// "agents.NAME.role". What stands at agents.NAME may stand under defaults
	// as well.
	Path string
	// Type is what may be written, in words: "text", "time span", "true or
	// false", or the words themselves, separated by |.
	Type string
	// Default is the value of a key that is not written, as YAML.
	Default string
	// Doc says what the key does, with its unit and bounds.
	Doc string
}

// Keys is the reference of every key, in the order of the documentation.
func Keys() []Key {
	keys := make([]Key, 0, len(fileKeys)+len(agentKeys))
	after := slices.IndexFunc(fileKeys, func(k fileKey) bool { return strings.Contains(k.Path, ".") })
	for _, k := range fileKeys[:after] {
		keys = append(keys, k.Key)
	}
	for _, k := range agentKeys {
		keys = append(keys, Key{"agents.NAME." + k.Path, k.Type, k.Default, k.Doc})
	}
	for _, k := range fileKeys[after:] {
		keys = append(keys, k.Key)
	}
	return keys
}

// Later are the keys of parts that this version does not have. They are refused
// by name, so that nobody believes them to work.
func Later() []string { return slices.Clone(later) }

var later = []string{"budget", "supervisor", "webhooks", "worktree"}

// laterBackends are known by name, for the same reason.
var laterBackends = []string{"codex", "acp", "opencode", "copilot", "cline", "gemini", "exec"}

// claude is the one backend of this version, and the program that it runs.
const claude = "claude"

var (
	permissionModes = []string{"default", "acceptEdits", "plan", "dontAsk", "bypassPermissions"}
	sessions        = []string{string(SessionResume), string(SessionContinue), string(SessionFresh)}
	attachedMail    = []string{"continue", "notify"}
	thinkings       = []string{"off", "low", "medium", "high", "xhigh", "max"}
)

// leastCompactWindow is the least autoCompactWindow with which Claude Code compacts.
// With 50,000 the versions 2.1.197 and 2.1.330 did not, at a context of 72,000.
const leastCompactWindow = 100_000

// leastDays keeps done/ for as long as the duplicate guard looks back.
const leastDays = 7

// A fileKey is a key of the top level or of a section, and how to read it.
type fileKey struct {
	Key
	set func(r *reader, n *yaml.Node, name string, f *File)
}

// fileKeys has the top level first, then the sections.
var fileKeys = slices.Concat(topKeys, policyKeys, ircKeys, sectionKeys)

var topKeys = []fileKey{
	{Key{"dead_drop_dir", "path", ".dead-drop", "The folder with the mailboxes. Relative to this file; ~/ is the home folder. It needs a separate folder."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.DeadDropDir)(r.folder(n, name)) }},
	{Key{"project_dir", "path", ".", "The folder in which the agents work. Relative to this file. It may be missing while mail is read or written; `start` refuses then."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.ProjectDir)(r.folder(n, name)) }},
	{Key{"debounce", "time span", "1s", "How long a file dropped by hand must rest, unchanged, before it is taken in. Messages from `send` and other programs that deliver by rename wake the agent at once."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Debounce)(r.span(n, name)) }},
	{Key{"max_running", "number or auto", "auto", "The most turns that run at once; further agents wait in line. auto: twice the processor cores, but not more than one for each 600 MB of memory."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			switch v := follow(n); {
			case v.Kind == yaml.ScalarNode && v.Value == "auto":
				f.MaxRunning = 0
			case v.Kind == yaml.ScalarNode && v.Tag == "!!str":
				r.fail(v, "%s: want a whole number or auto, got %s", name, v.Value)
			default:
				set(&f.MaxRunning)(r.number(n, name, 1))
			}
		}},
	{Key{"max_warm", "number", "4", "The most clients that wait for the next message, over all agents with linger; each holds the memory of a client. The one that has waited longest is closed for another."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.MaxWarm)(r.number(n, name, 1)) }},
	{Key{"max_waiting", "number", "10000", "The most messages that may wait in one mailbox; senders are refused above that. Answers and alerts always pass."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.MaxWaiting)(r.number(n, name, 1)) }},
	{Key{"lead", "text or null", "null", "The agent that gets what others send to lead, and the alerts; null is you. Answers to your own messages still come to you, and so do alerts about that agent, what it sends to lead itself, and every alert while it cannot work."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			if isNull(follow(n)) {
				f.Lead = ""
				return
			}
			set(&f.Lead)(r.word(n, name))
		}},
	{Key{"lead_name", "text or null", "null", "What the agents call you: they read it in place of lead, and what they send to it reaches you, as does what they send to lead. On IRC it is shown and understood in place of lead, too. It looks like the name of an agent, and none has it. Files and --json go on to say lead. It does not go with lead, since an agent has a name."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			if isNull(follow(n)) {
				f.LeadName = ""
				return
			}
			set(&f.LeadName)(r.word(n, name))
		}},
}

var sectionKeys = []fileKey{
	{Key{"log.max_size_mb", "number", "20", "The log of an agent is rotated when it reaches this size, in MB."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Log.MaxSizeMB)(r.number(n, name, 1)) }},
	{Key{"log.max_backups", "number", "5", "How many rotated logs are kept for each agent."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Log.MaxBackups)(r.number(n, name, 1)) }},
	{Key{"log.max_age_days", "number", "30", "Rotated logs and the recorded streams of turns are removed after this many days."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Log.MaxAgeDays)(r.number(n, name, 1)) }},
	{Key{"topics.claim_timeout", "time span", "2m", "How long published work may wait for an agent that claims it. Then it is offered again as urgent; after twice that time it goes to topics.fallback, else the lead is told."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Topics.ClaimTimeout)(r.span(n, name)) }},
	{Key{"topics.fallback", "text or null", "null", "The agent that gets published work which nobody claims; null is none, and lead (or human, operator, supervisor) the lead, who is told of it."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			if isNull(follow(n)) {
				f.Topics.Fallback = ""
				return
			}
			set(&f.Topics.Fallback)(r.word(n, name))
		}},
	{Key{"audit.git", "true or false", "false", "Record every finished turn as a commit on the branch dead-drop of the repository that holds the mailboxes. Your own branch, index and hooks are not touched, and nothing is pushed."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Audit.Git)(r.truth(n, name)) }},
	{Key{"retention.done_days", "number", "0", "Finished messages are removed after this many days, at least 7; 0 keeps them."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			days, ok := r.number(n, name, 0)
			if ok && days > 0 && days < leastDays {
				r.fail(follow(n), "%s: %d is too small; the least is %d, or 0 to keep everything", name, days, leastDays)
				return
			}
			set(&f.Retention.DoneDays)(days, ok)
		}},
	{Key{"retention.done_mb", "number", "0", "The oldest finished messages are removed when those of all mailboxes together are larger than this, in MB, but none younger than 7 days; 0 keeps them."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Retention.DoneMB)(r.number(n, name, 0)) }},
	{Key{"retention.refused_days", "number", "30", "Refused messages are removed after this many days; 0 keeps them."},
		func(r *reader, n *yaml.Node, name string, f *File) {
			set(&f.Retention.RefusedDays)(r.number(n, name, 0))
		}},
	{Key{"retention.refused_mb", "number", "100", "The oldest refused messages are removed when those of all mailboxes together are larger than this, in MB; 0 keeps them."},
		func(r *reader, n *yaml.Node, name string, f *File) { set(&f.Retention.RefusedMB)(r.number(n, name, 0)) }},
}

// An agentKey is a key of an agent and of defaults, and how to read it.
type agentKey struct {
	Key
	set func(r *reader, n *yaml.Node, name string, a *Agent)
}

var agentKeys = []agentKey{
	{Key{"role", "text", `""`, "What the agent is for, one line. It and the other agents read it."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Role)(r.line(n, name)) }},
	{Key{"zone", "text", `""`, "The part of the project that the agent minds, one line."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Zone)(r.line(n, name)) }},
	{Key{"system", "text", `""`, "Added to the client's system prompt at every turn. Name, role, zone, the other agents and how to send mail are told by themselves."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.System)(r.text(n, name)) }},
	{Key{"backend", claude, claude, "The kind of agent program."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Backend)(r.backend(n, name)) }},
	{Key{"command", "text or list", claude, "The program of the backend and its first arguments. Text is split at spaces, quotes as in a shell; no shell runs it. A program with a slash is relative to this file."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Command)(r.command(n, name)) }},
	{Key{"permission_mode", strings.Join(permissionModes, " | "), "acceptEdits", "What the client may do without asking. bypassPermissions allows everything, and counts only where it is written. Where allowed_tools is a list, the client runs in dontAsk instead, unless this is plan or bypassPermissions."},
		func(r *reader, n *yaml.Node, name string, a *Agent) {
			set(&a.PermissionMode)(r.oneOf(n, name, permissionModes))
		}},
	{Key{"window_tokens", "number", "100000", "How much of its last turns is kept for the agent and given back after the client compacted its context, in tokens of 4 bytes."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.WindowTokens)(r.number(n, name, 1)) }},
	{Key{"compact_window", "number", "200000", "The context size, in tokens, by which the client decides when to compact (it does 33,000 below), however much the model takes: with a model of 1,000,000 tokens the default compacts at a sixth of them. The least is 100000: with less Claude Code does not compact there."},
		func(r *reader, n *yaml.Node, name string, a *Agent) {
			set(&a.CompactWindow)(r.number(n, name, leastCompactWindow))
		}},
	{Key{"stall_timeout", "time span", "10m", "A turn without an event, an open tool call or a child that uses the processor for this long is ended; that counts as a failure."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.StallTimeout)(r.span(n, name)) }},
	{Key{"turn_timeout", "time span", "2h", "The longest a turn may take; that counts as a failure."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.TurnTimeout)(r.span(n, name)) }},
	{Key{"retry_delay", "time span", "30s", "The wait after a failed turn; it doubles with every further one, up to 10 minutes."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.RetryDelay)(r.span(n, name)) }},
	{Key{"max_failures", "number", "3", "How often one message may fail before it becomes a dead letter and its sender is told."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.MaxFailures)(r.number(n, name, 1)) }},
	{Key{"session", strings.Join(sessions, " | "), "resume", "The conversation that a turn goes on with. resume: the agent's own. continue: the newest of the folder, so no two agents may share it. fresh: a new one for every message."},
		func(r *reader, n *yaml.Node, name string, a *Agent) {
			set((*string)(&a.Session))(r.oneOf(n, name, sessions))
		}},
	{Key{"attached", "true or false", "false", "The agent is a session of Claude Code that a person runs, attached with claude-swarm attach. The daemon runs no turns for it; its mail waits for that session."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Attached)(r.truth(n, name)) }},
	{Key{"attached_mail", strings.Join(attachedMail, " | "), "continue", "What an attached session does with mail at the end of a turn. continue: it goes on with the next message by itself, at most 8 in a row. notify: its person is told, and fetches mail with /inbox."},
		func(r *reader, n *yaml.Node, name string, a *Agent) {
			set(&a.AttachedMail)(r.oneOf(n, name, attachedMail))
		}},
	{Key{"linger", "time span", "0s", "How long the client stays after a turn, for the next message: that spares its start, and costs its memory meanwhile. 0s: a process for each turn. It counts with session: resume alone, since a client knows one conversation."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Linger)(r.duration(n, name)) }},
	{Key{"background", "true or false", "false", "Let the client work on beside the conversation, and begin work by itself: commands and sub-agents in the background, timers (CronCreate, CronDelete, CronList, ScheduleWakeup), Monitor and teams. With false a tool call waits for what it began, and those tools are refused, but for the ones that allowed_tools names. With true a turn ends when none of these tasks is left: stall_timeout and turn_timeout end it where a server never does."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Background)(r.truth(n, name)) }},
	{Key{"allowed_tools", "text, list or null", "null", "The tools that the agent may use, separated by commas or as a list: \"Read,Glob,Bash(git diff:*)\". null allows all; everything that is not on a list is denied. Sending and reading mail is always allowed. SendMessage and ListAgents, by which sessions of one user reach each other past the mailboxes, cannot be allowed."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.AllowedTools)(r.allowed(n, name)) }},
	{Key{"disallowed_tools", "text, list or null", "null", "The tools that the agent may not use, even when they are allowed above; written in the same way."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.DisallowedTools)(r.tools(n, name)) }},
	{Key{"cc_lead", "true or false", "false", "Send the lead a copy, as a note, of every message that the agent sends to other agents and of every answer that it gives them. Publications and what it leaves as files are not copied."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.CCLead)(r.truth(n, name)) }},
	{Key{"mcp", "true or false", "true", "Give the agent the tools of claude-swarm's own MCP server, dead-drop: to send and ask, to see who is there, to read and write the board."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.MCP)(r.truth(n, name)) }},
	{Key{"mcp_servers", "names with keys", "{}", "Further MCP servers for the client: {NAME: {command: …, args: […], env: {…}}}, or {NAME: {type: http, url: …, headers: {…}}}; sse is another type. Those of an agent are added to those of defaults; NAME: null takes one away. Without a list in allowed_tools all their tools are allowed. No other MCP server is started."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { r.servers(n, name, a) }},
	{Key{"allowed_dirs", "list", "[]", "Folders that the agent may make its working folder by the tool set_directory, besides cwd and project_dir and what is in them. Relative to this file."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.AllowedDirs)(r.folders(n, name)) }},
	{Key{"model", "text or null", "null", "The model, by the client's name or alias for it; null is the client's own choice. What an alias means changes with the client: for Claude Code 2.1.330 opus, also its own choice, is claude-opus-5-5, sonnet is claude-sonnet-5-5, haiku is claude-haiku-5-5 and fable is claude-fable-5-2, of 1,000,000 tokens each; a full name pins one."},
		func(r *reader, n *yaml.Node, name string, a *Agent) {
			if isNull(follow(n)) {
				a.Model = ""
				return
			}
			set(&a.Model)(r.word(n, name))
		}},
	{Key{"thinking", strings.Join(thinkings, " | ") + " | null", "null", "How much the model thinks before it answers; null is the client's own choice."},
		func(r *reader, n *yaml.Node, name string, a *Agent) {
			if isNull(follow(n)) {
				a.Thinking = ""
				return
			}
			set(&a.Thinking)(r.oneOf(n, name, thinkings))
		}},
	{Key{"cwd", "path", ".", "The folder in which the agent works. Relative to project_dir."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Cwd)(r.folder(n, name)) }},
	{Key{"channels", "list", "[]", "The channels of the agent on IRC: [shop-api]. What it says, and is shown of its mail, without another channel goes to the first; people speak to it there, and privately. []: the project's, and it is spoken to in every channel. The # may be left out, {slug} stands for the project."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Channels)(r.channelList(n, name)) }},
	{Key{"reread", "list", "[]", "Files that every turn begins with reading, as seen from cwd."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.Reread)(r.list(n, name)) }},
	{Key{"env", "keys with values", "{}", "Variables added to the client's environment. Values are taken as they are written, nothing is expanded. An agent's variables are added to those of defaults."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { r.variables(n, name, &a.Env) }},
	{Key{"env_drop", "list", "[]", "Variables taken out of the client's environment: NAME, or PREFIX_* for all that begin so."},
		func(r *reader, n *yaml.Node, name string, a *Agent) { set(&a.EnvDrop)(r.drops(n, name)) }},
}

// set returns a function that stores a value unless a problem was found. It
// takes both results of a reading method at once.
func set[T any](to *T) func(value T, ok bool) {
	return func(value T, ok bool) {
		if ok {
			*to = value
		}
	}
}
