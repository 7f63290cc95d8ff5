package control

import (
	"strconv"
	"sync"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// The limits of connections.
const (
	maxConnections = 256
	maxOfAgents    = 192
	maxOfCaller    = 64
)

// places counts the connections of a server, so that no program can keep a person from
// stopping the swarm. A caller is an agent with all its processes, or one process of a
// person. One caller gets maxOfCaller connections, all agents together get maxOfAgents, and
// the rest up to maxConnections is for people.
type places struct {
	callerOf func(pid int, claim *journal.Claim) (journal.Caller, error) // as in [Options]; can be nil

	mu    sync.Mutex
	taken map[*place]struct{}
}

// A place is one connection.
type place struct {
	pid   int
	found bool   // whether the next two fields are set
	who   string // the caller
	agent bool   // the caller is not a person, or nobody knows who it is
}

// admit counts a connection from a process. The error is an [*Error] with [CodeBusy].
func (p *places) admit(pid int) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	here := &place{pid: pid}
	// Below this number, no caller can be at a limit, and nobody has to look for the caller.
	if len(p.taken) >= maxOfCaller {
		if err := p.check(here); err != nil {
			return nil, err
		}
	}
	if p.taken == nil {
		p.taken = map[*place]struct{}{}
	}
	p.taken[here] = struct{}{}
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.taken, here)
	}, nil
}

// check compares the connections with the limits.
func (p *places) check(here *place) error {
	p.find(here)
	same, agents := 0, 0
	for other := range p.taken {
		p.find(other)
		if other.who == here.who {
			same++
		}
		if other.agent {
			agents++
		}
	}
	switch {
	case same >= maxOfCaller:
		return &Error{Code: CodeBusy, Message: "too many connections of " + here.who, Hint: "close some of the running logs and status commands"}
	case len(p.taken) >= maxConnections || here.agent && agents >= maxOfAgents:
		return &Error{Code: CodeBusy, Message: "too many connections", Hint: "close some of the running logs and status commands"}
	}
	return nil
}

// find sets the caller of a place.
func (p *places) find(at *place) {
	if at.found {
		return
	}
	at.found, at.who = true, "process "+strconv.Itoa(at.pid)
	if p.callerOf == nil {
		return
	}
	switch who, err := p.callerOf(at.pid, nil); {
	case err != nil || at.pid == 0:
		at.who, at.agent = "programs that the daemon cannot trace", true
	case who.Agent != "":
		at.who, at.agent = who.Agent, true
	}
}
