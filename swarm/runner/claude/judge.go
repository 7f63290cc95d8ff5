package claude

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// evidence contains all facts on which a verdict is based.
type evidence struct {
	turn     runner.Turn
	cause    follow.Verdict // why we terminated the client, if we did
	own      *streamjson.Result
	began    bool   // there was at least one event
	problem  string // error name on the last assistant line
	words    string // the last text of the main conversation
	api      streamjson.APIError
	source   string // the source of the client's API key, from its init line
	stderr   string // the end of the client's standard error
	exit     runner.Exit
	followed bool
	cut      bool      // the client reached its cap while a sub-agent was working
	untaken  bool      // a waiting client has not repeated the prompt
	resetAt  time.Time // from a rate limit event
	now      time.Time
}

// judge returns the verdict. It depends only on e, not on a clock or a file.
func judge(e evidence) follow.Verdict {
	switch {
	case e.own != nil && !e.cut && (!e.own.IsError || answered(e.own)):
		// The work is done and must not be repeated, even if we were already terminating
		// the client.
		return follow.Verdict{End: runner.Done}
	case e.cause.End != "":
		return e.cause
	case e.cut:
		return e.capVerdict() // the client's last text is not its answer
	case e.own != nil:
		return e.errorResult()
	}
	return e.noResult()
}

// freshSession is the hint for a problem that the daemon solves without help.
const freshSession = "nothing has to be done: the turn is tried the other way (new or resumed session), then with a fresh session"

// noResult returns the verdict on a turn that ended without a result for its prompt.
func (e evidence) noResult() follow.Verdict {
	said := cmp.Or(settingsLine(e.stderr), follow.LastLine(e.stderr))
	ended := "the client " + follow.Ended(e.exit)
	switch {
	case e.untaken && !e.followed:
		return follow.Gone("has ended")
	case contains(e.stderr, "is already in use"):
		return follow.Verdict{End: runner.NoSession, Reason: "the session " + e.turn.Session.ID + " already exists", Hint: freshSession}
	case contains(e.stderr, "no conversation found"):
		return follow.Verdict{End: runner.NoSession, Reason: "the session " + e.turn.Session.ID + " was not found", Hint: freshSession}
	case e.followed:
		return follow.Lost()
	case e.began:
		return follow.Verdict{End: runner.Failed, Reason: follow.WithDetail(ended+" without a result", said), Hint: e.look(), Crashed: true}
	case contains(e.stderr, "root/sudo"):
		return follow.Verdict{End: runner.BadSetup, Reason: said,
			Hint: "run the daemon as another user, or set IS_SANDBOX: \"1\" in env: if the machine is a sandbox"}
	case badCommand(e.stderr, e.exit):
		return follow.Verdict{End: runner.BadSetup, Reason: follow.WithDetail("the client does not accept its command line", follow.FirstLine(e.stderr)),
			Hint: fmt.Sprintf("check command:, permission_mode: and the installed version of agent %s (%s to %s are known to work)", e.turn.Agent, Oldest, Newest)}
	}
	return follow.Verdict{End: runner.NoFirstEvent, Reason: follow.WithDetail(ended+" before its first output", said), Crashed: true,
		Hint: "run it by hand in the same folder to see why: " + strings.Join(command(e.turn), " ") + " -p hello"}
}

// badCommand reports whether the client rejected its flags or the program is not the client.
func badCommand(stderr string, exit runner.Exit) bool {
	if exit.ExitCode == 126 || exit.ExitCode == 127 { // the shell and env exit with these codes if they cannot run a program
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
