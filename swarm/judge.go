package swarm

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/budget"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/notice"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
	"github.com/claude-swarm/claude-swarm/swarm/turn"
)

// judgeTrouble is the key of the report that the last turn of the supervisor's model
// failed.
const judgeTrouble = "judge"

// judgePrefix is the prefix of judgement ids. Message ids contain no dash.
const judgePrefix = "judge-"

// judgeParts is the number of parts into which the unspent remainder of a cap is divided.
// A judgement reserves only one part, because the agents need most of the budget.
const judgeParts = 16

// judgements run the supervisor's model: the files of each judgement, what it may spend and
// what it has cost. They are safe for concurrent use.
type judgements struct {
	backends map[string]runner.Backend
	project  string
	environ  []string
	home     journal.Home
	ledger   *journal.Ledger
	budget   *budget.Book
	mail     *mail.Service
	notices  *notice.Teller
	log      *slog.Logger
	settled  func() // called when the cost of a judgement is known
}

// judge returns the judge that uses the model of the plan's supervisor, or nil if the
// plan specifies no such model. Each judgement reserves part of the budget.
func (j *judgements) judge(p Plan) *supervisor.Judge {
	if p.Supervisor == nil || p.Supervisor.Client.Model == "" {
		return nil
	}
	plan := *p.Supervisor
	backend := turn.BackendOf(j.backends, plan.Backend)
	if backend == nil {
		return nil // the configuration contains no such backend
	}
	return &supervisor.Judge{
		Backend: backend,
		Turn: func(string) (runner.Turn, error) {
			t := runner.Turn{ID: judgePrefix + strings.ToLower(rand.Text()[:10]), Agent: JudgeName, Spec: plan.Client}
			t.Files = runner.Files{
				Stdout: j.home.Stream(t.ID), Stderr: j.home.TurnFile(t.ID, ".stderr"),
				Settings: j.home.ClientFile(t.ID, ".settings.json"), System: j.home.ClientFile(t.ID, ".system.md"),
				Servers: j.home.ClientFile(t.ID, ".mcp.json"), Ready: j.home.ClientFile(t.ID, ".ready"),
			}
			t.Protected = runner.Protected{Unread: []runner.ProtectedPath{{Dir: j.home.Dir()}}}
			t.Env = runner.Environ(j.environ, runner.EnvOptions{Dir: j.project, TurnID: t.ID})
			if err := os.MkdirAll(t.Spec.Dir, 0o700); err != nil {
				return t, err
			}
			r, block := j.budget.Reserve(budget.Turn{Agent: JudgeName, Message: t.ID}, judgeParts)
			if block != nil {
				return t, fmt.Errorf("nothing is left in %s", block.Scope)
			}
			if r != nil {
				t.CapUSD = r.USD()
			}
			rec := journal.Record{Turn: t.ID, Agent: JudgeName, Backend: backend.Kind().Name, Message: t.ID, Begun: time.Now().UTC()}
			r.Note(&rec)
			if err := rec.Write(j.home); err != nil { // lets the next daemon count the judgement
				j.budget.Release(JudgeName)
				return t, errors.Join(err, rec.Remove(j.home))
			}
			return t, nil
		},
		Ended: func(agent string, t runner.Turn, out runner.Outcome) {
			defer j.settled()
			defer j.budget.Release(JudgeName)
			if out.End.OK() {
				j.notices.Trouble.Clear(judgeTrouble)
			} else {
				j.notices.Trouble.Set(judgeTrouble, fmt.Sprintf("the supervisor's model %s gave no verdict, so only the rules apply: %s",
					plan.Client.Model, screen.Short(out.Reason, maxWhisper)))
			}
			err := j.ledger.Add(journal.LedgerLine{
				At: out.Ended.UTC(), Turn: t.ID, Agent: JudgeName, From: dropbox.Swarm, Subject: "judges the work of " + agent,
				Outcome: string(out.End), Reason: out.Reason, Seconds: out.Ended.Sub(out.Began).Seconds(),
				Tokens: journal.TallyOf(out), CostUSD: out.CostUSD, CostUnknown: out.CostUnknown,
				Billing: out.Billing, ReservedUSD: t.CapUSD,
				Client: journal.ClientName(backend.Kind().Name, out.Version), Model: out.Model, Session: out.Session,
			})
			if err == nil {
				err = j.remove(t.ID)
			}
			j.mail.Note(err)
		},
	}
}

// remove removes the files of a judgement. The judgement's line must already be
// in the ledger.
func (j *judgements) remove(id string) (err error) {
	for _, file := range []string{
		j.home.Stream(id), j.home.TurnFile(id, ".stderr"), j.home.ClientFile(id, ".settings.json"), j.home.ClientFile(id, ".system.md"),
		j.home.ClientFile(id, ".mcp.json"), j.home.ClientFile(id, ".ready"), j.home.TurnFile(id, ".json"),
	} {
		if gone := os.Remove(file); !errors.Is(gone, fs.ErrNotExist) {
			err = errors.Join(err, gone)
		}
	}
	return err
}

// endLost ends the judgements of a daemon that was killed, and adds their lines to the
// ledger. Their cost is unknown, so the amount reserved in the budget counts as spent.
func (j *judgements) endLost() error {
	turns, err := j.home.Recorded()
	if err != nil {
		return err
	}
	for _, id := range turns {
		if !strings.HasPrefix(id, judgePrefix) {
			continue
		}
		rec, err := journal.ReadRecord(j.home, id)
		if err == nil {
			endLeft(j.log, id)
			line := lostLine(rec)
			line.From, line.Reason = dropbox.Swarm, "the daemon was killed before its model had answered"
			err = j.ledger.Add(line) // has no effect if the line is already in the ledger
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if err := j.remove(id); err != nil {
			return err
		}
	}
	return nil
}
