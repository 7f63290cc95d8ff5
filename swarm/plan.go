package swarm

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"log/slog"
	"slices"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/hours"
	"github.com/claude-swarm/claude-swarm/internal/permission"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
	"github.com/claude-swarm/claude-swarm/swarm/verify"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// Options contains the parameters of [New]. Project, Store, Plan and Backends are
// required.
type Options struct {
	// Config is the path of the configuration file, which agents must not change. It can be
	// empty.
	Config string

	// Project is the folder that contains claude-swarm.yaml. The daemon's own files are
	// in its .claude-swarm subfolder.
	Project string
	// Store contains the mailboxes. The caller opens, locks and closes the store.
	Store *dropbox.Store
	// Plan lists the agents and their settings. Reload replaces the plan.
	Plan Plan
	// Backends maps the names that the agents' Specs use to backends.
	Backends map[string]runner.Backend
	// Program is the path of the claude-swarm program. Its folder is the first entry in
	// the agents' PATH, and the compaction hook runs it. If Program is empty, agents get
	// neither the PATH entry nor the hook.
	Program string
	// Tools is the MCP server through which agents reach the swarm; nil means no tools.
	Tools *runner.Server
	// Version is shown in the status.
	Version string
	// Gate decides which messages may pass. If Gate is nil, only loops are stopped.
	Gate mail.Gate
	// Listeners receive the events, just as the lead and IRC do.
	Listeners []notice.Listener
	// Announcer selects the events that people see on IRC. If it is nil, IRC shows no
	// events.
	Announcer notice.Announcer
	// Advise, if set, is called when an agent's turn begins, and returns a line for the
	// prompt, or "". The Spec's Tools field specifies whether the client really has the
	// tools. Advise must be safe for concurrent use.
	Advise func(agent Spec) string
	// InFile, if set, returns the names of the agents in the configuration file as it is
	// now, or nil if the file cannot be read. It must be safe for concurrent use.
	InFile func() []string
	// Log receives the daemon's own log entries; nil discards them.
	Log *slog.Logger
	// Environ is the environment that agents inherit, before the daemon's rules remove and
	// add variables; nil means an empty one.
	Environ []string
	// LockLost, if set, reports whether another program deleted or replaced the file with
	// which the caller locks the project. The sweep calls it.
	LockLost func() bool
	// Restored, if set, is called after LockLost has returned true, or after the daemon's
	// own folder was deleted by another program and has been recreated. It locks the
	// project again, and writes the files that belong to the caller.
	Restored func() error
	// Taken, if set, is called if the lock on the mailboxes was deleted, and another daemon
	// has locked them in the meantime. The caller must then stop this one.
	Taken func(error)
	// Moved, if set, is called once, when the project's folder has not been at its path for two
	// minutes, because it was moved, replaced or deleted. The error says which. The daemon cannot
	// work without it, so the caller must stop the daemon.
	Moved func(error)
	// Restart overrides the default restart policy. Its zero fields keep the defaults.
	Restart RestartPolicy
	// Sweep is the interval of the periodic folder check, which does not depend on
	// events; 0 means 30 s.
	Sweep time.Duration
	// Poll means that no folder is watched, so only the periodic folder check finds new
	// mail. Only tests set this field: a fake clock stands still while a goroutine waits
	// for events from the system.
	Poll bool
	// Files writes the daemon's own files. Only tests set this field, in order to
	// interrupt a write.
	Files durable.Files
}

// A Plan is the part of a swarm that the configuration determines. Package config reads its
// parts: their tags are the configuration's keys.
type Plan struct {
	Agents []Spec
	mail.Names
	MaxRunning int           // maximum number of concurrent turns; 0 means 4
	MaxWarm    int           // maximum number of clients that may wait for their agent's next message; 0 means 4
	Debounce   time.Duration // how long a dropped file must stay unchanged before delivery; 0 means 1 s
	Log        journal.LogPolicy
	Topics     TopicPolicy
	Retention  Retention
	IRC        string // the channel in which the agents and people talk; "" means none
	// Supervisor configures the supervision of the agents; nil means no supervision.
	Supervisor *Supervision
	// TurnsPerHour is the maximum number of turns that an agent may begin within an hour
	// without input from a person; 0 means no limit.
	TurnsPerHour int
	Zone         *time.Location // determines when a day begins; nil means the local time zone
	Quiet        *hours.Hours   // hours in which the person gets only messages that cannot wait; nil means none
	Budget       budget.Rules
	// Verifiers are the verifiers by name, Protect the patterns of the files that they take from
	// the target, and VerifierDrop the variables that they do not get.
	Verifiers    map[string]verify.Settings
	Protect      []string
	VerifierDrop []string
	// Editable lists the clients' own files that agents may change; see
	// [turn.Settings].
	Editable []string
}

