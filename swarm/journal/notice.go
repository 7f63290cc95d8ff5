package journal

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/internal/screen"
)

// A Word names a fact that a person may have to act on. The webhook configuration and
// irc.map use these words.
type Word string

// The words of notices. A new word needs a row in words, a line in docs/dev/protocol.md, and
// a place in the words that irc.map accepts (IRCRule in package config); tests name what is
// missing.
const (
	AgentQuestion  Word = "agent_question"  // an agent asked a person a question and is waiting for the answer
	AgentSpiraling Word = "agent_spiraling" // an agent repeats itself and whispers have not helped
	AgentTimeout   Word = "agent_timeout"   // a turn took too long, or a question was not answered in time
	AgentError     Word = "agent_error"     // a client crashed, or the daemon stopped an agent
	AgentComplete  Word = "agent_complete"  // a person's task is complete
	LimitReached   Word = "limit"           // the agents of an account wait until its usage limit ends
	BudgetReached  Word = "budget"          // a budget is nearly or completely spent
	ContextFull    Word = "context"         // an agent's context is nearly full
	DeadLetter     Word = "dead_letter"     // a message was given up
	Unpaused       Word = "unpaused"        // an agent that was held may start turns again
)

// words contains a row for each word. A text gets the notice's Why on one line, its Agent or
// the swarm, and its Task in quotation marks.
var words = []struct {
	word     Word
	severity Severity
	text     func(n Notice, agent, task, why string) string
}{
	{AgentQuestion, Info, func(n Notice, agent, _, why string) string {
		text := fmt.Sprintf(`[QUESTION] %s needs input: "%s"`, agent, why)
		if n.Place != "" {
			text += " (" + n.Place + ")"
		}
		return text
	}},
	{AgentSpiraling, Warning, func(n Notice, agent, task, why string) string {
		if n.Task == "" {
			task = "nothing"
		} else {
			task = "task " + task
		}
		if n.Held {
			return sentences(fmt.Sprintf("[ESCALATION] Agent %s appears stuck on %s", agent, task), why, "Awaiting human guidance") + " Reply @" + agent + " resume/abort"
		}
		return sentences(fmt.Sprintf("[SPIRALING] %s stuck on %s", agent, task), why, "Awaiting guidance")
	}},
	{AgentTimeout, Warning, func(n Notice, agent, _, why string) string { return sentences("[TIMEOUT] "+agent+" "+why, n.Next) }},
	{AgentError, Error, func(n Notice, agent, _, why string) string {
		text := "[ERROR] " + agent + " " + why
		if n.Next == "" {
			return text
		}
		return sentences(text, n.Next)
	}},
	{AgentComplete, Info, func(n Notice, agent, task, why string) string {
		text := fmt.Sprintf("[COMPLETE] %s finished task %s", agent, task)
		if why != "" {
			text += ": " + screen.Cut(why, maxLastWords)
		}
		if n.Results != "" {
			return sentences(text, "Results in "+n.Results)
		}
		return sentences(text)
	}},
	{LimitReached, Warning, func(n Notice, agent, _, why string) string { return sentences("[LIMIT] "+agent+" "+why, n.Next) }},
	{BudgetReached, Warning, func(n Notice, agent, _, why string) string {
		text := "[BUDGET] " + agent + " " + why
		if n.Held {
			return sentences(text, "Awaiting guidance", n.Next)
		}
		return sentences(text, n.Next)
	}},
	{ContextFull, Warning, func(n Notice, agent, _, why string) string { return sentences("[CONTEXT] "+agent+" "+why, n.Next) }},
	{DeadLetter, Error, func(n Notice, agent, task, why string) string {
		text := "[DEAD] " + agent + " gave up a message"
		if n.Task != "" {
			text = "[DEAD] " + agent + " gave up " + task
		}
		return sentences(text+": "+why, n.Next)
	}},
	{Unpaused, Info, func(n Notice, agent, _, why string) string {
		on := " goes on"
		if strings.Contains(agent, ", ") {
			on = " go on"
		}
		return sentences("[UNPAUSED] "+agent+on+": "+why, n.Next)
	}},
}

// Words lists the words of notices.
func Words() (all []Word) {
	for _, w := range words {
		all = append(all, w.word)
	}
	return all
}

// Known reports whether w is one of [Words].
func (w Word) Known() bool { return slices.Contains(Words(), w) }

// A Severity describes how serious a notice is.
type Severity string

// The severities.
const (
	Info    Severity = "info"
	Warning Severity = "warning"
	Error   Severity = "error"
)

// Severity returns the severity of all notices with that word. A word from a later version
// is [Info].
func (w Word) Severity() Severity {
	for _, row := range words {
		if row.word == w {
			return row.severity
		}
	}
	return Info
}

// A Notice is the part of an [Event] that a person may have to act on. It has separate
// fields instead of a single string, so that the same fact has the same wording
// everywhere. See [Notice.Text].
type Notice struct {
	Word  Word   `json:"word"`
	Agent string `json:"agent,omitempty"` // the agents that the notice is about, separated by ", "; "" means the swarm
	Task  string `json:"task,omitempty"`  // the task, on one line
	// Why is one line without a full stop. For AgentQuestion it is the question. For
	// AgentSpiraling it is a sentence, such as: Retried cmake 4 times. For AgentComplete
	// it is empty, unless the agent delegated the task. Then it contains the last words
	// about the task. For DeadLetter and Unpaused it is the reason. For the other words
	// it continues a sentence that begins with the agent's name, such as: crashed:
	// process exited with code 1.
	Why  string `json:"why,omitempty"`
	Next string `json:"next,omitempty"` // a command that a person can type, or a sentence about what happens next
	// Held means that the agent does not start a turn until a person decides or, at a
	// daily cap, until the next day.
	Held    bool   `json:"held,omitempty"`
	Results string `json:"results,omitempty"` // for AgentComplete: the channel with the results
	Place   string `json:"place,omitempty"`   // for AgentQuestion: the channel or nick that is asked; "" means the lead
	By      string `json:"by,omitempty"`      // for Unpaused: who let the agent continue; "" if the agent continued without an order
}

// Text returns the notice as one line of text. IRC, webhooks and mail contain this line.
func (n Notice) Text() string {
	agent, task, why := cmp.Or(n.Agent, "the swarm"), `"`+screen.Cut(screen.OneLine(n.Task), maxTaskShown)+`"`, screen.OneLine(n.Why) // not with %q, which would escape parts of an emoji
	for _, row := range words {
		if row.word == n.Word {
			return row.text(n, agent, task, why)
		}
	}
	return sentences("["+strings.ToUpper(string(n.Word))+"] "+agent+" "+why, n.Next) // the word is from a later version
}

// Maximum widths, in columns, of the parts of a notice's text.
const (
	maxTaskShown = 100
	maxLastWords = 200
)

// sentences joins strings with spaces. It adds a full stop to a string that has no final
// punctuation mark, and omits empty strings.
func sentences(texts ...string) string {
	var b strings.Builder
	for _, s := range texts {
		s = strings.TrimSpace(screen.OneLine(s))
		if s == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(s)
		if !strings.ContainsAny(s[len(s)-1:], ".!?") && !strings.HasSuffix(s, "…") {
			b.WriteByte('.')
		}
	}
	return b.String()
}
