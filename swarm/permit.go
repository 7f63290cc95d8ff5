package swarm

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"
	"unicode"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/permission"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/mail"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// These constants limit the permission requests from the client of one turn.
const (
	maxQuestions     = 100              // questions to the lead
	maxQuestionsOpen = 8                // questions open at the same time; further questions wait
	maxDecisionsTold = 30               // events about denials by rules
	maxDecisionsKept = 200              // lines in the log, and events about all decisions
	maxAskedText     = 8 << 10          // length of a tool call's text, in bytes; nobody should allow a call that is not shown in full
	permitPatience   = 10 * time.Minute // timeout of a question, if the rules specify none
)

// These are the reasons to stop waiting for an answer.
var (
	errEverythingHalted = errors.New("everything is halted")
	errAgentStops       = errors.New("the agent is stopped")
	errTurnEnded        = errors.New("the turn has ended")
)

// A permitter decides on the permission requests from the client of one agent. It is safe
// for concurrent use.
type permitter struct {
	asker    mail.Asker
	store    *dropbox.Store
	holds    *journal.Holds
	mail     *mail.Service
	plan     func() Plan
	canWork  func(lead string) bool // whether the lead agent can begin turns
	agentLog *journal.AgentLog
	log      *slog.Logger
}

// of returns the function that decides on the tool calls of the turn with this record.
// When stop is done, the turn must end, so its open questions end too.
func (p *permitter) of(stop context.Context, rec *journal.Record, rules permission.Rules) runner.Permit {
	asked := *rec // a copy, because the turn keeps writing to rec
	t := &turnPermits{permitter: p, rec: &asked, rules: rules, places: make(chan struct{}, maxQuestionsOpen)}
	return func(ctx context.Context, r runner.PermissionRequest) runner.Decision { return t.decide(ctx, stop, r) }
}

// turnPermits decides on the tool calls of one turn.
type turnPermits struct {
	*permitter
	rec    *journal.Record
	rules  permission.Rules
	places chan struct{} // one for each question that has not been answered yet

	mu        sync.Mutex
	questions int // number of questions asked
	told      int // number of decisions counted by [turnPermits.tell]
}

func (t *turnPermits) decide(ctx, stop context.Context, r runner.PermissionRequest) runner.Decision {
	d := runner.Decision{Request: r}
	var answer permission.Answer
	answer, d.Rule = t.rules.Decide(r)
	switch answer {
	case permission.Allow:
		d.Allowed = true
	case permission.Ask:
		t.ask(ctx, stop, &d)
	}
	if d.Rule == permission.ByProtection {
		d.Why = "only a person may use this file in that way"
	}
	d.At = time.Now().UTC()
	t.tell(d)
	return d
}

// tell writes a decision to the logs, unless a rule allowed the call. The receipt
// includes such calls.
func (t *turnPermits) tell(d runner.Decision) {
	if d.Allowed && d.By == "" {
		return
	}
	what := mail.WhatOf(d.Request)
	log := t.log.With(keyTurn, t.rec.Turn, "call", what, "rule", d.Rule)
	t.mu.Lock()
	t.told++
	n := t.told
	t.mu.Unlock()
	switch {
	case n <= maxDecisionsKept:
		log.Info("tool call was decided", "allowed", d.Allowed, "by", d.By, keyWhy, d.Why)
	case n == maxDecisionsKept+1:
		log.Info("more tool calls of the turn were decided; the receipt counts them")
	}
	if n > maxDecisionsTold && d.By == "" || n > maxDecisionsKept {
		return // the receipt lists or counts the decision
	}
	t.agentLog.Line(t.rec.Message, "= "+mail.Verdict(d)+": "+what)
	t.mail.Note(t.mail.Decided(t.rec, n, d))
}