// Supervision configures when an agent counts as stuck.
type Supervision struct {
	supervisor.Settings
	// Backend and Client run the judge model. Without a model, only the rules judge. The
	// client's folder is empty and outside the project. A client reads instructions in its
	// folder and in the parent folders, and an agent could write such instructions in the
	// project.
	Backend string
	Client  runner.Spec
}

// JudgeName is the name of the supervisor's model in the ledger.
const JudgeName = "supervisor"

// supervision returns the settings of the supervisor.
func (p Plan) supervision() supervisor.Settings {
	if p.Supervisor == nil {
		return supervisor.Settings{}
	}
	return p.Supervisor.Settings
}

// Retention limits how long messages stay in the folders done/ and refused/. Zero means
// that everything is kept. The minimum of DoneDays is the number of days that the
// duplicate guard looks back.
type Retention struct {
	DoneDays int `key:"done_days" least:"7" zero:"to keep everything" doc:"Finished messages are removed after this many days, at least 7; 0 keeps them."`
	DoneMB   int `key:"done_mb" zero:"to keep everything" doc:"The oldest finished messages are removed when those in all mailboxes together take up more than this, in MB, but none younger than 7 days; 0 keeps them."`

	RefusedDays int `key:"refused_days" zero:"to keep everything" default:"30" doc:"Refused messages are removed after this many days; 0 keeps them."`
	RefusedMB   int `key:"refused_mb" zero:"to keep everything" default:"100" doc:"The oldest refused messages are removed when those in all mailboxes together take up more than this, in MB; 0 keeps them."`
}

// A Spec describes how one agent works. It does not change during a turn.
type Spec struct {
	Name string
	AgentSettings
	// AllTools gives the client also the tools that this version of claude-swarm does not
	// know ([runner.Kind].Unsorted).
	AllTools    bool
	Permissions permission.Rules // rules for the client's permission requests, if it asks (runner.Kind.Asks)
	Hours       hours.Hours      // hours in which the agent begins turns; the zero value means always
}

// AgentSettings are the settings of an agent that the daemon uses as they are in the
// configuration. The tags are those of the configuration's keys; see package config.
type AgentSettings struct {
	Role string `key:"role" is:"empty" doc:"What the agent is for, one line. The agent itself and the other agents read this."`
	Zone string `key:"zone" is:"empty" doc:"The part of the project that the agent is responsible for, one line."`
	// Tags describe the agent's skills. They are also addresses: @TAG means every agent with
	// that tag.
	Tags []string `key:"tags" is:"tag,once" doc:"Words for what the agent is good at: [frontend, go]. They are shown to the other agents, and @frontend is the address of every agent with that tag: \x60claude-swarm send @frontend TEXT\x60. A tag has the same form as an agent's name, but must not be the name of an agent."`
	// Settings are those of the agent's turns: the backend; the client's command, folder,
	// system prompt, model, permissions and time limits; the environment; the session. A
	// WindowTokens of 0 means 100,000. Tools are those of Options.Tools.
	turn.Settings
	// Verify names the verifiers that run after a turn that ended well in a working tree.
	Verify []string `key:"verify" is:"word,once" doc:"The verifiers that judge the commit of a turn: [test]. They run when the turn has ended, before its message counts as done. If one is red, the message goes back to the agent with the output, at most twice; then it is filed as failed, and the lead is told. It needs worktree: agent or task. See docs/verifiers.md."`
	// Worktree says in which git working tree the agent's turns run.
	Worktree worktree.Settings `key:",inline"`
	// RetryDelay is the first wait after a failed turn; 0 means 30 s.
	RetryDelay time.Duration `key:"retry_delay" default:"30s" doc:"The wait after a failed turn; it doubles with each further failure, up to 10 minutes."`
	// MaxFailures is the number of failures after which a message is given up; 0 means 3.
	MaxFailures int `key:"max_failures" default:"3" doc:"How many times one message may fail before it becomes a dead letter and its sender is notified."`
	// Channels are the agent's IRC channels, main channel first; empty means Plan.IRC.
	Channels []string `key:"channels" is:"word,channel,once" doc:"The channels of the agent on IRC: [shop-api]. Its lines, and the copies of its mail, go to the first unless they name another; people speak to it there, or privately. []: the project's channel, and people speak to it in every channel. The # may be left out; {slug} means the project."`
	// Reread lists files that the prompt tells the agent to read first.
	Reread    []string  `key:"reread" doc:"Files that the agent reads at the beginning of every turn, relative to cwd."`
	Heartbeat Heartbeat `key:",inline"`
	// Attached means that a person's own session handles the agent's mail ([mail.Attached]).
	// The daemon runs no turns for it.
	Attached bool `key:"attached" doc:"The agent is a Claude Code session that a person runs, attached with claude-swarm attach. The daemon runs no turns for it; its mail waits for that session."`
}

