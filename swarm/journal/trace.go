package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/discovery"
	"github.com/claude-swarm/claude-swarm/internal/lineage"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Tracing. The ancestor processes of a caller show who the caller is, because it cannot
// choose them. Its own environment, which any program can change, counts only if those
// processes do not show who the caller is:
//
//	daemon -> client (carries the mark) -> sh -> make -> env -i -> caller
//	   ^                                                             |
//	   +-- outermost mark below the daemon: that client's turn <-----+
//	   +-- the daemon, but no mark: it adopted what a turn left behind
//
// The outermost mark counts, because a process inside a turn can set another mark for the
// processes that it starts, but not for the client above it. The daemon adopts the
// orphans of its turns, so a caller that is a descendant of the daemon belongs to a turn
// even when all processes in between have ended.
//
// Each client has a pid file, which is written before the prompt is sent and exists until
// the client ends, even if the daemon was killed. If there is no pid file and no daemon is
// running, the caller cannot be in a turn, and tracing checks the ancestor processes only
// for the mark of a verifier.

// A TraceError reports that a caller belongs to a turn, or claims to, but the turn cannot
// be found. Such a caller must not act for any agent.
type TraceError struct{ Why string }

func (e *TraceError) Error() string { return e.Why }

// maxTurnID is the maximum length of a turn's id, in bytes.
const maxTurnID = 64

// isTurnID reports whether a string has the form of a turn's id, MESSAGE-ATTEMPT. The check
// is required because text from an environment variable becomes part of a file name.
func isTurnID(s string) bool {
	message, attempt, ok := strings.Cut(s, "-")
	if !ok || message == "" || len(s) > maxTurnID {
		return false
	}
	for _, c := range message {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') {
			return false
		}
	}
	for n := range strings.SplitSeq(attempt, "-") {
		if _, err := strconv.ParseUint(n, 10, 32); err != nil {
			return false
		}
	}
	return true
}

// trace returns the turn to which a process belongs, or nil if it belongs to no turn.
// carried is the mark in the caller's own environment. It distinguishes between the
// orphans of several turns.
func (h Home) trace(pid int, carried string) (*Record, error) {
	daemon, holds := discovery.Holder(h.LockFile())
	if h.inVerifier(pid, carried, daemon.PID) {
		return nil, &TraceError{"a verifier started this, and what a verifier runs may not use the swarm"}
	}
	clients, err := h.MarkedClients()
	if err != nil {
		return nil, err
	}
	if !holds && len(clients) == 0 {
		return nil, nil
	}
	above := lineage.Above(pid)
	i := slices.Index(above, daemon.PID)
	adopted := holds && i >= 0
	switch {
	case adopted:
		above = above[:i]
	case len(clients) == 0:
		return nil, nil
	}
	for _, pid := range slices.Backward(above) {
		mark := lineage.Variable(pid, runner.MarkVar)
		if c, ok := clients[pid]; ok && c.Process.Alive() {
			mark = c.Mark
		}
		rec, err := h.recordOf(mark)
		if rec != nil || err != nil {
			return rec, err
		}
	}
	if !adopted {
		return nil, nil
	}
	return h.adoptedTurn(clients, carried)
}

// inVerifier reports whether a verifier started a process: it runs the code of an agent, but as
// no agent, and otherwise that code would act as a person. The process or an ancestor carries the
// mark of a verifier, or an ancestor is running one: claude-swarm verify adopts the orphans of its
// verifier. The daemon also does that, but its orphans may be those of a turn.
func (h Home) inVerifier(pid int, carried string, daemon int) bool {
	marked := func(mark string) bool { return strings.HasPrefix(mark, runner.VerifierMark) }
	if marked(carried) || marked(lineage.Variable(pid, runner.MarkVar)) {
		return true
	}
	running, _ := filesWith(filepath.Join(h.dir, VerifyFolder), ".lock") // without the folder, nothing runs
	runs := func(pid int) bool {
		return pid != daemon && slices.ContainsFunc(running, func(mark string) bool {
			data, err := os.ReadFile(filepath.Join(h.dir, VerifyFolder, mark+".lock"))
			p := runner.Process{}
			_, scanned := fmt.Sscan(string(data), &p.PID, &p.Start)
			return err == nil && scanned == nil && p.PID == pid && p.Alive()
		})
	}
	return slices.ContainsFunc(lineage.Above(pid), func(pid int) bool {
		return marked(lineage.Variable(pid, runner.MarkVar)) || runs(pid)
	})
}

