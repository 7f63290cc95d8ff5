package config

import (
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
)

// Name is the name of the configuration file.
const Name = rendezvous.ConfigName

// A File is a configuration that was read and found good. Its values do not
// change; a reload makes a new one. The folders and programs that it names may
// be missing, see [File.CheckFolders].
type File struct {
	Path        string        // of the file itself, absolute
	Dir         string        // the folder that Path is in; relative paths start here
	DeadDropDir string        // where the mailboxes are, absolute; default Dir/.dead-drop
	ProjectDir  string        // where the agents work, absolute; default Dir
	Debounce    time.Duration // rest of a hand-dropped file before it is taken in; default 1 s
	MaxRunning  int           // most turns at once; default 0, auto: see [File.Running]
	MaxWarm     int           // most clients that wait for a next message; default 4
	MaxWaiting  int           // most messages that may wait in one mailbox; default 10,000
	Agents      []Agent       // at least one, in the order of the file
	Lead        string        // the agent that gets the lead's mail; default "", the person
	LeadName    string        // what the person is called, and may be written to, besides lead; default ""
	Topics      Topics
	Policy      Policy
	IRC         IRC
	Log         Log
	Audit       Audit
	Retention   Retention

	source []byte               // the file's content
	shown  string               // the path as Load was given it, for errors
	where  map[string]*position // of keys that are checked later, "coder.cwd"
}

// Log bounds the logs of the agents and the kept streams of their turns.
type Log struct {
	MaxSizeMB  int // a log is rotated at this size, in MB; default 20
	MaxBackups int // rotated logs that are kept; default 5
	MaxAgeDays int // rotated logs and streams are removed after so many days; default 30
}

// Topics say what becomes of published work that nobody claims.
type Topics struct {
	ClaimTimeout time.Duration // it is offered again after this; default 2 min
	Fallback     string        // the agent that gets it at last, or lead; default "", none
}

// Audit says where finished turns are recorded besides the mailboxes.
type Audit struct {
	Git bool // a commit for each finished turn on the branch dead-drop; default false
}

// Retention bounds the folders done/, and refused/. Zero keeps everything.
type Retention struct {
	DoneDays int // finished messages are removed after so many days; default 0 (never), else at least 7
	DoneMB   int // the oldest are removed when all done/ together are larger, in MB; default 0 (never)

	RefusedDays int // refused messages are removed after so many days; default 30, 0 is never
	RefusedMB   int // the oldest are removed when refused/ is larger, in MB; default 100, 0 is never
}

// A Session says which conversation of the client a turn goes on with.
type Session string

// The session modes.
const (
	SessionResume   Session = "resume"   // the agent's own session, by its id
	SessionContinue Session = "continue" // the newest session of the folder, whoever made it
	SessionFresh    Session = "fresh"    // a new one for every message
)

// An Agent is one agent with every key filled in: from its own entry, else from
// defaults, else from the built-in value that is named here.
type Agent struct {
	Name    string // its mailbox and address
	Role    string // what it is for, one line; ""
	Zone    string // the part of the project it minds, one line; ""
	System  string // added to the client's system prompt; ""
	Backend string // the kind of agent program; claude
	// Attached says that a person's own session is this agent: the daemon runs no
	// turns for it.
	Attached bool
	// AttachedMail says what the Stop hook of that session does with mail: continue
	// or notify.
	AttachedMail string

	// Command is the backend's program and its first arguments; claude. A
	// program with a slash in it is an absolute path here, another is looked
	// up in PATH when a turn starts.
	Command []string

	PermissionMode string        // default, acceptEdits, plan, dontAsk or bypassPermissions; acceptEdits
	WindowTokens   int           // size of the window, in tokens; 100,000
	CompactWindow  int           // context at which the client compacts, in tokens; 200,000
	StallTimeout   time.Duration // a turn that is silent and idle for this long is ended; 10 min
	TurnTimeout    time.Duration // the longest turn; 2 h
	RetryDelay     time.Duration // first wait after a failed turn, doubling; 30 s
	MaxFailures    int           // failures of one message before it is given up; 3
	Session        Session       // resume
	Background     bool          // the client may work on beside the conversation, and begin work by itself; false
	Linger         time.Duration // how long the client stays for the next message; 0, a process for each turn

	// AllowedTools are the tools it may use. nil allows all; a list, even an
	// empty one, denies what is not on it.
	AllowedTools    *[]string
	DisallowedTools *[]string // tools it may not use; nil is none

	CCLead bool // the lead gets a copy of what it sends to other agents; false

	// MCP gives it the tools of our own MCP server; true. MCPServers are further
	// servers, by name; none.
	MCP         bool
	MCPServers  map[string]MCPServer
	AllowedDirs []string // folders it may change to besides Cwd and the project, absolute; none

	Model    string            // "" is the client's own default
	Thinking string            // off, low, medium, high, xhigh or max; "" is the client's own default
	Cwd      string            // the folder it works in, absolute; ProjectDir
	Channels []string          // its channels on IRC, with {slug} in them; none: the project's
	Reread   []string          // files it is told to read first at every turn, as written; none
	Env      map[string]string // added to the client's environment; none
	EnvDrop  []string          // variables taken out of it, NAME or PREFIX_*; none
}

// Running is how many turns run at once: MaxRunning, or [DefaultRunning] of this
// machine. To look at the machine takes as long as to read a short file, and who
// only sends a message need not know.
func (f *File) Running() int {
	if f.MaxRunning == 0 {
		return auto()
	}
	return f.MaxRunning
}

// Home is the daemon's own folder, beside the file.
func (f *File) Home() string { return filepath.Join(f.Dir, rendezvous.HomeName) }

// Source is the content of the file as it was read.
func (f *File) Source() []byte { return f.source }

// CCLead are the names of the agents whose messages to others the lead gets a copy of.
func (f *File) CCLead() []string {
	var names []string
	for _, a := range f.Agents {
		if a.CCLead {
			names = append(names, a.Name)
		}
	}
	return names
}

// Agent finds an agent by its name.
func (f *File) Agent(name string) (Agent, bool) {
	i := slices.IndexFunc(f.Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return f.Agents[i], true
}

// Names are the names of the agents, in the order of the file.
func (f *File) Names() []string {
	names := make([]string, len(f.Agents))
	for i, a := range f.Agents {
		names[i] = a.Name
	}
	return names
}
