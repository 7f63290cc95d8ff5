package config

import (
	"cmp"
	"path/filepath"
	"slices"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// Name is the name of the configuration file.
const Name = discovery.ConfigName

// A File is a configuration without errors. Its values do not change; a reload creates a
// new File. The folders and programs that it names may be missing; see
// [File.CheckFolders].
//
// The key reference is generated from the field tags of File and of the structs in it.
// The tags also specify how a key is read; fields.go lists the tags.
type File struct {
	Path string // the absolute path of the file itself
	Dir  string // the folder that contains the file; relative paths are relative to it

	// The paths of the two folders are absolute. A MaxRunning of 0 means auto; see
	// [File.Running]. Lead is the name of an agent, or "" for the person.
	DeadDropDir string        `key:"dead_drop_dir" is:"path" type:"path" default:".dead-drop" doc:"The folder with the mailboxes. Relative to this file; ~/ is the home folder. The folder must not contain anything else."`
	ProjectDir  string        `key:"project_dir" is:"path" type:"path" default:"." doc:"The folder in which the agents work. Relative to this file. It may be missing while mail is read or written, but not for \x60start\x60."`
	Debounce    time.Duration `key:"debounce" default:"1s" doc:"How long a file dropped by hand must be unchanged before the daemon delivers it. Messages from \x60send\x60 and other programs that deliver by rename wake the agent immediately."`
	MaxRunning  int           `key:"max_running" type:"number or auto" default:"auto" doc:"The maximum number of turns that run at once; further agents wait. auto: twice the processor cores, but not more than one for each 600 MB of memory."`
	MaxWarm     int           `key:"max_warm" default:"4" doc:"The maximum number of clients that may wait for another message, across all agents with linger; each uses the memory of a client. The client that has waited longest is closed first."`
	MaxWaiting  int           `key:"max_waiting" default:"10000" doc:"The maximum number of messages that may wait in one mailbox; further ones are refused. Answers and alerts always pass."`
	Lead        string        `key:"lead" is:"word" type:"text or null" doc:"The agent that gets mail to lead, and the alerts; null means you. You still get answers to your own messages, alerts about that agent, its own mail to lead, and every alert while it cannot work."`
	LeadName    string        `key:"lead_name" is:"word" type:"text or null" doc:"What the agents call you: they read it in place of lead, and mail to either name reaches you. IRC shows and understands it in place of lead, too. It has the form of an agent's name, and no agent may have it. Files and --json still say lead. It cannot be combined with the key lead, because an agent already has a name."`
	defaults    Agent         `key:"defaults" is:"later"`
	Agents      []Agent       `key:"agents" is:"later"` // at least one, in the order of the file
	Policy      Policy        `key:"policy"`
	IRC         IRC           `key:"irc" like:"{server: irc.example.org}"`
	Records
	Verification
	Oversight

	source []byte // the file's content

	slugless bool    // the file specifies no slug
	from     *reader // the reader of the file, which has recorded the position of each key
}

// Records determines which records of finished work are kept and for how long, and what
// happens to published work.
type Records struct {
	Log       journal.LogPolicy `key:"log"`
	Topics    swarm.TopicPolicy `key:"topics"`
	Audit     Audit             `key:"audit"`
	Retention swarm.Retention   `key:"retention"`
}

// Audit determines where finished turns are recorded in addition to the mailboxes.
type Audit struct {
	Git bool `key:"git" doc:"Record every finished turn as a commit on the branch dead-drop of the repository that holds the mailboxes. Your own branch, index and hooks are not touched, and nothing is pushed."`
}

// Running returns how many turns may run at once: MaxRunning, or the result of
// [DefaultRunning] for this machine. Load does not compute it, because measuring the
// machine takes as long as reading a short file, and a command that only sends a message
// does not need the number.
func (f *File) Running() int {
	if f.MaxRunning == 0 {
		return auto()
	}
	return f.MaxRunning
}

// Home returns the daemon's own folder, which is next to the file.
func (f *File) Home() string { return filepath.Join(f.Dir, discovery.HomeName) }

// Source returns the content of the file at the time it was read.
func (f *File) Source() []byte { return f.source }

// Notes returns what a person should know about this configuration: keys in defaults that do
// not apply to some agents, and options that may be misspelled. The notes are in the order
// of the file.
func (f *File) Notes() []*Error { return f.from.notes }

// CCLead returns the names of the agents with cc_lead, whose messages to others are
// copied to the lead.
func (f *File) CCLead() []string { return f.names(func(a Agent) bool { return a.CCLead }) }

// Agent finds an agent by name.
func (f *File) Agent(name string) (Agent, bool) {
	i := slices.IndexFunc(f.Agents, func(a Agent) bool { return a.Name == name })
	if i < 0 {
		return Agent{}, false
	}
	return f.Agents[i], true
}

func (f *File) hasAgent(name string) bool {
	_, ok := f.Agent(name)
	return ok
}

// Names returns the names of the agents, in the order of the file.
func (f *File) Names() []string {
	return append([]string{}, f.names(func(Agent) bool { return true })...)
}

// Tags returns the tags of the agents, each with the names of the agents that have it, in
// the order of the file.
func (f *File) Tags() map[string][]string {
	all := make(map[string][]string)
	for _, a := range f.Agents {
		for _, tag := range a.Tags {
			all[tag] = append(all[tag], a.Name)
		}
	}
	return all
}

// names returns the names of the agents for which fits returns true.
func (f *File) names(fits func(Agent) bool) (names []string) {
	for _, a := range f.Agents {
		if fits(a) {
			names = append(names, a.Name)
		}
	}
	return names
}

// Leads reports whether a name refers to the lead.
func (f *File) Leads(name string) bool {
	return dropbox.IsLead(name) || name != "" && name == f.LeadName
}

// addressOf returns the mailbox for a name. For every name of the lead, this is the
// mailbox "lead".
func (f *File) addressOf(name string) string {
	if f.Leads(name) {
		return dropbox.Lead
	}
	return name
}

func (f *File) namesAndRoles() []string {
	names := f.Names()
	for _, a := range f.Agents {
		if a.Role != "" && !slices.Contains(names, a.Role) {
			names = append(names, a.Role)
		}
	}
	return names
}

// withRole returns the agents that have the given role.
func (f *File) withRole(role string) []string {
	return f.names(func(a Agent) bool { return role != "" && a.Role == role })
}

// StoreOptions returns the options for opening the mailboxes.
func (f *File) StoreOptions() dropbox.Options {
	o := dropbox.Options{MaxWaiting: f.MaxWaiting, MaxBody: int64(f.MaxBody()), MaxHops: f.Policy.MaxHops}
	if o.MaxHops == 0 {
		o.MaxHops = -1
	}
	return o
}

// MaxBody returns the length limit of a message body, in bytes.
func (f *File) MaxBody() int { return cmp.Or(f.Policy.MaxBodyBytes, mostBody) }