// VerifyFolder is the folder, in the daemon's own, in which verifiers run; see package verify.
// Each file with the ending .lock there contains the process that runs a verifier.
const VerifyFolder = "verify"

// adoptedTurn returns the turn for a process that the daemon has adopted. If the process
// has the mark of a turn whose client is running, adoptedTurn returns that turn.
// Otherwise it returns the turn with the most hops among those with a running client,
// because its chain ends soonest. If no client is running, it returns the last turn.
func (h Home) adoptedTurn(clients map[int]MarkedClient, carried string) (*Record, error) {
	var found *Record
	for _, c := range clients {
		if !c.Process.Alive() {
			continue
		}
		rec, err := h.recordOf(c.Mark)
		if err != nil {
			return nil, err
		}
		if rec != nil && c.Mark == carried {
			return rec, nil
		}
		if rec != nil && (found == nil || rec.Hops > found.Hops) {
			found = rec
		}
	}
	if found != nil {
		return found, nil
	}
	rec, err := h.lastTurn()
	if err == nil && rec == nil {
		err = &TraceError{"this was started in a turn of the swarm, and that turn is no longer known"}
	}
	return rec, err
}

// lastTurn returns the turn with the most recently written record, or nil if there is no
// record.
func (h Home) lastTurn() (*Record, error) {
	entries, err := os.ReadDir(h.Turns())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	newest, last := time.Time{}, ""
	for _, e := range entries {
		turn, ok := strings.CutSuffix(e.Name(), ".json")
		if !ok || !isTurnID(turn) {
			continue
		}
		if info, err := e.Info(); err == nil && info.ModTime().After(newest) {
			newest, last = info.ModTime(), turn
		}
	}
	if last == "" {
		return nil, nil
	}
	rec, err := ReadRecord(h, last)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rec, err
}

// recordOf returns the turn to which the processes with a mark belong, or nil if this
// project has no such turn.
func (h Home) recordOf(mark string) (*Record, error) {
	if !isTurnID(mark) {
		return nil, nil
	}
	turn, err := h.TurnOf(mark)
	if err != nil {
		return nil, err
	}
	if !isTurnID(turn) {
		return nil, nil
	}
	rec, err := ReadRecord(h, turn)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return rec, err
}

// claimedTurn returns the turn that the caller's own environment names. The turn must
// belong to that agent, and its client must be running. Otherwise a caller could claim an
// older turn, which has fewer hops. If there is no such turn, the error is a
// [*TraceError].
func (h Home) claimedTurn(agent, mark string) (*Record, error) {
	if !isTurnID(mark) {
		return nil, &TraceError{fmt.Sprintf("%s=%q is not the id of a turn", runner.MarkVar, screen.Short(mark, maxTurnID))}
	}
	rec, err := h.recordOf(mark)
	switch {
	case err != nil:
		return nil, err
	case rec == nil:
		return nil, &TraceError{fmt.Sprintf("turn %s: no such turn here", mark)}
	case agent != "" && rec.Agent != agent:
		return nil, &TraceError{fmt.Sprintf("turn %s belongs to %s, not to %s", mark, rec.Agent, screen.Short(agent, maxTurnID))}
	case rec.Mark() != mark, rec.End != "", !h.hasClient(rec):
		return nil, &TraceError{fmt.Sprintf("turn %s has ended", mark)}
	}
	return rec, nil
}

// hasClient reports whether a turn's client is running. It returns true if the record
// names no process, because then the client is just starting or the turn is in an
// attached session.
func (h Home) hasClient(rec *Record) bool {
	return rec.Process.PID == 0 || MarkInPIDFile(h.PIDFile(rec.Agent)) == rec.Mark() || rec.Process.Alive()
}

// A MarkedClient is a client and its mark.
type MarkedClient struct {
	Client
	Mark string
}

// MarkedClients returns the clients that the pid files name, including those that have
// ended. The keys are pids.
func (h Home) MarkedClients() (map[int]MarkedClient, error) {
	agents, err := h.withPIDFile()
	if err != nil {
		return nil, err
	}
	all := make(map[int]MarkedClient, len(agents))
	for _, agent := range agents {
		data, err := os.ReadFile(h.PIDFile(agent))
		if errors.Is(err, fs.ErrNotExist) {
			continue // the client has just ended
		} else if err != nil {
			return nil, err
		}
		c := MarkedClient{Client: Client{Agent: agent}}
		if _, err := fmt.Sscan(string(data), &c.Process.PID, &c.Process.Start, &c.Mark); err == nil {
			all[c.Process.PID] = c
		}
	}
	return all, nil
}

