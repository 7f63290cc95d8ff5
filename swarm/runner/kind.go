package runner

import (
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
)

// A Kind has the facts about a kind of client program that are known without running it. A
// backend makes one, and it never changes.
type Kind struct {
	Name    string   // names the backend in the configuration, such as "claude"
	Title   string   // what people call the program, such as "Claude Code"
	Command []string // the program and its first arguments, where the configuration names none; empty: the configuration must name it
	Install string   // the command line that installs the program
	Version Version

	Modes  []string // the permission modes, as the client calls them; empty: it knows no modes
	Mode   string   // the one of Modes where the configuration names none
	Bypass string   // the one of Modes in which the client asks for nothing; "" is none
	Look   string   // the one of Modes in which it changes nothing; "" is none

	Cost    CostWay   // how its results tell their cost
	Tokens  TokensWay // how its results count their tokens
	Resumes bool      // another process of it can go on in a session; else each process begins a new one
	// Attaches says that it runs our hooks in a person's session, which claude-swarm attach
	// makes an agent.
	Attaches bool
	// NamesSessions says that the client chooses the id of a new session and tells it by its
	// first event. The id in [Turn.Session] then counts only where How is Resume.
	NamesSessions bool
	// RunsOnce says that the client runs the prompts of one UUID only once in a session.
	RunsOnce bool
	// Asks says that it asks [Turn.Permit] before it uses a tool.
	Asks bool
	// Asking says what it asks for, in words that end the sentence "it asks …".
	Asking string
	// Steers says that [Turn.Steering] can bring messages to its running turn.
	Steers bool
	// Compacts says that it tells by an event that it has compacted its context. Else a
	// fall of the size of the context shows it.
	Compacts bool

	// Linger is how long the client stays after a turn, for the next message, where the
	// configuration does not say it.
	Linger time.Duration
	// Lacks are the keys of the configuration of an agent that the client cannot honour, each
	// with what to write instead; "" is nothing. A key with a value, such as
	// "session: continue", is about that value alone.
	Lacks map[string]string
	// Options are the keys below backend_options that the backend reads itself. It hands on
	// the others to the client. nil: it takes none.
	Options []Option

	Tools Tools
	Hooks Hooks // nil: the client runs no command after a compaction
	Login Login

	// Echo is a shell script that plays the client for one prompt, says text (letters and
	// spaces) and waits for the end of its input: a turn with it needs no program, account
	// or network. It may be nil. The first kind has it.
	Echo func(text string) string

	// Secrets calls found for each secret in an event by which other programs can reach the
	// client, with the mark that replaces it. nil: the client has no such secrets.
	Secrets func(ev *streamjson.Event, found func(secret, mark string))
}

// Program is the name of the program, which a person has or installs; "" where the configuration
// must name it.
func (k *Kind) Program() string {
	if len(k.Command) == 0 {
		return ""
	}
	return k.Command[0]
}

// Tools knows the meaning of a client's tool calls. Tools differ from client to client in
// their names and in the shape of their input, which is JSON. The methods are safe for
// several goroutines, and keep nothing of input.
type Tools interface {
	// About is the argument that describes a call best, such as a command or a path; ""
	// when only the whole input does.
	About(tool string, input []byte) string
	// Changes is the file that a call changes, as the client names it; "" for no file.
	Changes(tool string, input []byte) string
	// Allow is the entry of allowed_tools that permits a denied call: as narrow as
	// possible, but wide enough for the next call.
	Allow(tool string, input []byte) string
}

// Hooks knows how a client runs [Turn.Hook] right after a compaction, so that the model
// reads what the command prints.
type Hooks interface {
	// Room is the size of the text that the model is sure to get whole, with a line in
	// front of it, in code units of UTF-16.
	Room() int
	// Answer is the output of the command that makes the model read text.
	Answer(text string) []byte
	// Answered reports whether an event says that such a command has ended. printed shows
	// whether it was our command. ok says that it succeeded.
	Answered(ev *streamjson.Event) (printed string, ok, ended bool)
	// Blocked says why a client in the folder dir does not run our hooks, as far as its
	// settings there and below home tell; "" when it runs them.
	Blocked(home, dir string) string
}

// A CostWay is the meaning of the cost in a client's results: [streamjson.Result].CostUSD.
type CostWay int

// The ways in which clients report their cost.
const (
	CostUnknown   CostWay = iota // they tell no cost
	CostOfResult                 // the cost since the last result
	CostOfProcess                // a running total of the process, which may begin again at 0; SinceLastUSD wins where it is set
	// CostOfSession is a running total of the session, over all its processes. It may begin
	// again at 0 too. See [Account.Resumed].
	CostOfSession
)

// A TokensWay is the meaning of the usage in a client's results.
type TokensWay int

// The ways in which clients count their tokens.
const (
	TokensOfResult  TokensWay = iota // those since the last result
	TokensOfProcess                  // a running total of the process, which may begin again at 0
	// TokensOfSession is a running total of the session, over all its processes. It may
	// begin again at 0 too. See [Account.Resumed].
	TokensOfSession
)

// A Version says which versions of a client a backend is tested with.
type Version struct {
	Supported string // in words
	Install   string // the command line that installs a tested version
	// Read reads the first line that the program prints for --version. Every kind has it.
	Read func(line string) (version string, fit Fit)
}

// A Fit compares the version of a program with the tested versions.
type Fit int

// The results of the comparison.
const (
	Foreign Fit = iota // another program
	TooOld
	Tested
	Untested // newer than all of them, or at least not one of them
)

// A Login describes how a client logs in, and by which variables.
type Login struct {
	Keys []string // variables; each of them is enough for a login
	File string   // the file of a login, in its folder; "" where it has none
	Home string   // the folder of the login below HOME
	Try  string   // what a person does to log in

	// Vars decide which account a client uses; HOME is one of them where the login is below
	// it.
	Vars []string
	// Folder, one of Vars, names the folder of the login. Where it is set, HOME does not
	// count.
	Folder string
}