// ask asks the lead whether a call is allowed.
func (t *turnPermits) ask(ctx, stop context.Context, d *runner.Decision) {
	d.By = runner.Nobody
	shown := describeCall(d.Request)
	if len(shown) > maxAskedText {
		d.Why = fmt.Sprintf("a call of %d bytes is too long to ask about", len(shown))
		return
	}
	t.mu.Lock()
	t.questions++
	first := t.questions
	t.mu.Unlock()
	if first > maxQuestions {
		d.Why = fmt.Sprintf("more than %d questions in one turn", maxQuestions)
		return
	}
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(stop, func() { end(errStopping) })()
	select {
	case t.places <- struct{}{}:
		defer func() { <-t.places }()
	case <-ctx.Done():
		d.Why = overBecause(context.Cause(ctx))
		return
	}
	q := mail.Question{
		Turn: t.rec, To: t.lead(), Number: 2*first - 1, What: mail.WhatOf(d.Request), Over: t.over,
		Patience: cmp.Or(t.rules.Timeout, permitPatience),
	}
	unclear := false // whether the first answer began with neither allow nor deny
	for again := false; ; again = true {
		q.Text = t.question(q, shown, unclear)
		t.agentLog.Line(t.rec.Message, "= asks "+t.plan().Called(q.To)+" whether it may: "+q.What)
		reply, err := t.asker.Ask(ctx, q)
		switch {
		case errors.Is(err, mail.ErrNoAnswer):
			d.Why = mail.NobodyAnswered + q.Patience.String()
		case err != nil:
			d.Why = overBecause(err)
		case reply.From == dropbox.Swarm && again:
			d.Why = screen.Short(string(reply.Body), 200)
		case reply.From == dropbox.Swarm:
			q.To = dropbox.Lead // the lead agent cannot answer
			q.Number++
			continue
		default:
			switch word := answerWord(reply, t.rec.Agent); {
			case word == "allow", word == "deny":
				d.By, d.Allowed = reply.From, word == "allow"
			case again:
				d.By, d.Why = reply.From, fmt.Sprintf("%s answered neither allow nor deny", reply.From)
			default:
				unclear = true
				q.Number++
				continue
			}
		}
		return
	}
}

// lead returns the recipient of the agent's questions: the lead agent, or the person if
// the lead agent cannot work.
func (t *turnPermits) lead() string {
	to := t.plan().LeadFor(t.rec.Agent)
	if to != dropbox.Lead && !t.canWork(to) {
		return dropbox.Lead
	}
	return to
}

// over returns the reason why the turn must stop waiting for an answer, or nil if the
// turn may keep waiting.
func (t *turnPermits) over() error {
	if t.store.Halted() {
		return errEverythingHalted
	}
	if t.holds.Of(t.rec.Agent).Stopped != nil {
		return errAgentStops
	}
	h, err := t.store.Threads().Halted(t.rec.Thread)
	if err == nil && h != nil {
		return errors.New("the conversation is halted: " + cmp.Or(h.Why, "by hand"))
	}
	return nil
}

// overBecause returns a readable description of the reason why a question got no answer.
func overBecause(err error) string {
	if errors.Is(err, context.Canceled) {
		err = errTurnEnded
	}
	return screen.Short(err.Error(), 200)
}

// answerWord returns the first word of an answer, in lower case and without punctuation. It
// skips the agent's name, because an IRC line that is addressed to an agent begins with the
// agent's name.
func answerWord(m *dropbox.Message, agent string) string {
	a := mail.ReadAnswer(m.From, m.Body)
	if a.Word == agent && dropbox.IsBridge(m.From) {
		a = mail.ReadAnswer(dropbox.Lead, []byte(a.Rest))
	}
	return a.Word
}

// question returns the text of a question. unclear reports whether the first answer to it
// began with neither allow nor deny.
func (t *turnPermits) question(q mail.Question, shown string, unclear bool) string {
	var b strings.Builder
	if unclear {
		b.WriteString("The last answer began with neither allow nor deny, so the question is asked again.\n\n")
	}
	fmt.Fprintf(&b, "%s wants to use a tool:\n\n%s\n", t.rec.Agent, shown)
	fmt.Fprintf(&b, "Answer with allow or deny as the first word. Without an answer within %s, the call is denied.\n", q.Patience)
	return b.String()
}

// describeCall returns a description of a tool call. It contains the call's kind and a
// code block with the call's command, paths, tool and the client's further requests. If
// the call has none of these, the block contains the call's title. If the block contains
// a tool or a title, it also contains the call's input. The description hides nothing,
// because characters that would control a terminal are written as their codes.
func describeCall(r runner.PermissionRequest) string {
	var code []string
	if r.Command != "" {
		code = append(code, r.Command)
	}
	code = append(code, r.Paths...)
	if r.Tool != "" {
		code = append(code, "tool "+r.Tool)
	}
	if len(r.Beside) > 0 {
		code = append(code, "and requests additional rights: "+string(r.Beside))
	}
	told := len(code) > 0
	if !told {
		code = append(code, cmp.Or(r.Title, "(the client does not describe the call)"))
	}
	if len(r.Input) > 0 && (r.Tool != "" || !told) {
		code = append(code, string(r.Input))
	}
	var text strings.Builder
	for _, c := range strings.Join(code, "\n") {
		if c != '\n' && c != '\t' && (screen.Steers(c) || c == unicode.ReplacementChar) {
			fmt.Fprintf(&text, "\\u{%x}", c)
		} else {
			text.WriteRune(c)
		}
	}
	fence := "```"
	for strings.Contains(text.String(), fence) {
		fence += "`"
	}
	return fmt.Sprintf("%s\n\n%s\n%s\n%s\n", r.Kind, fence, text.String(), fence)
}
