package runnertest

import (
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
)

// script makes the steps that a prompt asks for, in the words of the stand-in. A script
// that makes no sense, or needs a process, fails the turn and says so.
func script(prompt string) []Step {
	read, err := standin.Script(prompt)
	if err != nil {
		return []Step{Fail("script: " + err.Error())}
	}
	var steps []Step
	for _, s := range read {
		steps = append(steps, stepOf(s))
	}
	return steps
}

func stepOf(s standin.Step) Step {
	first, rest, _ := strings.Cut(s.Arg, " ")
	switch s.Verb {
	case "say":
		return Say(s.Arg)
	case "sh":
		return Tool(Shell, map[string]string{"command": s.Arg}, "")
	case "write":
		return Tool(Save, map[string]string{"path": first, "content": rest}, "written")
	case "deny":
		return deny(first, rest)
	case "sleep":
		return sleep(s.D)
	case "cost":
		return Cost(s.USD)
	case "context":
		return goOn(func(c *client) { c.context = s.N })
	case "model":
		return goOn(func(c *client) { c.model = s.Arg })
	case "compact":
		return Compact()
	case "fail":
		return Fail(s.Arg)
	case "status":
		return status(s.N, rest)
	case "unborn":
		return unborn
	case "exit", "noresult", "die":
		return NoResult()
	case "hang":
		return sleep(forever)
	}
	return Fail("script: @" + s.Verb + " needs a client that is a process")
}

// status ends the turn as an answer of the API does; more may be "retry-after 3600".
func status(code int, more string) Step {
	switch code {
	case 401, 404:
		return Refused(fmt.Sprintf("the API refused (%d)", code))
	case 402, 403, 408, 409, 429, 500, 502, 503, 504, 529:
		after, _ := time.ParseDuration(strings.TrimPrefix(more, "retry-after ") + "s") // 0 where it does not say
		return limited(fmt.Sprintf("the API takes nothing (%d)", code), after)
	}
	return Fail(fmt.Sprintf("the API failed (%d)", code))
}
