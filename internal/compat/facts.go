package compat

// A fact is a property of the client that claude-swarm relies on.
type fact struct {
	name  string // one word, which names the fact in recordings
	claim string
	need  string   // the part of claude-swarm that needs the fact
	wants []string // the answers that claude-swarm works with; if empty, those that begin with "yes"
	ask   func(*lab) (string, error)
}

// These are the ids of a session and of its prompts, in the format that the client
// requires.
const (
	session = "5f0c3a52-95e5-4d09-9c5b-0f6b5d1c0a01"
	first   = "5f0c3a52-95e5-4d09-9c5b-0f6b5d1c0b01"
	second  = "5f0c3a52-95e5-4d09-9c5b-0f6b5d1c0b02"
	third   = "5f0c3a52-95e5-4d09-9c5b-0f6b5d1c0b03"
	fourth  = "5f0c3a52-95e5-4d09-9c5b-0f6b5d1c0b04"
)

var either = []string{"yes", "no"}

var facts = []fact{
	{"version", "`--version` names the version", "`doctor`", nil, versionIsTold},
	{"flags", "every flag that a turn passes is accepted", "every turn", nil, flagsAreTaken},
	{"resume", "`--session-id` creates a session, `--resume` continues it", "an agent remembers", nil, sessionIsResumed},
	{"resume-killed", "a session can be resumed after its client was killed, if the session was saved", "continuing after a crash", nil, killedSessionIsResumed},
	{"replay", "a prompt is repeated on the output with its uuid", "knowing that a message was read", nil, promptIsRepeated},
	{"replay-known", "a prompt with a known uuid is repeated and not run", "no message is worked on twice", nil, knownPromptIsNotRun},
	{"second-prompt", "one process accepts a second prompt", "`linger`", nil, secondPrompt},
	{"steer", "a prompt that arrives while a tool runs becomes part of the turn", "urgent messages, `send --now`", nil, promptInATurn},
	{"interrupt", "an interrupt ends the turn, and the process keeps running", "`send --interrupt`, `abort`", nil, interruptKeepsProcess},
	{"error", "an error is a result with `is_error` and the HTTP status", "retries, parking, dead letters", nil, errorIsTold},
	{"limit", "the error for a subscription's limit contains the reset time", "parking until then", nil, limitNamesReset},
	{"cost", "the cost of a turn is reported, even in a resumed session", "receipts, ledger, `status`", nil, costOfATurn},
	{"denied", "`dontAsk` denies tools that are not on the list, and names them", "`allowed_tools`", nil, deniedIsNamed},
	{"servers", "`mcp_status` reports our server as connected", "the check that a turn has its tools", nil, statusOfServers},
	{"tools", "with `alwaysLoad`, our tools are in the first request", "`send` as a tool", nil, toolsAreOffered},
	{"peer-message", "another session's message begins a turn under default settings", "the reason why a turn sets `crossSessionInbound`", either, messageComesIn},
	{"peer-refused", "`crossSessionInbound: refuse` refuses such a message", "messages cannot bypass the policy", nil, messageIsRefused},
	{"system-default", "a changed system prompt reaches a resumed session under default settings", "the reason why a turn passes `--system-prompt-snapshot off`", either, systemTextUnasked},
	{"system-flag", "with `--system-prompt-snapshot off`, it does, if `--help` lists that flag", "an edited role reaches its agent", nil, systemTextAsked},
	{"sub-agent", "without background tasks, the client waits for a sub-agent", "a turn ends when its work has ended", nil, subAgentIsWaitedFor},
	{"compaction", "with `autoCompactWindow: 100000`, the client compacts after this many tokens", "`compact_window`", []string{"more than 66,000, at most 68,000"}, compactsAt},
	{"compaction-hook", "the output of a SessionStart hook at a compaction reaches the model", "restoring the window", nil, hookAtCompaction},
	{"stop-hook", "a Stop hook continues a turn, with its reason as the prompt", "mail of an attached session", nil, stopHookGoesOn},
	{"hook-order", "order of hooks for a slash command", "`/inbox` of an attached session", []string{
		"UserPromptExpansion, `!` lines, UserPromptSubmit; one prompt_id",
		"UserPromptSubmit, UserPromptExpansion, `!` lines; one prompt_id",
	}, orderOfHooks},
	{"plugin-swarm", "a plugin called swarm passes validation", "`attach` with a plugin", nil, pluginValidates("swarm")},
	{"plugin-claude-swarm", "a plugin called claude-swarm passes validation", "the reason why the plugin is called swarm", either, pluginValidates("claude-swarm")},
	{"sigterm", "SIGTERM also ends a running command", "ending the leftover processes of a turn", either, termEndsAll},
}
