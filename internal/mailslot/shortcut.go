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
//	crypto … dropbox, config, mailslot --sent--> the process ends
//	                             \--anything else--> net/http … the verbs, main
//
// It sends for the lead alone, to one agent, without flags, and only when nothing
// stands in the way. Everything else it leaves untouched to the verb, which begins
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
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
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
	file, ok := project()
	if !ok {
		return false
	}
	body := Body(words, file.MaxBody())
	if flaw, _ := Look(body, file.MaxBody()); flaw != Sound || !passes(file, body) {
		return false
	}
	if _, ok := file.Agent(to); !ok {
		return false
	}
	secrets, err := tokens.Read(file.Home())
	token := secrets[dropbox.Lead]
	if err != nil || token == "" {
		return false
	}
	store, err := dropbox.Open(file.DeadDropDir, file.StoreOptions())
	if err != nil {
		return false
	}
	defer store.Close()

	m := &dropbox.Message{From: dropbox.Lead, To: []string{to}, Type: dropbox.Task, Body: body}
	sent, err := store.DeliverSigned(to, m, func(m *dropbox.Message) string { return dropbox.Proof(token, m, to) })
	if errors.Is(err, dropbox.ErrNoMailbox) {
		return false
	} else if err != nil {
		// After trouble with the disk the message may be there all the same.
		unfinished = &Failure{To: to, Err: err}
		return false
	}
	if _, err := fmt.Println(sent.ID); err != nil {
		unfinished = &Failure{To: to, ID: sent.ID, Unprinted: err}
		return false
	}
	SayIfNobodyWorks(os.Stderr, file.Dir, store, to)
	return true
}

// passes tells whether no rule of the project is against a task of the lead that
// begins a conversation. If one is, the verb says which.
func passes(file *config.File, body []byte) bool {
	stop := file.Policy.StopSentinel
	return slices.Contains(file.Policy.AllowedTypes, string(dropbox.Task)) && (stop == "" || !bytes.Contains(body, []byte(stop)))
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

// project reads the configuration of the folder that we are in. A variable of ours
// in the environment may name another project, or another sender.
func project() (*config.File, bool) {
	for _, v := range os.Environ() {
		if strings.HasPrefix(v, "CLAUDE_SWARM_") {
			return nil, false
		}
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, false
	}
	path, err := config.Find(dir)
	if err != nil {
		return nil, false
	}
	file, err := config.Load(path)
	if err != nil {
		return nil, false
	}
	if _, err := os.Lstat(filepath.Join(file.Home(), "attached")); err == nil {
		return nil, false // this may be a session that is attached as an agent
	}
	return file, true
}
