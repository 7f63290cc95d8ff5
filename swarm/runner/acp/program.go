package acp

import (
	"fmt"

	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/follow"
)

// hintAway is the hint for a turn that ended because of a limit or because the model did
// not respond.
const hintAway = "nothing has to be done: the message waits and is tried again"

// A program contains the information about a turn's client that verdicts include.
type program struct {
	client *Client
	name   string // for a person
	agent  string
	stderr string // the path of its standard error file
}

func programOf(c *Client, t *runner.Turn) program {
	p := program{client: c, name: c.Kind.Title, agent: t.Agent, stderr: t.Stderr}
	if c.Kind.Name == "acp" && len(t.Spec.Command) > 0 {
		p.name = t.Spec.Command[0]
	}
	return p
}

func (p *program) hintLogs() string {
	return "claude-swarm logs " + p.agent + " shows what it did last"
}

func (p *program) hintStderr() string { return "look at " + p.stderr }

// These are the verdicts on a setup that cannot work. A retry would not help.

func (p *program) refused(why string) follow.Verdict {
	return follow.Verdict{End: runner.BadSetup, Reason: p.name + ": " + why, Hint: "check command: and backend: for agent " + p.agent}
}

func (p *program) notACP(bad *badLines) follow.Verdict {
	return p.refused(fmt.Sprintf("it prints %q and is not an ACP agent", bad.first))
}

func (p *program) notSignedIn(f *fault) follow.Verdict {
	return follow.Verdict{End: runner.BadSetup, Reason: p.name + " is not signed in: " + f.text(), Hint: p.client.Kind.Login.Try}
}

// unknownSetting returns the verdict on a client that rejects the value of a
// configuration key.
func (p *program) unknownSetting(key, value string, f *fault) follow.Verdict {
	return follow.Verdict{End: runner.BadSetup, Reason: fmt.Sprintf("%s does not accept the %s %q: %s", p.name, key, value, f.text()),
		Hint: "change " + key + ": for agent " + p.agent}
}

// noTools returns the verdict on a turn whose agent could neither send messages nor ask
// questions. The message is not the cause.
func (p *program) noTools() follow.Verdict {
	return follow.Verdict{End: runner.NoFirstEvent, Reason: p.name + " has not started the " + runner.ToolServer + " tools",
		Hint: p.hintStderr() + ", or set mcp: false for agent " + p.agent}
}
