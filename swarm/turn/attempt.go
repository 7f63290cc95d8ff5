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
	// Record contains the facts about the turn that the caller provides, such as the
	// message and the notes in its prompt. Run fills in the fields about the client for
	// each client that it starts.
	Record journal.Record
	Begun  int // how many times the message was claimed, including this claim

	// Prompt returns the prompt for the turn with this record.
	Prompt func(*journal.Record, Recall) string
	// Started is called for each client after the client has started.
	Started func()
	// Prompted is called for each client when it has the prompt. Prompted may be nil.
	Prompted func()
	// Steer returns the [runner.Steering] that delivers urgent messages to the turn with
	// this record while the turn is running.
	Steer func(*journal.Record) *runner.Steering
	// Permit returns the [runner.Permit] that decides on the permission requests of the
	// turn with this record. If Permit returns nil, nothing is allowed.
	Permit func(*journal.Record) runner.Permit
	// Observe returns the observer of the events of the turn with this record, or nil if
	// there is no observer. The turn's goroutine calls the observer, which must not
	// block. Secrets are removed from the events. Observe may be nil.
	Observe func(*journal.Record) Observer
	// Doubts reports whether the conversation that a turn resumed may be the cause of its
	// end, although the API did not reject it. Doubts may be nil.
	Doubts func(runner.Outcome) bool
	// Unusable is called when a client is found to be unusable, before Run tries another
	// client. If Unusable returns an error, Run does not try another client.
	Unusable func(*journal.Record, runner.Outcome) error
}

// An Observer receives each event of a turn. It must not retain the event.
type Observer func(*streamjson.Event)

// A Recall is the text that a client needs again because its session does not contain it.
type Recall struct {
	Prior []byte // the text that a compaction removed, or the whole window in a new session; may be empty
	// Successor reports that the session replaces an earlier session that is gone. The
	// agent must then read the handoff that was written for the new session.
	Successor bool
}

// Run starts one client after another until one is usable, or until [journal.MaxTries]
// clients have refused the session or the prompt. If the API rejects what a resumed session
// contains, or [Task].Doubts says that the session may be the cause of a failure, Run tries
// the message once more in a new session, which gets the window. If the API rejects that too,
// the window may contain what it rejects, and Run tries a new session without the window. If
// the new session does not work either, the agent keeps its old session. Run returns the
// outcome of the last client, and the record of the last attempt that began, or nil if no
// attempt began. An error means that Run could not start another client because of a failure
// of the daemon.
func (t *Turns) Run(ctx context.Context, s Settings, task Task) (runner.Outcome, *journal.Record, error) {
	// If a dead letter is retried, there are records of its earlier attempts. The new
	// turns must not reuse the names of those attempts.
	earlier, err := journal.TriesOf(t.Home, task.Record.Message, task.Begun)
	if err != nil {
		return runner.Outcome{}, nil, err
	}
	var last *journal.Record
	var doubted *journal.Session // the session that may be the cause of a failure
	bare := false                // the next session does not get the window
	for try, refused := len(earlier), 0; ; try++ {
		var session runner.Session
		if doubted != nil {
			session, err = freshSession(t.Sessions, t.name, s)
		} else {
			session, err = t.session(s, refused, last)
		}
		if err != nil {
			return runner.Outcome{}, last, err
		}
		rec := task.Record
		rec.Turn = journal.TurnID(rec.Message, task.Begun, try)
		out, err := t.attempt(ctx, s, task, &rec, session, bare)
		if err != nil {
			return runner.Outcome{}, last, err
		}
		last = &rec
		if doubted == nil && (session.How == runner.Resume || session.How == runner.Fork) && (out.Rejected || task.Doubts != nil && task.Doubts(out)) {
			if was, ok := t.Sessions.Get(t.name); ok {
				t.log.Warn("the conversation may be the cause of a failure; trying the turn in a new session", keyTurn, rec.Turn, keyWhy, out.Reason)
				doubted = &was
				if err := task.Unusable(last, out); err != nil {
					return runner.Outcome{}, last, err
				}
				continue
			}
		}
		if doubted != nil && !bare && out.Rejected && last.Reinjected {
			t.log.Warn("the window may be the cause too; trying the turn in a new session without it", keyTurn, rec.Turn, keyWhy, out.Reason)
			bare = true
			if err := task.Unusable(last, out); err != nil {
				return runner.Outcome{}, last, err
			}
			continue
		}
		if out.End == runner.NoSession || out.End == runner.PromptNotRun {
			refused++
		} else if out.End != runner.ClientGone { // only a waiting client can be gone, and the next client is a new one
			return out, last, t.keep(doubted, out)
		}
		t.log.Info("client not usable, trying another way", keyTurn, rec.Turn, "end", string(out.End), keyWhy, out.Reason)
		if refused == journal.MaxTries {
			return out, last, t.keep(doubted, out)
		}
		if err := task.Unusable(last, out); err != nil {
			return runner.Outcome{}, last, err
		}
	}
}

