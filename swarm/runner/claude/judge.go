package claude

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A verdict is what a turn comes to, and what to say about it.
type verdict struct {
	end     runner.End // "" in a cause: none
	reason  string
	hint    string
	resetAt time.Time
}

// evidence is all that a verdict is made of.
type evidence struct {
	turn     runner.Turn
	cause    verdict // why we ended the client, if we did
	own      *streamjson.Result
	began    bool   // there was an event
	problem  string // error word of the last assistant line
	words    string // its text
	stderr   string // the end of it
	exit     runner.Exit
	followed bool
	untaken  bool      // a client that had waited has not repeated the prompt
	resetAt  time.Time // told by an event
	now      time.Time
}

func (r *run) judge() verdict {
	return judge(evidence{
		turn: r.turn, cause: r.cause, own: r.judged(), began: r.account.Began(), problem: r.seen.problem, words: r.seen.words,
		stderr: r.stderr, exit: r.exit, followed: r.followed,
		untaken: r.warm && r.seen.replay.IsZero(), resetAt: r.seen.resetAt, now: time.Now(),
	})
}

// judge decides. It reads no clock and no file.
func judge(e evidence) verdict {
	switch {
	case e.own != nil && !e.own.IsError:
		return verdict{end: runner.Done} // also when it was being ended: the work is done, and not to be done again
	case e.cause.end != "":
		return e.cause
	case e.own != nil:
		return e.errorResult()
	}
	return e.noResult()
}

// Hints for what the daemon mends by itself.
const (
	freshSession = "nothing has to be done: it is tried the other way, then with a fresh session"
	goesBack     = "nothing has to be done: the message goes back to its mailbox"
)

// errorResult judges a result that says that it is an error.
func (e evidence) errorResult() verdict {
	own := firstOf(e.own.Text, strings.Join(e.own.Errors, "; ")) // not what the model said, which may speak of limits
	text := firstOf(own, e.words, "the client says that it failed ("+e.own.Subtype+")")
	if contains(text+" "+strings.Join(e.own.Errors, " "), "no conversation found") {
		return verdict{end: runner.NoSession, reason: "the session " + e.turn.Session.ID + " is not known here", hint: freshSession}
	}
	status := e.own.APIStatus
	switch {
	case e.problem == "billing_error" || status == 402 || contains(own, "credit balance"):
		return e.limited(text, "pay in credit for the API key, or use another login")
	case status == 429 || e.problem == "rate_limit" || isLimitText(own):
		return e.limited(text, "nothing has to be done")
	case status == 502 || status == 503 || status == 504 || status == 529:
		return e.limited(text, "nothing has to be done; https://status.claude.com may say more")
	case contains(own, "unable to connect to api"):
		return e.limited(text, "look at the network, and at ANTHROPIC_BASE_URL if it is set")
	case status == 401 || status == 403 || e.problem == "authentication_failed" || contains(own, "please run /login"):
		return e.refusedKey(text)
	case status == 404 || e.problem == "model_not_found":
		return verdict{end: runner.Refused, reason: text, hint: fmt.Sprintf("set model: of agent %s to one that your account has; %s", e.turn.Agent, e.again())}
	case contains(text, "prompt is too long"):
		return verdict{end: runner.Failed, reason: text, hint: "set session: fresh for this agent, or a smaller compact_window"}
	case e.own.Subtype == "error_max_turns":
		return verdict{end: runner.Failed, reason: "it reached the most turns that its command allows", hint: "raise --max-turns in command:, or give it less to do at once"}
	case e.own.Subtype == "error_max_budget_usd":
		return verdict{end: runner.Failed, reason: "it spent what its command allows for one turn", hint: "raise --max-budget-usd in command:, or give it less to do at once"}
	case status >= 500:
		return verdict{end: runner.Failed, reason: text, hint: "the API has trouble; look at https://status.claude.com"}
	}
	return verdict{end: runner.Failed, reason: text, hint: e.look()}
}

// noResult judges a turn that ended without a result of its own.
func (e evidence) noResult() verdict {
	said := lastLine(e.stderr)
	ended := "the client " + exitText(e.exit)
	switch {
	case e.untaken && !e.followed:
		return gone("has ended")
	case contains(e.stderr, "is already in use"):
		return verdict{end: runner.NoSession, reason: "the session " + e.turn.Session.ID + " exists already", hint: freshSession}
	case contains(e.stderr, "no conversation found"):
		return verdict{end: runner.NoSession, reason: "the session " + e.turn.Session.ID + " is not known here", hint: freshSession}
	case e.followed:
		return verdict{end: runner.Lost, reason: "the client of the earlier daemon is dead and left no result", hint: goesBack}
	case e.began:
		return verdict{end: runner.Failed, reason: withDetail(ended+" without a result", said), hint: e.look()}
	case contains(e.stderr, "root/sudo"):
		return verdict{end: runner.Refused, reason: said,
			hint: "run the daemon as another user, or set IS_SANDBOX: \"1\" in env: where the machine is one; " + e.again()}
	case badCommand(e.stderr, e.exit):
		return verdict{end: runner.Refused, reason: withDetail("the client does not take its command line", firstLine(e.stderr)),
			hint: fmt.Sprintf("check command:, permission_mode: and the installed version of agent %s (2.1.197 is known to work); %s", e.turn.Agent, e.again())}
	}
	return verdict{end: runner.Unborn, reason: withDetail(ended+" before it said anything", said),
		hint: "run it by hand in the same folder and look: " + strings.Join(command(e.turn), " ") + " -p hello"}
}

// gone is the verdict of a client that waited and cannot take the prompt.
func gone(how string) verdict {
	return verdict{end: runner.Gone, reason: "the client that waited for the message " + how, hint: "nothing has to be done: another one is started"}
}

// badCommand recognizes a client that refuses its flags, or that is none.
func badCommand(stderr string, exit runner.Exit) bool {
	if exit.ExitCode == 126 || exit.ExitCode == 127 { // the shell's and env's words for "cannot run that"
		return true
	}
	if exit.ExitCode != 1 && exit.ExitCode != 2 {
		return false
	}
	for _, words := range []string{"error: unknown option", "error: option '", "error: unknown command", "error: missing required argument",
		"requires --verbose", "settings file not found", "invalid json", "can only be used with"} {
		if contains(stderr, words) {
			return true
		}
	}
	return false
}

// limited is the verdict of a turn from whose account the API takes nothing at
// present. That is neither the message's fault nor that of the agent.
func (e evidence) limited(text, hint string) verdict {
	at := e.resetAt
	if at.IsZero() {
		at = resetTime(text, e.now)
	}
	return verdict{end: runner.Limited, reason: text, resetAt: at, hint: hint}
}

func (e evidence) refusedKey(text string) verdict {
	return verdict{end: runner.Refused, reason: text,
		hint: fmt.Sprintf("log in with claude /login, or set ANTHROPIC_API_KEY in env: of agent %s; %s", e.turn.Agent, e.again())}
}

func (r *run) refusedKey(text string) verdict { return evidence{turn: r.turn}.refusedKey(text) }

func (e evidence) again() string { return "then claude-swarm start " + e.turn.Agent }

func (e evidence) look() string { return "claude-swarm logs " + e.turn.Agent + " shows what it did" }

func exitText(x runner.Exit) string {
	if x.Signal != "" {
		return "was ended by a signal (" + x.Signal + ")"
	}
	return fmt.Sprintf("exited with status %d", x.ExitCode)
}
