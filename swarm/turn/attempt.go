package turn

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Task is the work of one turn.
type Task struct {
	// Record names the message, and the notes that ride along; Run sets the other fields
	// for each client that it starts.
	Record journal.Record
	Begun  int // how many times the message was claimed, including this claim

	// Prompt returns the prompt for the turn with this record.
	Prompt func(*journal.Record, Recall) string
	// Started is called once the client runs.
	Started func()
	// Steer brings urgent messages to the turn with this record while it runs.
	Steer func(*journal.Record) *runner.Steering
	// Permit decides what the client of the turn with this record asks for; nil: nothing is
	// allowed.
	Permit func(*journal.Record) runner.Permit
	// Observe makes the observer of the events of the turn with this record; nil for none. The
	// goroutine of the turn calls the observer, which must not wait. The events have no secrets.
	Observe func(*journal.Record) Observer
	// Unusable is called when a client could not be used and before Run tries another one.
	// An error ends the attempts.
	Unusable func(*journal.Record, runner.Outcome) error
}

// An Observer gets each event of a turn. It may not keep the event.
type Observer func(*streamjson.Event)

// A Recall is the text that a client needs again, since its session does not have it.
type Recall struct {
	Prior []byte // the window after a compaction, or all of it in a new session; may be empty
	// Successor says that the session follows one that is gone, whose handoff the agent has
	// to read.
	Successor bool
}

// Run runs clients until one of them ends in a way that counts. It returns the record of
// the last client that was sent the prompt; nil if none was. An error means that Run could
// not start another client because of a failure of the daemon.
func (t *Turns) Run(ctx context.Context, s Settings, task Task) (runner.Outcome, *journal.Record, error) {
	// A dead letter that is tried again has records of its earlier attempts: its new turns
	// must not reuse their names.
	earlier, err := journal.TriesOf(t.Home, task.Record.Message, task.Begun)
	if err != nil {
		return runner.Outcome{}, nil, err
	}
	var last *journal.Record
	for try, refused := len(earlier), 0; ; try++ {
		session, err := t.session(s, refused, last)
		if err != nil {
			return runner.Outcome{}, last, err
		}
		rec := task.Record
		rec.Turn = journal.TurnID(rec.Message, task.Begun, try)
		out, err := t.attempt(ctx, s, task, &rec, session)
		if err != nil {
			return runner.Outcome{}, last, err
		}
		last = &rec
		if out.End == runner.NoSession || out.End == runner.PromptNotRun {
			refused++
		} else if out.End != runner.ClientGone { // the next client is a new one, which cannot be gone
			return out, last, nil
		}
		t.log.Info("client not usable, trying another way", keyTurn, rec.Turn, "end", string(out.End), keyWhy, out.Reason)
		if refused == journal.MaxTries {
			return out, last, nil
		}
		if err := task.Unusable(last, out); err != nil {
			return runner.Outcome{}, last, err
		}
	}
}

// session chooses the session of an attempt: the agent's session; when the client refuses
// it, the other form; then a fresh one.
func (t *Turns) session(s Settings, try int, last *journal.Record) (runner.Session, error) {
	if try == 0 {
		return planSession(t.Sessions, t.kind(s), t.name, s)
	}
	switch {
	case try == 1 && last.How == string(runner.Resume):
		return runner.Session{ID: last.Session, How: runner.New}, nil
	case try == 1 && last.How == string(runner.New) && t.kind(s).Resumes:
		return runner.Session{ID: last.Session, How: runner.Resume}, nil
	}
	return freshSession(t.Sessions, t.name, s)
}

// attempt runs one client, with the record rec. An error means that the client did not
// start because of a failure of the daemon; then nothing of it is left.
func (t *Turns) attempt(ctx context.Context, s Settings, task Task, rec *journal.Record, session runner.Session) (runner.Outcome, error) {
	mem, err := openMemory(t.Home, t.kind(s).Tools, t.name, s.windowLimit(), t.log)
	if err != nil {
		return runner.Outcome{}, err
	}
	var recall Recall
	if recall.Prior, err = mem.pending(); err != nil {
		return runner.Outcome{}, err
	}
	if session.How == runner.New && s.Session != SessionFresh {
		// The agent's conversation is gone, if it had one: it gets back the whole window.
		recall.Prior = mem.content()
		recall.Successor = len(recall.Prior) > 0 || t.Sessions.IsCleared(t.name)
	}
	prompt := task.Prompt(rec, recall)

	rec.Backend, rec.UUID, rec.Session, rec.How = s.Backend, journal.PromptUUID(rec.Turn), session.ID, string(session.How)
	rec.Reinjected, rec.WindowBytes, rec.Begun, rec.Tools = len(recall.Prior) > 0, s.windowLimit(), time.Now().UTC(), t.tools(s) != nil
	// The client writes the stream into a file that is kept, and cannot switch the pieces
	// of text on or off while it runs. Pieces make that file nine times as long, and
	// reading them costs eight times as much; so only a turn that somebody follows has
	// them.
	partial, _ := t.Feed.Wants(t.name)
	w := t.warmFor(ctx, s, session, partial, rec.ReservedUSD)
	t.View.streams(partial || w != nil && w.partial)
	if w != nil {
		rec.Client, rec.From = w.mark, w.client.Place()
		err = t.Home.SetNow(w.mark, rec.Turn) // the client runs already: the record can be written when it is durable
	} else {
		err = rec.WriteVolatile(t.Home)
	}
	if err != nil {
		return runner.Outcome{}, fmt.Errorf("turn record: %w", err)
	}

	t.Runs.begin(rec)
	defer t.Runs.end()
	follow := t.track(s, mem, rec, task.Started)
	if task.Observe != nil {
		follow.observe = task.Observe(rec)
	}
	out := t.runIn(ctx, s, w, runner.Turn{
		ID: rec.Turn, Client: rec.Client, From: rec.From, Agent: t.name, UUID: rec.UUID, Prompt: prompt, Session: session,
		Files: t.files(rec.Mark()), Tools: t.tools(s),
		CapUSD: rec.ReservedUSD, Hook: t.hook(s), Recalls: rec.Reinjected, Partial: partial, Steering: task.Steer(rec), Permit: task.Permit(rec), Started: follow.started, Event: follow.event,
		Waited: t.waited(rec.Turn),
	})
	follow.end(&out, t.warm != nil)
	if follow.unrecorded != nil {
		err = fmt.Errorf("record the turn: %w", follow.unrecorded)
	} else if out.End == runner.NoResources {
		err = fmt.Errorf("start the client: %s", out.Reason)
	}
	if err != nil { // nothing was sent, so no turn began
		return runner.Outcome{}, errors.Join(err, rec.Remove(t.Home))
	}
	return out, nil
}

// waited says how long a turn has waited for answers.
func (t *Turns) waited(turn string) func() time.Duration {
	return func() time.Duration { return t.Home.Asks(turn).Waited(time.Now()) }
}
