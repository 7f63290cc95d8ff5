package turn

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// Follow follows a turn that an earlier daemon began. If the client is still alive,
// Follow returns when the client has ended. Otherwise Follow only reads the client's
// output file. The parameter steered contains the UUIDs of the messages that the earlier
// daemon delivered to the turn while the turn was running. The parameter observe may be
// nil.
func (t *Turns) Follow(ctx context.Context, s Settings, rec *journal.Record, steered []string, observe Observer) (runner.Outcome, error) {
	mem, err := openMemory(t.Home, t.kind(s).Tools, t.name, rec.WindowBytes, t.log)
	if err != nil {
		return runner.Outcome{}, err
	}
	if rec.Process.Alive() {
		t.View.process(rec.Process.PID)
	}
	t.Runs.begin(rec)
	files := t.files(rec.Mark())
	grown := t.Streams.watch(files.Stdout)
	defer t.Streams.unwatch(files.Stdout)

	follow := t.track(s, mem, rec, nil, observe)
	event := follow.event
	if mem.win.Mark() == rec.Turn {
		event = nil // the window, the log and the status already contain this turn
	}
	out := t.Backend(s).Follow(ctx, runner.Turn{
		ID: rec.Turn, Client: rec.Client, From: rec.From, Agent: t.name, UUID: rec.UUID, Session: runner.Session{ID: rec.Session, How: runner.How(rec.How)},
		Spec: s.Client, Env: t.environment(s, rec.Mark()), Files: files, CapUSD: rec.ReservedUSD, Tools: t.toolsOf(rec), Grown: grown, Steered: steered, Event: event, Spent: t.View.spent,
		Waited: t.waited(rec.Turn),
	}, rec.Process)
	t.Runs.end()
	follow.end(&out, false)
	return out, nil
}

// leftoverGrace is the time from SIGTERM to SIGKILL for processes that a dead client left
// running.
const leftoverGrace = time.Second

// EndLeft ends the processes that have the given mark, and returns their number.
func EndLeft(mark string) int { return runner.EndLeftovers(mark, leftoverGrace) }

// compactTurns is the first part of the names of compaction turns, which have no message.
const compactTurns = "compact"

// CanCompact reports whether the agent has a conversation to compact, and a client that
// can compact it.
func (t *Turns) CanCompact(s Settings) bool {
	_, ok := t.oldSession(s)
	_, can := t.Backend(s).(runner.Compacter)
	return ok && can
}

// oldSession returns the conversation that can be compacted, if there is one.
func (t *Turns) oldSession(s Settings) (runner.Session, bool) {
	switch {
	case s.Session == SessionFresh || !t.kind(s).Resumes:
		return runner.Session{}, false
	case s.Session == SessionContinue:
		return runner.Session{How: runner.Continue}, true
	}
	se, ok := t.Sessions.Get(t.name)
	if !ok || !se.Used || se.Dir != s.Client.Dir {
		return runner.Session{}, false
	}
	return runner.Session{ID: se.ID, How: runner.Resume}, true
}

// NewCompaction returns a new turn name for Compact.
func NewCompaction() string { return compactTurns + "-" + strings.ToLower(rand.Text()[:10]) }

// Compact runs a turn without a message, in which the client summarizes its conversation.
// The parameter rec contains the turn's name and the amount reserved in the budget.
// CanCompact must have returned true.
func (t *Turns) Compact(ctx context.Context, s Settings, rec *journal.Record) (out runner.Outcome, err error) {
	session, _ := t.oldSession(s)
	c, ok := t.Backend(s).(runner.Compacter)
	if !ok {
		return out, errors.New("the agent's client cannot compact")
	}
	mem, err := openMemory(t.Home, t.kind(s).Tools, t.name, s.windowLimit(), t.log)
	if err != nil {
		return out, err
	}
	rec.Backend, rec.UUID, rec.Session, rec.How = s.Backend, journal.PromptUUID(rec.Turn), session.ID, string(session.How)
	rec.WindowBytes, rec.Begun = s.windowLimit(), time.Now().UTC()
	if err := rec.WriteVolatile(t.Home); err != nil {
		return out, fmt.Errorf("turn record: %w", err)
	}
	t.Runs.begin(rec)
	defer t.Runs.end()
	follow := t.track(s, mem, rec, nil, nil)
	out = t.runIn(ctx, s, nil, runner.Turn{
		ID: rec.Turn, Agent: t.name, UUID: rec.UUID, Prompt: c.CompactPrompt(), Session: session, CapUSD: rec.ReservedUSD,
		Files: t.files(rec.Turn), Tools: t.tools(s), Hook: t.hook(s), Started: follow.started, Event: follow.event,
	})
	follow.end(&out, t.warm != nil)
	if follow.unrecorded != nil { // no prompt was sent
		return out, errors.Join(fmt.Errorf("record the turn: %w", follow.unrecorded), rec.Remove(t.Home))
	}
	return out, nil
}

// Forget drops the agent's session. It also drops the window, because the window would
// bring back the conversation.
func (t *Turns) Forget(ctx context.Context) error {
	t.Close(ctx, "the context is being cleared")
	if err := t.Sessions.Clear(t.name); err != nil {
		return err
	}
	for _, file := range []string{t.Home.WindowFile(t.name), t.Home.PendingFile(t.name)} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	t.View.forgot()
	t.ContextSized(t.name, "", journal.Context{})
	return nil
}