// A Claim is what a caller's own environment says about it. It counts only if the caller's
// ancestors do not show who the caller is.
type Claim struct {
	Agent string `json:"agent,omitempty"` // CLAUDE_SWARM_AGENT
	Mark  string `json:"mark,omitempty"`  // CLAUDE_SWARM_TURN
}

// ClaimOf reads a claim from an environment.
func ClaimOf(getenv func(string) string) Claim {
	return Claim{Agent: getenv(runner.AgentVar), Mark: getenv(runner.MarkVar)}
}

// A Caller is the person or the agent for whom a process runs.
type Caller struct {
	Agent    string `json:"agent,omitempty"`    // "" for a person
	Turn     string `json:"turn,omitempty"`     // "" outside a turn
	Attached bool   `json:"attached,omitempty"` // the agent is a session that a person attached
}

// InTurn reports whether the caller runs in a turn of the daemon.
func (c Caller) InTurn() bool { return c.Turn != "" && !c.Attached }

// CallerOf finds out for whom a process runs, such as the process at the other end of a
// socket. It first checks the ancestors of the process. If the client of a turn is among
// them, the caller is that turn's agent, regardless of the claim. If only the daemon is
// among them, the caller is the agent of the turn that left the process running.
//
// If the ancestors do not show who the caller is, the claim may name a running turn or an
// agent. If it names neither, the caller is the agent whose attached session is among the
// ancestors. If there is no such session, the caller is a person. If claim is nil, the
// environment with which the process was started may name a turn of this project.
//
// The error is a [*TraceError] if the process has ended, or if the claim names a turn that
// is not running.
func (h Home) CallerOf(pid int, claim *Claim) (Caller, error) {
	if _, err := runner.Identify(pid); err != nil {
		return Caller{}, &TraceError{"the program that asked has ended, and cannot be identified"}
	}
	said := Claim{}
	if claim != nil {
		said = *claim
	}
	rec, err := h.trace(pid, said.Mark)
	switch {
	case err != nil || rec != nil:
	case claim == nil:
		rec, err = h.recordOf(lineage.Variable(pid, runner.MarkVar))
	case said.Mark != "":
		rec, err = h.claimedTurn(said.Agent, said.Mark)
	}
	if err != nil {
		return Caller{}, err
	}
	if rec != nil {
		return Caller{Agent: rec.Agent, Turn: rec.Turn}, nil
	}
	var b *Binding
	if said.Agent != "" {
		// The tools of an attached session have only the agent's name.
		b, err = h.BindingOf(said.Agent)
		if b == nil {
			return Caller{Agent: said.Agent}, err
		}
	} else if b, err = h.AttachedTo(pid); b == nil {
		return Caller{}, err
	}
	return Caller{Agent: b.Agent, Turn: b.Turn, Attached: true}, err
}

// TurnsSince returns the running turns that began before at. For a client that is waiting
// for its next message, it returns the client's last turn. It reads the turns from files,
// so programs other than the daemon can also call it.
func (h Home) TurnsSince(at time.Time) []*Record {
	all := h.AttachedTurns(at)
	clients, err := h.MarkedClients()
	if err != nil {
		return all // the clients' turns are unknown
	}
	for _, c := range clients {
		rec, err := h.recordOf(c.Mark)
		if err == nil && rec != nil && c.Process.Alive() && rec.BegunBy(at) {
			all = append(all, rec)
		}
	}
	return all
}

// AttachedTurns lists the turns of people's own sessions that began before at and are
// still running.
func (h Home) AttachedTurns(at time.Time) []*Record {
	files, err := os.ReadDir(h.bindings())
	if err != nil {
		return nil // no session was ever attached
	}
	var all []*Record
	for _, f := range files {
		name, ok := strings.CutSuffix(f.Name(), ".json")
		if !ok {
			continue
		}
		b, err := h.BindingOf(name)
		if err != nil || b == nil || b.Turn == "" {
			continue
		}
		if rec, err := ReadRecord(h, b.Turn); err == nil && rec.BegunBy(at) {
			all = append(all, rec)
		}
	}
	return all
}
