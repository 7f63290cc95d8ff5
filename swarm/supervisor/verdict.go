package supervisor

import (
	"fmt"
	"strings"
)

// An Action is the action that a verdict requests.
type Action string

// These are the verdicts that a judge can give. Whispers and logs contain these words.
const (
	OK          Action = "OK"           // the agent is making progress, so no action is taken
	Correction  Action = "CORRECTION"   // the agent should try another approach
	ThinkDeeper Action = "THINK_DEEPER" // the agent should think more
	Escalate    Action = "ESCALATION"   // a person has to decide
)

// A Verdict is a judgement about the latest steps of an agent.
type Verdict struct {
	Action  Action
	Message string // for the agent; "" if Action is OK
}

// A Whisper is a line of text for one agent. It is not shown to other agents.
type Whisper struct {
	ID      string // unique in the project
	Agent   string
	Turn    string // the turn whose steps led to the whisper; it may have ended
	Action  Action // Correction or ThinkDeeper
	Message string // without the prefix that Text adds
	Rung    int    // 1 for the first whisper after a clean verdict, 2 for a stronger one
}

// Text returns the whisper as it is shown to the agent, such as "[SUPERVISOR/CORRECTION]
// …".
func (w Whisper) Text() string { return fmt.Sprintf("[SUPERVISOR/%s] %s", w.Action, w.Message) }

// An Escalation reports that an agent is stuck despite the whispers.
type Escalation struct {
	ID      string // unique in the project
	Agent   string
	Turn    string
	Task    string // one line that describes the agent's work
	Retries int    // how many times the agent repeated a call or a failure; 0 if it is stuck in another way
	Why     string // the reason as a sentence, such as "Retried same approach 4 times."
	// Details are lines for the person who decides. They say what the agent repeated and
	// what the judge said. Details is "" if Why is sufficient.
	Details string
}

// Text returns the escalation as it is shown to people.
func (e Escalation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[ESCALATION] Agent %s appears stuck on task %q. %s", e.Agent, e.Task, e.Why)
	fmt.Fprintf(&b, " Awaiting human guidance. Reply @%s resume/abort", e.Agent)
	return b.String()
}
