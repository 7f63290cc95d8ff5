package runner

import (
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Kind contains the facts about a kind of client program that are known without running
// it. Each backend has one, which never changes.
type Kind struct {
	Name    string   // names the backend in the configuration, such as "claude"
	Title   string   // what people call the program, such as "Claude Code"
	Command []string // the default program and its first arguments; empty: the configuration must name them
	Install string   // the command line that installs the program
	Version Version

	Modes  []string // the permission modes, as the client calls them; empty: it has none
	Mode   string   // the default mode
	Bypass string   // the mode in which the client never asks for permission; "" if it has none
	Look   string   // the mode in which the client changes nothing; "" if it has none

	Cost    CostWay   // how its results report the cost; [CostUnknown]: what it spends cannot be counted
	Caps    bool      // it ends a turn that has spent [Turn].CapUSD; only if Cost is not [CostUnknown]
	Tokens  TokensWay // how its results count their tokens
	Resumes bool      // another process can continue a session; otherwise each process begins a new one
	// Attaches says that the client runs our hooks in a person's session, so that
	// claude-swarm attach can make the session an agent.
	Attaches bool
	// NamesSessions says that the client chooses the id of a new session and reports it in
	// its first event. The id in [Turn.Session] then counts only if How is Resume.
	NamesSessions bool
	// RunsOnce says that the client runs a prompt with the same UUID only once in a
	// session.
	RunsOnce bool
	// Asks says that the client asks [Turn.Permit] before it uses a tool.
	Asks bool
	// Asking says what the client asks for, in words that complete the sentence "it asks
	// …".
	Asking string
	// Steers says that [Turn.Steering] can bring messages to its running turn.
	Steers bool
	// Compacts says that an event of the client reports each compaction. Otherwise only a
	// drop in the size of the context reveals a compaction.
	Compacts bool

	// Linger is the default time for which the client stays after a turn, for the next
	// message.
	Linger time.Duration
	// Lacks contains the keys of an agent's configuration that the client does not
	// support. Each maps to what a person should write instead, or to "". A key that
	// includes a value, such as "session: continue", concerns only that value.
	Lacks map[string]string
	// Options are the keys below backend_options that the backend reads itself. It passes
	// the others to the client. nil means that the kind takes no options.
	Options []Option

	Tools Tools
	Hooks Hooks // nil if the client runs no command after a compaction
	Login Login

	// Echo returns a shell script that acts as the client for one prompt: it says text
	// (letters and spaces) and waits for the end of its input. A turn with this script
	// needs no program, account or network. Echo may be nil, except in the first kind.
	Echo func(text string) string

	// Secrets calls found for each secret in an event that would let other programs reach
	// the client. mark is the text that replaces the secret. Secrets is nil if the client
	// has no such secrets.
	Secrets func(ev *streamjson.Event, found func(secret, mark string))
}

// Program returns the name of the program that a person installs, or "" if the
// configuration must name it.
func (k *Kind) Program() string {
	if len(k.Command) == 0 {
		return ""
	}
	return k.Command[0]
}

// Tools interprets a client's tool calls. Tools differ from client to client in their
// names and in the shape of their input, which is JSON. The methods are safe for
// concurrent use and do not keep input.
type Tools interface {
	// About returns the argument that describes a call best, such as a command or a path,
	// or "" if only the whole input describes it.
	About(tool string, input []byte) string
	// Changes returns the file that a call changes, as the client names it, or "".
	Changes(tool string, input []byte) string
	// Runs returns the command line of a call that runs one, or "".
	Runs(tool string, input []byte) string
	// Waits reports whether a call only waits for work that began before the call.
	Waits(tool string, input []byte) bool
	// Allow returns the entry of allowed_tools, or of permissions for a client that asks, that
	// permits a denied call: as narrow as possible, but wide enough for the next such call.
	Allow(tool string, input []byte) string
}

// Hooks describes how a client runs [Turn.Hook] right after a compaction, so that the
// model reads what the command prints.
type Hooks interface {
	// Room returns the size, in UTF-16 code units, of the longest text that is sure to
	// reach the model unabridged with one line in front of it.
	Room() int
	// Answer returns what the command must print so that the model reads text.
	Answer(text string) []byte
	// Answered reports whether an event says that a hook has ended. printed is what the
	// hook printed, which shows whether it was ours; ok says that it succeeded.
	Answered(ev *streamjson.Event) (printed string, ok, ended bool)
	// Blocked returns why a client in the folder dir does not run our hooks, judging by its
	// settings there and below home, or "" if it runs them.
	Blocked(home, dir string) string
}

// A CostWay is the meaning of the cost in a client's results: [streamjson.Result].CostUSD.
type CostWay int

// Clients report their cost in these ways.
const (
	CostUnknown   CostWay = iota // they report no cost
	CostOfResult                 // the cost since the last result
	CostOfProcess                // a running total of the process, which may restart at 0; SinceLastUSD takes precedence if it is set
	// CostOfSession is a running total of the session, over all its processes. It too may
	// restart at 0. See [Account.Resumed].
	CostOfSession
)

// A TokensWay is the meaning of the usage in a client's results.
type TokensWay int

// Clients count their tokens in these ways.
const (
	TokensOfResult  TokensWay = iota // the tokens since the last result
	TokensOfProcess                  // a running total of the process, which may restart at 0
	// TokensOfSession is a running total of the session, over all its processes. It too
	// may restart at 0. See [Account.Resumed].
	TokensOfSession
)

// A Version describes the versions of a client with which a backend is tested.
type Version struct {
	Supported string // in words
	Install   string // the command line that installs a tested version
	// Read reads the first line that the program prints for --version. Every kind has it.
	Read func(line string) (version string, fit Fit)
}

// A Fit compares the version of a program with the tested versions.
type Fit int

// These are the results of the comparison.
const (
	Foreign Fit = iota // another program
	TooOld
	Tested
	Untested // newer than the tested versions, or not one of them
)

// A Login describes how a client logs in, and which variables it uses.
type Login struct {
	Keys []string // variables; any one of them is enough to log in
	File string   // the file of the login, in the login's folder; "" if there is none
	Home string   // the folder of the login below HOME
	Try  string   // what a person does to log in

	// Vars decide which account a client uses; they include HOME if the login is below it.
	Vars []string
	// Folder is the variable among Vars that names the folder of the login. If it is set,
	// HOME does not matter.
	Folder string
}