// keep gives the agent its old session back, if there is one and the turn's end does not show
// that the new session works.
func (t *Turns) keep(old *journal.Session, out runner.Outcome) error {
	works := out.End.OK() || out.ContextTokens > 0 && !out.Rejected && out.Service == runner.NoServiceError
	if old == nil || works {
		return nil
	}
	return t.Sessions.Set(t.name, *old)
}

// session chooses the session of an attempt. It first returns the agent's session. If the
// client refuses that session, it returns the same session in the other form (new instead
// of resumed, or resumed instead of new), and after that a fresh session.
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

// attempt runs one client, with the record rec. An error means that the turn could not
// begin because of a failure of the daemon. In this case, attempt leaves no record.
func (t *Turns) attempt(ctx context.Context, s Settings, task Task, rec *journal.Record, session runner.Session, bare bool) (runner.Outcome, error) {
	mem, err := openMemory(t.Home, t.kind(s).Tools, t.name, s.windowLimit(), t.log)
	if err != nil {
		return runner.Outcome{}, err
	}
	var recall Recall
	if recall.Prior, err = mem.pending(); err != nil {
		return runner.Outcome{}, err
	}
	if session.How == runner.New && s.Session != SessionFresh {
		// If the agent had a conversation, that conversation is gone, so the prompt gives
		// back the whole window.
		recall.Prior = mem.content()
		recall.Successor = len(recall.Prior) > 0 || t.Sessions.IsCleared(t.name)
		if bare {
			recall.Prior = nil
		}
	}
	prompt := task.Prompt(rec, recall)

	rec.Backend, rec.UUID, rec.Session, rec.How = s.Backend, journal.PromptUUID(rec.Turn), session.ID, string(session.How)
	rec.Reinjected, rec.WindowBytes, rec.Begun, rec.Tools = len(recall.Prior) > 0, s.windowLimit(), time.Now().UTC(), t.tools(s) != nil
	// A client prints unfinished text only if somebody is following the turn. Unfinished
	// text makes the stream file, which is kept, nine times as long and eight times as
	// expensive to read. A running client cannot switch unfinished text on or off.
	partial, _ := t.Feed.Wants(t.name)
	w := t.warmFor(ctx, s, session, partial, rec.ReservedUSD)
	t.View.streams(partial || w != nil && w.partial)
	if w != nil {
		rec.Client, rec.From = w.mark, w.client.Place()
		err = t.Home.SetNow(w.mark, rec.Turn) // the client is already running, so the durable record that [tracker.started] writes is enough
	} else {
		err = rec.WriteVolatile(t.Home)
	}
	if err != nil {
		return runner.Outcome{}, fmt.Errorf("turn record: %w", err)
	}

	t.Runs.begin(rec)
	defer t.Runs.end()
	var observe Observer
	if task.Observe != nil {
		observe = task.Observe(rec)
	}
	if session.How == runner.Fork {
		defer t.listTree(ctx)()
	}
	follow := t.track(s, mem, rec, task.Started, observe)
	out := t.runIn(ctx, s, w, runner.Turn{
		ID: rec.Turn, Client: rec.Client, From: rec.From, Agent: t.name, UUID: rec.UUID, Prompt: prompt, Session: session,
		Files: t.files(rec.Mark()), Tools: t.tools(s), Protected: t.Protected(s),
		CapUSD: rec.ReservedUSD, Hook: t.hook(s), Recalls: rec.Reinjected, Partial: partial, Steering: task.Steer(rec), Permit: task.Permit(rec), Started: follow.started, Prompted: task.Prompted, Event: follow.event, Spent: t.View.spent,
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

// listTree makes git list the folder in which the agent's conversation began, until undo is
// called. After an error the client may not find the conversation; it then begins a new one.
func (t *Turns) listTree(ctx context.Context) (undo func()) {
	se, _ := t.Sessions.Get(t.name)
	if t.ListTree == nil || se.FromDir == "" {
		return func() {}
	}
	undo, err := t.ListTree(ctx, se.FromDir)
	if err != nil {
		t.log.Warn("git does not list the folder in which the conversation began", "folder", se.FromDir, keyErr, err)
		return func() {}
	}
	return undo
}

// waited returns a function that reports how long a turn has waited for answers.
func (t *Turns) waited(turn string) func() time.Duration {
	return func() time.Duration { return t.Home.Asks(turn).Waited(time.Now()) }
}
