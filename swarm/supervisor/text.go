package supervisor

import (
	"fmt"
	"strings"
)

// again is appended to a stronger whisper from the judge.
const again = " You have been told this before. If this continues, you will be paused and a person will be asked. If you are stuck, ask for what you need."

// advice returns the message of the whisper about a finding of the rules.
func (f Finding) advice(strong bool) string {
	who, whom := "You", "you"
	if f.Sub {
		who, whom = "One of your sub-agents", "it"
	}
	var b strings.Builder
	switch f.Rule {
	case SameCall:
		fmt.Fprintf(&b, "%s tried the same thing %d times, with the same result each time: %s.", who, f.Count, f.About)
		if !strong {
			fmt.Fprintf(&b, " No file changed in between, so another try will give %s the same result again. Read what the result says, then change something or try another way.", whom)
		}
	case SameError:
		fmt.Fprintf(&b, "%s got the same failure %d times: %s", who, f.Count, f.Error)
		if !strong {
			fmt.Fprintf(&b, " – last from: %s. Look for its cause before the next try, or try another way.", f.About)
		}
	case StepsWithoutChange:
		fmt.Fprintf(&b, "%s took %d steps without changing a file.", who, f.Count)
		if !strong {
			b.WriteString(" If you know enough, begin with the change; if the task needs none, finish with your answer.")
		}
	}
	if strong {
		now := "Stop this now and do something else."
		if f.Rule == StepsWithoutChange {
			now = "Begin with the change now, or finish with your answer."
		}
		b.WriteString(" " + now + " If you are stuck, ask for what you need. If this continues, you will be paused and a person will be asked.")
	}
	return b.String()
}

// retries returns how many times the agent repeated the same call or failure, or 0 for
// other findings.
func (f Finding) retries() int {
	if f.Rule == SameCall || f.Rule == SameError {
		return f.Count
	}
	return 0
}

// details describes what an agent did and what the judge said, in lines for the person
// who decides.
func (f Finding) details(v Verdict) string {
	who := "It"
	if f.Sub {
		who = "One of its sub-agents"
	}
	var lines []string
	switch f.Rule {
	case SameCall:
		lines = append(lines, fmt.Sprintf("%s repeats: %s", who, f.About))
	case SameError:
		lines = append(lines, fmt.Sprintf("%s got the same failure again: %s", who, f.Error), "The last call was: "+f.About)
	}
	if v.Message != "" && f.Rule != ByJudge {
		lines = append(lines, "The supervisor's model says: "+v.Message)
	}
	return strings.Join(lines, "\n")
}

// why returns the reason for an escalation as a sentence.
func (f Finding) why(v Verdict) string {
	switch {
	case f.retries() > 0 && f.Earlier > 0:
		return fmt.Sprintf("Retried same approach %d times since it was resumed, %d times in all.", f.Count, f.Earlier+f.Count)
	case f.retries() > 0:
		return fmt.Sprintf("Retried same approach %d times.", f.Count)
	case f.Rule == StepsWithoutChange:
		return fmt.Sprintf("Changed no file in %d steps.", f.Count)
	}
	return strings.TrimRight(v.Message, ".") + "."
}
