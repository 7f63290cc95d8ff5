package notice

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// SetAside: a file that was dropped into a mailbox is not a message, and is now in dead/.
type SetAside struct {
	Mailbox, File string
	Changed       time.Time // when the file was last changed
	Why           string
}

func (f SetAside) told() told {
	return told{
		Event:   journal.Event{Key: "stray:" + f.Mailbox + ":" + strconv.Quote(f.File) + ":" + f.Changed.UTC().Format(time.RFC3339Nano), Agent: f.Mailbox},
		subject: "not taken in: " + f.File,
		body:    "The file " + f.File + " in the mailbox of " + f.Mailbox + " was not taken in: " + f.Why + ".\n\nIt is kept in dead/: claude-swarm dead list " + f.Mailbox + "\n",
	}
}

// Misnamed: files in new/ have no valid message names, and are now in dead/.
type Misnamed struct {
	Mailbox string
	Files   string // their names
	ID      string // of the first of them in dead/
	Folder  string // of the mailbox
}

func (f Misnamed) told() told {
	return told{
		Event:   journal.Event{Key: "aside:" + f.ID, Agent: f.Mailbox},
		subject: "not taken in: " + f.Files,
		body: fmt.Sprintf(
			"Files in new/ of the mailbox of %s that are not named like messages: %s.\n\nThey are kept in dead/: claude-swarm dead list %s\nTo have one taken in: claude-swarm dead retry %s\n"+
				"Files dropped by hand belong in %s itself.\n",
			f.Mailbox, f.Files, f.Mailbox, f.ID, f.Folder),
	}
}

// Misplaced: files were dropped into a folder that no agent reads, and are left there.
type Misplaced struct {
	Store   string    // the folder of the mailboxes
	Name    string    // of the file, or of the folder with the files, in Store
	Files   []string  // in the folder; empty if Name is a file
	All     string    // the names of Files
	Changed time.Time // when the file or the folder was last changed
	Near    []string  // the agents whose names are like that of the folder
	Agents  []string
}

func (f Misplaced) told() told {
	path, box, agents := filepath.Join(f.Store, f.Name), filepath.Join(f.Store, "AGENT"), strings.Join(f.Agents, ", ")
	out := told{Event: journal.Event{Key: fmt.Sprintf("stray:%q:%s", f.Name, f.Changed.UTC().Format(time.DateOnly))}}
	if len(f.Files) == 0 {
		out.subject = "not taken in: " + screen.Short(f.Name, 150)
		out.body = fmt.Sprintf("%s is outside the mailboxes, so no agent reads it.\n\nTo drop it: mv %s %s/\nAgents: %s.\n", path, screen.TypedWord(path), box, agents)
		return out
	}
	meant := "no agent reads files there"
	if len(f.Near) > 0 {
		meant, box = "did you mean "+strings.Join(f.Near, " or ")+"?", filepath.Join(f.Store, f.Near[0])
	}
	out.subject = "not taken in: " + screen.Short(f.Name+"/"+f.All, 150)
	out.body = fmt.Sprintf("No agent has the mailbox %s; %s\nIt contains %s.\n\nTo drop it: mv %s %s/\nAgents: %s.\n",
		path, meant, f.All, screen.TypedWord(filepath.Join(path, f.Files[0])), box, agents)
	return out
}

// Litter: a file in a mailbox is never taken in because of its name.
type Litter struct {
	Mailbox string
	Folder  string // of the mailbox
	File    string
	Kind    dropbox.LitterKind
}

// IsOnePerMailbox reports whether one fact stands for all files of this kind in a mailbox.
// Any other file may have been meant as a message.
func (f Litter) IsOnePerMailbox() bool {
	return f.Kind == dropbox.LitterSystem || f.Kind == dropbox.LitterBackup
}

func (f Litter) told() told {
	key := fmt.Sprintf("litter:%s:%s", f.Mailbox, f.Kind)
	if !f.IsOnePerMailbox() {
		key += fmt.Sprintf(":%q", f.File)
	}
	file := screen.Short(f.File, 150)
	return told{
		Event:   journal.Event{Key: key, Agent: f.Mailbox},
		subject: "left in place: " + file,
		body: fmt.Sprintf("%s in the mailbox of %s is %s, so it is no message.\n\nIf it is meant as one: mv %s %s\n",
			file, f.Mailbox, f.Kind, screen.TypedWord(filepath.Join(f.Folder, f.File)), screen.TypedWord(filepath.Join(f.Folder, "task.md"))),
	}
}

// Vanished: another program deleted messages that were waiting.
type Vanished struct {
	At       time.Time
	Messages map[string][]string // the ids, by mailbox
	Lead     string              // how people call the lead
}

