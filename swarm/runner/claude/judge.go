package claude

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A verdict is the end of a turn, with the reason and the hint.
type verdict struct {
	end     runner.End // "" in a cause: none
	reason  string
	hint    string
	resetAt time.Time
	unknown bool // of a Limited: see [runner.Outcome.Unknown]
}

// evidence has all facts for a verdict.
type evidence struct {
	turn     runner.Turn
	cause    verdict // why we ended the client, if we did
	own      *streamjson.Result
	began    bool   // there was an event
	problem  string // error word of the last assistant line
	words    string // its text
	api      streamjson.APIError
	source   string // where the client has its API key from, as its init line says
	stderr   string // the end of it
	exit     runner.Exit
	followed bool
	untaken  bool      // a client that had waited has not repeated the prompt
	resetAt  time.Time // told by a rate limit event
	now      time.Time
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

// Hints for what the daemon fixes by itself.
const (
	freshSession = "nothing has to be done: it is tried the other way, then with a fresh session"
	goesBack     = "nothing has to be done: the message goes back to its mailbox"
)

// noResult judges a turn that ended without a separate result.
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
		return verdict{end: runner.NoResult, reason: "the client of the earlier daemon is dead and left no result", hint: goesBack}
	case e.began:
		return verdict{end: runner.Failed, reason: withDetail(ended+" without a result", said), hint: e.look()}
	case contains(e.stderr, "root/sudo"):
		return verdict{end: runner.Refused, reason: said,
			hint: "run the daemon as another user, or set IS_SANDBOX: \"1\" in env: where the machine is one"}
	case badCommand(e.stderr, e.exit):
		return verdict{end: runner.Refused, reason: withDetail("the client does not take its command line", firstLine(e.stderr)),
			hint: fmt.Sprintf("check command:, permission_mode: and the installed version of agent %s (%s to %s are known to work)", e.turn.Agent, Oldest, Newest)}
	}
	return verdict{end: runner.NoFirstEvent, reason: withDetail(ended+" before it said anything", said),
		hint: "run it by hand in the same folder and look: " + strings.Join(command(e.turn), " ") + " -p hello"}
}

// gone is the verdict on a waiting client that cannot take the prompt.
func gone(how string) verdict {
	return verdict{end: runner.ClientGone, reason: "the client that waited for the message " + how, hint: "nothing has to be done: another one is started"}
}

// badCommand recognizes a client that refuses its flags, and a program that is not the client.
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

func (e evidence) look() string { return "claude-swarm logs " + e.turn.Agent + " shows what it did" }

func exitText(x runner.Exit) string {
	if x.Signal != "" {
		return "was ended by a signal (" + x.Signal + ")"
	}
	return fmt.Sprintf("exited with status %d", x.ExitCode)
}
