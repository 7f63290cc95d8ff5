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

// A Plan is the part of a swarm that the configuration determines.
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

// Retention limits how much is kept in done/ and refused/. A zero value means no limit.
type Retention struct {
	Days int
	MB   int64

	RefusedDays int
	RefusedMB   int64
}

// A Spec describes how one agent works. It does not change during a turn.
type Spec struct {
	Name    string
	Role    string
	Zone    string
	Tags    []string // words that describe the agent's skills; other agents use them as addresses
	Backend string   // key of Options.Backends; "" means the only backend
	// Client contains the settings for the backend: command, folder, system prompt,
	// model, permissions, time limits.
	Client runner.Spec
	// AllTools gives the client also the tools that this version of claude-swarm does not
	// know ([runner.Kind].Unsorted).
	AllTools bool

	WindowTokens int           // size of the window, in tokens of 4 bytes; 0 means 100,000
	RetryDelay   time.Duration // first wait after a failed turn; 0 means 30 s
	MaxFailures  int           // number of failures after which a message is given up; 0 means 3
	Session      turn.SessionMode
	Linger       time.Duration     // how long a client waits for mail if Session is resume; 0 means that it does not wait
	Channels     []string          // the agent's IRC channels, main channel first; empty means Plan.IRC
	Reread       []string          // files that the prompt tells the agent to read first
	Env          map[string]string // added to the client's environment
	EnvDrop      []string          // variables removed from that environment: names, or prefixes that end with *
	Tools        bool              // the client gets the tools of Options.Tools
	Permissions  permission.Rules  // rules for the client's permission requests, if it asks (runner.Kind.Asks)
	Hours        hours.Hours       // hours in which the agent begins turns; the zero value means always
	Heartbeat    Heartbeat
	Attached     bool // a person's own session handles its mail (mail.Attached); the daemon runs no turns for it
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
	ClaimTimeout time.Duration
	Fallback     string // the fallback agent; "" and the lead mean no fallback
}

func (p TopicPolicy) claimTimeout() time.Duration {
	if p.ClaimTimeout == 0 {
		return 120 * time.Second
	}
	return p.ClaimTimeout
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
	After time.Duration // idle time before the first prompt; the wait then doubles up to longestBeat
	Text  string        // text of the prompt; "" means [mail.HeartbeatText]
}