func (s Spec) maxFailures() int {
	if s.MaxFailures == 0 {
		return 3
	}
	return s.MaxFailures
}

func (s Spec) retryDelay() time.Duration {
	if s.RetryDelay == 0 {
		return 30 * time.Second
	}
	return s.RetryDelay
}

func (s Spec) windowTokens() int {
	if s.WindowTokens == 0 {
		return 100_000
	}
	return s.WindowTokens
}

// budget returns the caps, the time zone that determines when a day begins, and the name
// of the judge model.
func (p Plan) budget() budget.Rules {
	r := p.Budget
	r.Zone = cmp.Or(r.Zone, p.Zone)
	if p.Supervisor != nil && p.Supervisor.Client.Model != "" {
		r.Judge = JudgeName
	}
	return r
}

func (p Plan) maxRunning() int {
	if p.MaxRunning == 0 {
		return 4
	}
	return p.MaxRunning
}

func (p Plan) maxWarm() int {
	if p.MaxWarm == 0 {
		return 4
	}
	return p.MaxWarm
}

func (p Plan) debounce() time.Duration {
	if p.Debounce == 0 {
		return time.Second
	}
	return p.Debounce
}

// mixed reports whether the agents have clients of different kinds.
func (p Plan) mixed() bool {
	return slices.ContainsFunc(p.Agents, func(s Spec) bool { return s.Backend != p.Agents[0].Backend })
}

// spec returns the Spec of the named agent.
func (p Plan) spec(name string) (Spec, bool) {
	for _, s := range p.Agents {
		if s.Name == name {
			return s, true
		}
	}
	return Spec{}, false
}

// A TopicPolicy contains the rules for unclaimed published work.
type TopicPolicy struct {
	// ClaimTimeout is the time between two steps; 0 means 120 s, the value in the source
	// document. In the first step the work is offered again as urgent. In the second step it
	// is given to Fallback, if set. In the last step the daemon tells the lead.
	ClaimTimeout time.Duration `key:"claim_timeout" default:"2m" doc:"How long published work may wait for an agent to claim it. Then it is offered again as urgent; after twice that time it goes to topics.fallback, or the lead is notified if that is null."`
	// Fallback is an agent or a role; "" and the lead mean no fallback.
	Fallback string `key:"fallback" is:"word" type:"text or null" doc:"Who gets published work that nobody claims: an agent, or a role, which means the first agent that has it and did not publish the work. null means none, and lead (or human, operator, supervisor) means that the lead is notified."`
	// Rules replace Fallback and ClaimTimeout for some topics. The first rule whose pattern
	// matches applies.
	Rules []TopicRule `key:"rules" like:"[{topic: \"review.*\", fallback: reviewer}]" doc:"What is different for some topics; the first rule whose pattern matches decides: [{topic: \"deploy.>\", fallback: human}, {topic: \"review.*\", fallback: reviewer, claim_timeout: 10m}]. topic is a pattern as in claude-swarm subscribe. A key that is left out is that of topics."`
}