func (f Vanished) told() told {
	total := 0
	var body strings.Builder
	fmt.Fprintf(&body, "Another program deleted the files of messages that were waiting, as git clean -x or rm do. Nobody can work on them:\n\n")
	for _, name := range slices.Sorted(maps.Keys(f.Messages)) {
		ids, whose := slices.Sorted(slices.Values(f.Messages[name])), name
		total += len(ids)
		if name == dropbox.Lead {
			whose = f.Lead
		}
		fmt.Fprintf(&body, "%s: %s\n", whose, strings.Join(ids, ", "))
	}
	fmt.Fprintf(&body, "\nSend them again if they are still needed. What the daemon had in memory, such as the messages of running turns, was kept.\n")
	subject := fmt.Sprintf("%d waiting messages were deleted", total)
	if total == 1 {
		subject = "a waiting message was deleted"
	}
	return told{Event: journal.Event{Key: "vanished:" + f.At.UTC().Format(time.RFC3339Nano)}, subject: subject, body: body.String()}
}

// Damaged: a file of the daemon was damaged, and is set aside.
type Damaged struct {
	Err        *durable.DamagedError
	What, Next string // what is lost, and what a person can do
	Started    time.Time
}

func (f Damaged) told() told {
	return told{
		Event:   journal.Event{Key: "damaged:" + filepath.Base(f.Err.Path) + ":" + f.Started.Format(time.RFC3339)},
		subject: f.What,
		body:    fmt.Sprintf("%v.\n\nThe file is kept as %s. %s\n", f.Err, f.Err.Aside(), f.Next),
	}
}

// Gone: mail waits for an agent that has left.
type Gone struct {
	Agent, Since string
	Why, Next    string
}

func (f Gone) told() told {
	return told{
		Event:   journal.Event{Key: "gone:" + f.Agent + ":" + f.Since},
		subject: "mail waits for " + f.Agent + ", which is gone",
		body:    f.Why + ": " + f.Next + "\n",
	}
}

// RightsGrew: a configuration that came into force extends rights of agents.
type RightsGrew struct {
	Grown []string // at least one; each on one line
	By    string
	At    time.Time
}

func (f RightsGrew) told() told {
	subject := "rights grew: " + f.Grown[0]
	if more := len(f.Grown) - 1; more > 0 {
		subject += fmt.Sprintf(", and %d more", more)
	}
	return told{
		Event:   journal.Event{Key: "rights:" + f.At.UTC().Format(time.RFC3339Nano)},
		subject: subject,
		body:    strings.Join(f.Grown, "\n") + "\n\nby: " + f.By + "\n",
	}
}

// WebhookFails: a webhook's receiver has not accepted an event.
type WebhookFails struct {
	Hook, Why string
	At        time.Time
}

func (f WebhookFails) told() told {
	return told{
		Event:   journal.Event{Key: fmt.Sprintf("webhook:%s:%d", f.Hook, f.At.Unix())},
		subject: "webhook " + f.Hook + " does not work",
		body: fmt.Sprintf("The webhook %s has not accepted an event: %s.\n\nThe events are kept: claude-swarm dead list %s\nOnce it works (claude-swarm webhooks test %s), retry them: claude-swarm dead retry ID…\n",
			f.Hook, f.Why, dropbox.Hooks, f.Hook),
	}
}

// TreeStays: the folder of a working tree is not removed, because something in it would be lost.
type TreeStays struct {
	Agent, Dir, Branch string
	Why                string
}

func (f TreeStays) told() told {
	return told{
		Event:   journal.Event{Key: "tree:" + f.Dir + ":" + f.Why, Agent: f.Agent},
		subject: "working tree kept: " + f.Dir,
		body: fmt.Sprintf("The task of %s is done, but its folder %s stays: %s.\n\nThe branch is %s. To see what is there: git -C %s status\nOnce it is committed or removed: git worktree remove %s\n",
			f.Agent, f.Dir, f.Why, f.Branch, f.Dir, f.Dir),
	}
}

// Incomplete: work that was not committed when a message was given up is now a commit.
type Incomplete struct {
	Agent, Message, Title string
	Branch, Commit, Base  string
}

func (f Incomplete) told() told {
	return told{
		Event:   journal.Event{Key: "partial:" + f.Commit, Agent: f.Agent},
		subject: "incomplete work kept: " + f.Branch,
		body: fmt.Sprintf("The message %q was given up. The work that %s had not committed is the commit %.12s [INCOMPLETE] on the branch %s.\n\nTo see the branch: git diff %.12s %s\nTo continue there: claude-swarm dead retry %s\n",
			f.Title, f.Agent, f.Commit, f.Branch, f.Base, f.Branch, f.Message),
	}
}

// NotAccepted: a verifier is red although the agent had several tries, so the message is filed as
// failed.
type NotAccepted struct {
	Agent, Turn, Message, Title, Branch string
	Why                                 string // a line of [journal.Verification]
	Tries                               int
}

func (f NotAccepted) told() told {
	return told{
		Event:   journal.Event{Key: "red:" + f.Turn, Agent: f.Agent},
		subject: "not accepted: " + f.Title,
		body: fmt.Sprintf("%s had %s at %s, %q. %s\n\nThe branch is %s. To see the work: git log -p HEAD..%s\n",
			f.Agent, screen.Several(f.Tries, "try", "tries"), f.Message, f.Title, f.Why, f.Branch, f.Branch),
	}
}
