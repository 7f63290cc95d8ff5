package main

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/config"
)

// A flagError is an error in a flag. The method in converts it to an error for a person
// as soon as the verb is known.
type flagError struct {
	name  string // as typed
	flags []cli.Flag
	left  int    // the number of arguments after the flag
	value string // the value to which the error refers
	err   error  // what is wrong with the value; nil if the flag does not exist
}

// errNoValue means that a flag's value is missing. errUnclearSpan means that a word can
// be either a flag's value or part of the text.
var (
	errNoValue     = errors.New("needs a value")
	errUnclearSpan = errors.New("needs its time span after =")
)

func noVerb(chain []*cli.Command) error {
	return usagef(helpFor(chain), "%s: a verb is missing", chain[len(chain)-1].Name)
}

// habits maps words that people type out of habit to the verbs of this program.
var habits = map[string]string{
	"agents": "status", "agent": "status", "ls": "status", "ps": "status", "list": "status", "top": "status",
	"tail": "logs", "log": "logs", "watch": "logs", "follow": "logs", "feed": "logs",
	"mail": "inbox", "show": "read", "cat": "read", "kill": "abort",
	"run": "start", "up": "start", "down": "stop", "quit": "stop",
	"ask": "send", "answer": "reply", "undo": "cancel",
}

// An advice says what a person can do who typed a word for which the program has no verb.
type advice struct{ fact, next string }

// adviceOn returns the advice for such a word, or false if there is no advice.
func adviceOn(word string) (a advice, ok bool) {
	same := map[string]string{"mv": "rename", "new": "add", "create": "add", "costs": "cost", "usage": "cost", "spend": "cost", "find": "search", "grep": "search"}
	a, ok = map[string]advice{
		"rename": {"an agent's name is its key in " + config.Name, "rename it there, then claude-swarm reload and claude-swarm remove OLD --to NEW"},
		"add":    {"an agent is an entry in " + config.Name, "tester: {role: tester}   under agents: there, then claude-swarm reload"},
		"edit":   {"the settings are in " + config.Name, "${EDITOR:-vi} " + config.Name + " && claude-swarm reload"},
		"cost":   {"costs are part of other lists", "claude-swarm status   (of each turn: claude-swarm history; of each cap: claude-swarm budget)"},
		"search": {"the lists are text that other programs can search", "claude-swarm history --long | grep WORD   (what an agent did: claude-swarm logs AGENT | grep WORD)"},
	}[cmp.Or(same[word], word)]
	return a, ok
}

// unknownVerb returns the error for an unknown verb. The error names the verb that was
// probably meant. Its hint is the typed command line with that verb in place of the word
// at index at.
func unknownVerb(chain, commands []*cli.Command, name string, typed []string, at int) error {
	var known []string
	for _, c := range commands {
		if !c.Hidden {
			known = append(known, c.Name)
		}
	}
	near := nearest(name, known)
	if meant := habits[name]; len(chain) == 0 && slices.Contains(known, meant) {
		near = meant
	}
	if a, ok := adviceOn(name); ok && len(chain) == 0 {
		return usagef(a.next, "no verb %q: %s", name, a.fact)
	}
	if len(chain) == 1 && chain[0].Name == "refused" && name == "show" {
		return usagef(retyped(append(slices.Clone(typed[:at-1]), typed[at:]...), at-1, "read"), "refused: a refused message is shown by read")
	}
	if near == "" {
		return usagef(helpFor(chain), "no verb %q", name)
	}
	next := retyped(typed, at, near)
	if name == "kill" {
		next += "   (ends its turn; to stop the agent: claude-swarm stop AGENT)"
	}
	return usagef(next, "no verb %q; did you mean %s?", name, near)
}

// in converts the error to an error for a person. The argument chain is the verb and its
// subcommand, and typed is the whole command line.
func (e *flagError) in(chain []*cli.Command, typed []string) error {
	dashed, at := dashes(e.name), len(typed)-e.left-1
	if wrong, ok := errors.AsType[*config.SpanError](e.err); ok {
		words := []string{typed[at] + "=" + wrong.Try}
		if flag, _, joined := strings.Cut(typed[at], "="); joined {
			words = []string{flag + "=" + wrong.Try}
		} else if !takesSpan(lookup(chain[len(chain)-1].Flags, e.name)) {
			words = []string{typed[at], wrong.Try}
		}
		after := at + 1
		if !strings.Contains(typed[at], "=") {
			after++
		}
		return usagef(commandText(append(append(slices.Clone(typed[:at]), words...), typed[after:]...)), "%s: %w", dashed, e.err)
	}
	switch {
	case errors.Is(e.err, errUnclearSpan):
		next := commandText(append(append(slices.Clone(typed[:at]), typed[at]+"="+e.value), typed[at+2:]...))
		if at+2 == len(typed) {
			next += "   (as the text: " + commandText(append(slices.Clone(typed[:at+1]), "--", e.value)) + ")"
		}
		return usagef(next, "%s %w, and %s may be part of the text", dashed, e.err, e.value)
	case e.err != nil:
		return usagef(helpFor(chain), "%s %w", dashed, e.err)
	}
	var known []string
	for _, f := range e.flags {
		known = append(known, f.Names()...)
	}
	near := nearest(e.name, known)
	switch {
	case len(chain) == 0 && strings.EqualFold(e.name, "v"):
		return usagef("claude-swarm version", "no flag %s", dashed)
	case e.name == "since" && chain[len(chain)-1].Name == "logs":
		return usagef(sinceElsewhere(typed, at), "logs has no flag --since; history and events have it")
	case e.name == "f" && slices.Contains(known, "file"):
		near = "file"
	}
	if near != "" {
		word := dashes(near)
		if _, value, joined := strings.Cut(typed[at], "="); joined {
			word += "=" + value
		}
		return usagef(retyped(typed, at, word), "no flag %s; did you mean %s?", dashed, dashes(near))
	}
	return usagef(helpFor(chain)+"   (put text that begins with a dash after --)", "no flag %s", dashed)
}

// sinceElsewhere returns the commands that show what happened since the time in the flag at
// the index at of a command line of logs.
func sinceElsewhere(typed []string, at int) string {
	_, span, _ := strings.Cut(typed[at], "=")
	if span == "" && at+1 < len(typed) {
		span = typed[at+1]
	}
	span = " --since " + shellWord(cmp.Or(span, "1h"))
	return "claude-swarm history" + span + "   (all that happened: claude-swarm events" + span + ")"
}

// withCandidate adds a hint to the error for a partial id that matches several messages.
// The hint is the command line with the full id of one of them.
func withCandidate(err error, typed []string) error {
	several, ok := errors.AsType[*client.AmbiguousError](err)
	if !ok {
		return err
	}
	id := several.Candidates[0].ID
	at := slices.Index(typed, several.Part)
	if at < 0 { // the id is part of an argument, such as --reply-to=k7f3
		return hint(err, "claude-swarm read %s", id)
	}
	return hint(err, "%s", retyped(typed, at, id))
}

// nearest returns the known name that is most similar to name, or "" if none is similar.
func nearest(name string, known []string) string {
	if near := dropbox.Nearest(name, known); len(near) > 0 {
		return near[0]
	}
	return ""
}