// A TopicRule says what happens to unclaimed work on some topics.
type TopicRule struct {
	Topic        string        `key:"topic" is:"pattern"`             // as in [topic.Matches]
	Fallback     string        `key:"fallback" type:"text or null"`   // as in [TopicPolicy]
	ClaimTimeout time.Duration `key:"claim_timeout" type:"time span"` // 0 means that of [TopicPolicy]
}

// For returns the rule for a topic, with all its fields. If none matches, it is made from the
// policy's own fields.
func (p TopicPolicy) For(name string) TopicRule {
	rule := TopicRule{Topic: ">", Fallback: p.Fallback}
	if i := slices.IndexFunc(p.Rules, func(r TopicRule) bool { return topic.Matches(r.Topic, name) }); i >= 0 {
		rule = p.Rules[i]
	}
	rule.ClaimTimeout = cmp.Or(rule.ClaimTimeout, p.ClaimTimeout, 120*time.Second)
	return rule
}

// fallback returns the agent to which a rule gives the work of a publisher, or "" if it names
// none that is left.
func (p Plan) fallback(r TopicRule, publisher string) string {
	if _, ok := p.spec(r.Fallback); ok {
		if r.Fallback == publisher {
			return ""
		}
		return r.Fallback
	}
	for _, s := range p.Agents {
		if s.Role == r.Fallback && r.Fallback != "" && s.Name != publisher {
			return s.Name
		}
	}
	return ""
}

// accountOf derives the name of a client's account from the client's environment. This is
// the inherited environment, minus the variables that the agent's settings drop, plus the
// variables that the settings add. The name is a hash because the API keys in the
// environment must not appear in files or logs.
func accountOf(login runner.Login, environ []string, spec Spec) string {
	decisive := slices.DeleteFunc(slices.Clone(environ), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return !slices.Contains(login.Vars, name)
	})
	env := map[string]string{}
	for _, kv := range runner.Environ(decisive, runner.EnvOptions{Drop: spec.EnvDrop, Add: spec.Env}) {
		name, value, _ := strings.Cut(kv, "=")
		env[name] = value
	}
	if env[login.Folder] != "" {
		delete(env, "HOME")
	}
	h := sha256.New()
	for _, name := range login.Vars {
		h.Write([]byte(name + "=" + env[name] + "\x00"))
	}
	return hex.EncodeToString(h.Sum(nil)[:6])
}

// mayWrite reports whether a client with these settings may change files.
func mayWrite(s runner.Spec) bool {
	if s.PermissionMode == "plan" {
		return false
	}
	return s.AllowedTools == nil || slices.ContainsFunc(*s.AllowedTools, func(rule string) bool {
		tool, _, _ := strings.Cut(rule, "(")
		return slices.Contains([]string{"Bash", "Edit", "MultiEdit", "NotebookEdit", "Write"}, tool)
	})
}

// levels are the thinking levels, lowest first.
var levels = []string{"off", "low", "medium", "high", "xhigh", "max"}

// deeper returns the next thinking level above the given one. If the given level is "",
// the client chooses its level, and deeper treats it as medium.
func deeper(level string) string {
	i := slices.Index(levels, level)
	switch {
	case level == "":
		return "high"
	case i < 0 || i == len(levels)-1: // a number of tokens, or the highest level
		return level
	}
	return levels[i+1]
}

// A Heartbeat configures the prompts that an idle agent gets. The zero value means no
// prompts.
type Heartbeat struct {
	// After is the idle time before the first prompt; the wait then doubles up to
	// longestBeat.
	After time.Duration `key:"heartbeat" is:"switch" zero:"for none" type:"time span, true or null" doc:"Prompt the agent when it has been idle for this long without any mail; true is 30s. Each further prompt waits twice as long, up to an hour, until mail arrives. Such a turn costs as much as any other. null and false mean none. See docs/hours.md."`
	// Text is the text of the prompt; "" means [mail.HeartbeatText].
	Text string `key:"heartbeat_prompt" is:"raw" type:"text or null" doc:"What the heartbeat tells the agent; null means a request to continue any work that it has put aside."`
}
