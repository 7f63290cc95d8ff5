// Package claudeswarm contains clients.lock: the clients, and the versions of each, that
// this version of claude-swarm has been tested with. The file is at the top of the tree
// because people and the Makefile read it too.
package claudeswarm

import (
	_ "embed"
	"fmt"
	"slices"
	"strings"
	"sync"
)

// A Client is one line of clients.lock.
type Client struct {
	Name      string // as in `backend:`
	Package   string // on npm
	Program   string // the name of the package's command
	Oldest    string // the oldest version that is still tested
	Newest    string
	Published string // the day on which Newest was published, such as 2026-11-24
	// Brings is the program that the package brings along and that runs the agent, with its
	// version, such as codex@0.166.x; "" if the package is that program.
	Brings string
}

//go:embed clients.lock
var lock string

var clients = sync.OnceValue(func() []Client {
	all, err := Parse(lock)
	if err != nil {
		panic(err) // a test reads the file before anyone ships it
	}
	return all
})

// Clients returns all clients, in the order of the file.
func Clients() []Client { return slices.Clone(clients()) }

// Find returns the client with the given name; ok is false if the file has none.
func Find(name string) (c Client, ok bool) {
	i := slices.IndexFunc(clients(), func(c Client) bool { return c.Name == name })
	if i < 0 {
		return Client{}, false
	}
	return clients()[i], true
}

// Install returns the command that installs the newest version that npm has.
func (c Client) Install() string { return "npm install -g " + c.Package }

// columns is the number of words in a line of the file.
const columns = 7

// Parse reads the text of a clients.lock.
func Parse(text string) ([]Client, error) {
	var all []Client
	for line := range strings.Lines(text) {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if len(words) != columns {
			return nil, fmt.Errorf("clients.lock: %d words, want %d: %s", len(words), columns, strings.TrimSpace(line))
		}
		c := Client{words[0], words[1], words[2], words[3], words[4], words[5], words[6]}
		if c.Brings == "-" {
			c.Brings = ""
		}
		all = append(all, c)
	}
	return all, nil
}
