package runner

import "github.com/claude-swarm/claude-swarm/streamjson"

// A Kind is what is known of a kind of client program without running it. A backend
// makes one, and nobody changes it.
type Kind struct {
	Name    string   // names the backend in the configuration, such as "claude"
	Title   string   // what people call the program, such as "Claude Code"
	Command []string // the program and its first arguments, where the configuration names none
	Install string   // the command line that installs the program
	Version Version

	Modes  []string // the permission modes, as the client calls them; none: it knows no modes
	Mode   string   // the one of Modes where the configuration names none
	Bypass string   // the one of Modes in which the client asks for nothing; "" is none
	Look   string   // the one of Modes in which it changes nothing; "" is none

	Cost    CostWay // how its results tell what it has cost
	Resumes bool    // another process of it can go on in a session; else each process begins a new one
	// Attaches says that it runs our hooks in a person's session, which claude-swarm attach
	// makes an agent.
	Attaches bool

	Tools Tools
	Hooks Hooks // nil: the client runs no command of ours after a compaction
	Login Login

	// Echo is a shell script that plays the client for one prompt, says text (letters and
	// spaces) and waits for the end of its input: a turn of it needs no program, account or network. nil: none.
	// The first kind has it.
	Echo func(text string) string

	// Secrets calls found for each secret by which other programs reach the client that
	// an event tells, with the mark that takes its place. nil: there are none.
	Secrets func(ev *streamjson.Event, found func(secret, mark string))
}

// Tools knows what calls of a client's tools mean. Tools differ from client to client in
// their names and in the shape of their input, which is JSON. The methods are safe for
// several goroutines, and keep nothing of input.
type Tools interface {
	// About is the argument that says what a call is about, such as a command or a
	// path; "" when the whole input has to be read.
	About(tool string, input []byte) string
	// Changes is the file that a call changes, as the client names it; "" when none.
	Changes(tool string, input []byte) string
	// Allow is the entry of allowed_tools that permits a call which was denied: as narrow
	// as it can be without being useless for the next call.
	Allow(tool string, input []byte) string
}

// Hooks knows how a client runs [Turn.Hook] right after a compaction, so that the model
// reads what the command prints.
type Hooks interface {
	// Room is how much of a window the model is sure to get whole, with a line in front
	// of it, in code units of UTF-16.
	Room() int
	// Answer is what the command prints so that the model reads text.
	Answer(text string) []byte
	// Answered reports whether an event tells that such a command has ended. It may be
	// another one than ours: printed tells. ok says that it went well.
	Answered(ev *streamjson.Event) (printed string, ok, ended bool)
	// Blocked says why a client in the folder dir runs no hooks of ours, as far as its
	// settings there and below home tell; "" when it does.
	Blocked(home, dir string) string
}

// A CostWay says what the cost in the results of a client means: [streamjson.Result].CostUSD.
// Its tokens are always those since the last result.
type CostWay int

// The ways in which clients tell their cost.
const (
	CostUnknown   CostWay = iota // they do not
	CostOfResult                 // what was spent since the last result
	CostOfProcess                // a running total of the process, which may begin again at 0; SinceLastUSD counts where it is there
)

// A Version says which versions of a client a backend is tested with.
type Version struct {
	Supported string // in words
	Install   string // the command line that installs a version that is tested
	// Read reads the first line that the program prints for --version. Every kind has it.
	Read func(line string) (version string, fit Fit)
}

// A Fit says how a program stands to the versions that are tested.
type Fit int

// The ways a program can stand to them.
const (
	Foreign Fit = iota // another program
	TooOld
	Tested
	Untested // newer than all of them
)

// A Login says how a client is logged in, and by which variables.
type Login struct {
	Keys []string // variables by each of which the client is logged in
	File string   // the file of a login, in its folder; "" where it has none
	Home string   // the folder of the login below HOME
	Try  string   // what a person does to log in

	// Vars decide whose account a client uses; HOME is one where the login lies below
	// it.
	Vars []string
	// Folder, one of Vars, names the folder of the login. Where it is set, HOME does not
	// count.
	Folder string
}
