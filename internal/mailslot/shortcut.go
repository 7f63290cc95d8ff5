// Package mailslot is the short way of the commonest command line:
//
//	claude-swarm send AGENT TEXT…
//
// A send is over in two thousandths of a second, and most of that would go into
// making ready what it does not use: an HTTP server for the demo, templates, the
// flags of thirty verbs. Go makes the packages of a program ready in the order of
// their import paths, each as soon as what it imports is ready. This one imports
// little, so its turn comes before theirs, and it sends there and then:
//
//	crypto … dropbox, mailslot --sent--> the process ends
//	                     \--anything else--> config, net/http … the verbs, main
//
// It sends for the lead alone, to one agent, without flags, and only when nothing
// stands in the way. A [Digest] tells it what it has to know of the configuration. Everything else it leaves untouched to the verb, which begins
// from the start and says what there is to say; so each error has one wording,
// there. What was begun and cannot be begun again is [Unfinished].
//
// What the verb and the short way both need is here as well: what may be a body
// ([Body], [Look]), and who works on it ([SayIfNobodyWorks]).
package mailslot

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/lineage"
	"github.com/claude-swarm/claude-swarm/internal/rendezvous"
	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

func init() {
	if len(os.Args) > 3 && os.Args[1] == "send" && send(os.Args[2], os.Args[3:]) {
		os.Exit(0)
	}
}

// A Failure is a send that the short way began and could not bring to its end.
type Failure struct {
	To        string // the agent
	Err       error  // why nothing was delivered
	ID        string // of what was delivered, when only its id could not be printed
	Unprinted error  // and why not
}

var unfinished *Failure

// Unfinished is what is left to be reported of a send, or nil: most times there is
// nothing, since the process has ended or the short way did nothing.
func Unfinished() *Failure { return unfinished }

// send tells whether the message was sent and nothing is left to do.
func send(to string, words []string) bool {
	if !plain(words) {
		return false
	}
	dir, home, d, ok := project()
	if !ok || !d.Tasks || !slices.Contains(d.Agents, to) {
		return false
	}
	most := int(d.Options.MaxBody)
	body := Body(words, most)
	if flaw, _ := Look(body, most); flaw != Sound || d.Stop != "" && bytes.Contains(body, []byte(d.Stop)) {
		return false
	}
	secrets, err := tokens.Read(home)
	token := secrets[dropbox.Lead]
	if err != nil || token == "" {
		return false
	}
	store, err := dropbox.Open(d.Store, d.Options)
	if err != nil {
		return false
	}
	defer store.Close()

	m := &dropbox.Message{From: dropbox.Lead, To: []string{to}, Type: dropbox.Task, Body: body}
	sent, err := store.DeliverSigned(to, m, func(m *dropbox.Message) string { return dropbox.Proof(token, m, to) })
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return false
	} else if err != nil {
		// After trouble with the disk the message may be there anyway.
		unfinished = &Failure{To: to, Err: err}
		return false
	}
	if _, err := fmt.Println(sent.ID); err != nil {
		unfinished = &Failure{To: to, ID: sent.ID, Unprinted: err}
		return false
	}
	SayIfNobodyWorks(os.Stderr, dir, store, to)
	return true
}

// plain tells whether words are nothing but text: what begins with a dash may be a
// flag, or stand for the standard input.
func plain(words []string) bool {
	for _, w := range words {
		if strings.HasPrefix(w, "-") {
			return false
		}
	}
	return true
}

// project finds the project of the folder that we are in, the daemon's folder, and
// the digest of the configuration. A variable of ours in the environment may name
// another project, or another sender.
func project() (dir, home string, d Digest, ok bool) {
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "CLAUDE_SWARM_") {
			return "", "", d, false
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", "", d, false
	}
	path, err := rendezvous.Find(dir)
	if err != nil {
		return "", "", d, false
	}
	content, err := readFile(path)
	if err != nil {
		return "", "", d, false
	}
	dir = filepath.Dir(path)
	home = filepath.Join(dir, rendezvous.HomeName)
	if d, ok = readDigest(home, path, content); !ok {
		return "", "", d, false
	}
	if _, err := os.Lstat(filepath.Join(home, "attached")); err == nil {
		return "", "", d, false // this may be a session that is attached as an agent
	}
	if belowTurn(home) {
		return "", "", d, false
	}
	return dir, home, d, true
}

// belowTurn tells whether this may be part of a turn: the daemon, or a process that
// carries the mark of a turn, is among the processes above. Who it is then, the verb
// finds out. Marks are looked for only while clients run, or ran when a daemon was
// killed: they stand in pids/.
func belowTurn(home string) bool {
	above := lineage.Above(os.Getpid())
	if note := rendezvous.ReadNote(filepath.Join(home, "daemon.lock")); slices.Contains(above, note.PID) {
		return true
	}
	pids, err := os.ReadDir(filepath.Join(home, "pids"))
	if err != nil || len(pids) == 0 {
		return err != nil && !errors.Is(err, fs.ErrNotExist)
	}
	return slices.ContainsFunc(above, func(pid int) bool { return lineage.Variable(pid, "CLAUDE_SWARM_TURN") != "" })
}
