package supervisor

import (
	"fmt"
	"strings"
)

// An Action is what a verdict asks for.
type Action string

// These are the verdicts that a judge can give. Whispers and logs contain these words.
const (
	OK          Action = "OK"           // the agent makes progress: nothing happens
	Correction  Action = "CORRECTION"   // the agent should try another way
	ThinkDeeper Action = "THINK_DEEPER" // the agent should think more
	Escalate    Action = "ESCALATION"   // a person has to decide
)

// A Verdict is a judgement about the latest steps of an agent.
type Verdict struct {
	Action  Action
	Message string // for the agent; "" if Action is OK
}

// A Whisper is a line of text for an agent, which no other agent sees.
type Whisper struct {
	ID      string // unique in the project
	Agent   string
	Turn    string // the turn whose steps led to the whisper; it may have ended
	Action  Action // Correction or ThinkDeeper
	Message string // in plain words, without a prefix
	Rung    int    // 1 for the first whisper after a clean verdict, 2 for a stronger one
}

// Text returns the whisper as the agent reads it, such as "[SUPERVISOR/CORRECTION] …".
func (w Whisper) Text() string { return fmt.Sprintf("[SUPERVISOR/%s] %s", w.Action, w.Message) }

// An Escalation says that an agent is stuck in spite of the whispers.
type Escalation struct {
	ID      string // unique in the project
	Agent   string
	Turn    string
	Task    string // one line: what the agent works on
	Retries int    // how many times the agent repeated a call or a failure; 0 if it is stuck in another way
	Why     string // the reason as a sentence, such as "Retried same approach 4 times."
	// Details are lines for the person who decides: what the agent repeated, and what the
	// judge said; "" if Why says everything.
	Details string
}

// Text returns the escalation as people read it.
func (e Escalation) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "[ESCALATION] Agent %s appears stuck on task %q. %s", e.Agent, e.Task, e.Why)
	fmt.Fprintf(&b, " Awaiting human guidance. Reply @%s resume/abort", e.Agent)
	return b.String()
}
