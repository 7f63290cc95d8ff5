package runner

import (
	"io"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Kind contains the facts about a kind of client program that are known without running
// it. Each backend has exactly one Kind, which never changes.
type Kind struct {
	Name    string   // names the backend in the configuration, such as "claude"
	Title   string   // the usual name of the program, such as "Claude Code"
	Command []string // the default program and its first arguments; if empty, the configuration must specify them
	Install string   // the command line that installs the program
	Version Version

	Modes  []string // the client's names for its permission modes; empty if it has no modes
	Mode   string   // the default mode
	Bypass string   // the mode in which the client never asks for permission; "" if there is none
	Look   string   // the mode in which the client changes nothing; "" if there is none

	Cost    CostWay   // how results report the cost; [CostUnknown] means that it cannot be measured
	Caps    bool      // the client ends a turn that has spent [Turn].CapUSD; never set if Cost is [CostUnknown]
	Tokens  TokensWay // how results report token counts
	Resumes bool      // another process can continue a session; otherwise each process begins a new one
	// Forks means that a new session can begin as a copy of another one ([Fork]), also one that
	// began in another working tree of the same repository.
	Forks bool
	// Attaches means that the client runs our hooks in a person's session, so that
	// claude-swarm attach can make the session an agent.
	Attaches bool
	// NamesSessions means that the client chooses the id of a new session and reports it
	// in its first event. The id in [Turn.Session] is then used only if How is Resume.
	NamesSessions bool
	// RunsOnce means that the client runs a prompt with a given UUID only once in a
	// session.
	RunsOnce bool
	// Asks means that the client asks for permission ([Turn.Permit]) before it uses a
	// tool.
	Asks bool
	// Asking describes when the client asks for permission, as the rest of a sentence
	// that begins with "it asks".
	Asking string
	// Steers means that [Turn.Steering] can deliver messages to a running turn.
	Steers bool
	// Compacts means that the client reports each compaction in an event. Otherwise a
	// compaction can be detected only by a drop in the context size.
	Compacts bool

	// Linger is the default time for which the client stays after a turn to wait for the
	// next message.
	Linger time.Duration
	// Lacks contains the keys of an agent's configuration that the client does not
	// support. Each maps to what a person should write instead, or to "". A key that
	// includes a value, such as "session: continue", applies only to that value.
	Lacks map[string]string
	// Options lists the keys below backend_options that the backend itself interprets. It
	// passes all other keys to the client. nil means that the kind accepts no options.
	Options []Option

	// Own lists the files that decide what the client does and knows in later sessions.
	Own OwnFiles

	// Unsorted returns the client's own tools among those that a client offers
	// ([streamjson.Init].Tools) that this version of claude-swarm does not know. It is nil
	// for a client that does not list its tools.
	Unsorted func(offered []string) []string

	Tools Tools
	Hooks Hooks // nil if the client runs no command after a compaction
	Login Login

	// Recorded reads the work of the tools from a recorded part of the client's output
	// ([Files].Stdout), which may end in the middle of a turn. The error comes from the
	// reader. The client may still be writing. It is nil if the output does not show it.
	Recorded func(output io.Reader) (*Recorded, error)

	// Echo returns a shell script that acts as the client for one prompt. The script
	// answers with text (letters and spaces) and waits for the end of its input. A turn
	// with this script needs no client program, account or network. Echo can be nil,
	// except in the first kind.
	Echo func(text string) string

	// Secrets calls found for each secret that an event contains and that would allow
	// other programs to reach the client. mark is the text with which to replace the
	// secret. Secrets is nil if the client has no such secrets.
	Secrets func(ev *streamjson.Event, found func(secret, mark string))
}

// Program returns the name of the program that a person has to install, or "" if the
// configuration must specify it.
func (k *Kind) Program() string {
	if len(k.Command) == 0 {
		return ""
	}
	return k.Command[0]
}

// Tools interprets a client's tool calls. The names of tools and the structure of their
// input, which is JSON, differ from client to client. The methods are safe for concurrent
// use and do not retain input.
type Tools interface {
	// About returns the argument that best describes a call, such as a command or a path,
	// or "" if no single argument does.
	About(tool string, input []byte) string
	// Changes returns the file that a call changes, named as the client names it, or
	// "".
	Changes(tool string, input []byte) string
	// Runs returns the command line that a call runs, or "" if the call does not run one.
	Runs(tool string, input []byte) string
	// Looks reports whether a call only reads, searches or fetches something, or only changes
	// what the client itself remembers, such as its list of things to do.
	Looks(tool string, input []byte) bool
	// Waits reports whether a call only waits for work that began before the call.
	Waits(tool string, input []byte) bool
	// Allow returns an entry for allowed_tools, or for permissions if the client asks, that
	// would allow a denied call. The entry is as narrow as possible, but wide enough for the
	// next such call.
	Allow(tool string, input []byte) string
}

// Hooks describes how a client runs [Turn.Hook] right after a compaction, so that the
// model reads the command's output.
type Hooks interface {
	// Room returns the maximum length, in UTF-16 code units, of text that is certain to
	// reach the model in full, even with one line in front of it.
	Room() int
	// Answer returns the output that the command must print so that the model reads text.
	Answer(text string) []byte
	// Answered reports, in ended, whether an event means that a hook has ended. printed
	// is the hook's output, which shows whether the hook was ours. ok is true if the hook
	// succeeded.
	Answered(ev *streamjson.Event) (printed string, ok, ended bool)
	// Blocked returns why, according to its settings in dir and home, a client in the
	// folder dir does not run our hooks, or "" if it runs them.
	Blocked(home, dir string) string
}

// A CostWay specifies the meaning of the cost in a client's results
// ([streamjson.Result].CostUSD).
type CostWay int

// These are the ways in which clients report their cost.
const (
	CostUnknown   CostWay = iota // no cost
	CostOfResult                 // the cost since the last result
	CostOfProcess                // a running total of the process, which may restart at 0; SinceLastUSD takes precedence if it is set
	// CostOfSession is a running total of the session, over all its processes. It may
	// also restart at 0. See [Account.Resumed].
	CostOfSession
)

// A TokensWay specifies the meaning of the usage in a client's results.
type TokensWay int

// These are the ways in which clients report their token counts.
const (
	TokensOfResult  TokensWay = iota // the tokens since the last result
	TokensOfProcess                  // a running total of the process, which may restart at 0
	// TokensOfSession is a running total of the session, over all its processes. It may
	// also restart at 0. See [Account.Resumed].
	TokensOfSession
)

// A Version describes the client versions with which a backend is tested.
type Version struct {
	Supported string // as text
	Install   string // the command line that installs a tested version
	// Read parses the first line that the program prints for --version. It is never nil.
	Read func(line string) (version string, fit Fit)
}

// A Fit is the result of comparing the version of a program with the tested versions.
type Fit int

// These are the possible results.
const (
	Foreign Fit = iota // another program
	TooOld
	Tested
	Untested // newer than the tested versions, or otherwise different from them
)

// OwnFiles lists files and folders from which a client reads settings, rules, commands or
// memory, each with everything below it. One who writes them decides what later sessions
// may do and know. A name can contain * as in [ProtectedPath].
type OwnFiles struct {
	Folder  []string // below the login folder ([Login])
	Home    []string // below HOME
	Project []string // in the folder in which the client runs, and in the project
	// Memory and ProjectMemory are the places to which the client writes on its own and
	// which it reads in each later session, below the login folder and as Project.
	Memory, ProjectMemory []string
}

// A Login describes how a client logs in, and which environment variables it uses for
// that.
type Login struct {
	Keys []string // variables, any one of which is enough to log in
	File string   // the name of the login file in the login folder; "" if there is none
	Home string   // the login folder, relative to HOME
	Try  string   // what a person has to do to log in

	// Vars lists the variables that determine which account a client uses, including HOME
	// if the login is below it.
	Vars []string
	// Folder is the variable in Vars that names the login folder. If it is set, HOME is
	// irrelevant.
	Folder string
}
