package ircbridge

import (
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// leastRead is how much of an id is enough where the bridge is not named: less may be a
// word, as in "read this".
const leastRead = 6

// bareID is an id as people type it, without what stands around it.
func bareID(id string) string { return strings.ToLower(strings.Trim(id, ":,;.()\"'…")) }

// questionsLike are the open questions with that id, or a part of it.
func (r *run) questionsLike(id string) []question {
	id = bareID(id)
	return slices.DeleteFunc(slices.Clone(r.open), func(q question) bool { return !dropbox.MatchID(q.ID, id) })
}

// hinted reads a line in a channel that does what a hint of the bridge says, and leaves
// out the bridge's name: a reply to a question that waits, or the reading of a message
// that is here. Anyone who may not talk is not looked up anything for.
func (r *run) hinted(t irc.Text, who Person) (meaning, bool) {
	words := strings.Fields(t.Body)
	if len(words) < 2 || t.Private || !slices.Contains(rightsOf(r.Allow, who, r.fold(), r.where()), Talk) {
		return meaning{}, false
	}
	known := false
	switch id := bareID(words[1]); {
	case strings.EqualFold(words[0], "reply"):
		known = len(words) > 2 && (len(r.questionsLike(id)) > 0 || r.isHere(id))
	case strings.EqualFold(words[0], "read") && len(words) == 2:
		known = r.isHere(id)
	}
	return meaning{need: Talk, order: t.Body}, known
}

// isHere says whether a message has that id, or enough of it.
func (r *run) isHere(id string) bool {
	if len(id) < leastRead {
		return false
	}
	_, err := r.Store.Find(id)
	return err == nil
}

// answersLead reads a line that speaks to the lead, as in "lead: yes", where a question of
// the lead's waits. Anything else that is said to the lead is talk between people, and a
// line may well begin with the word.
func (r *run) answersLead(l *link, t irc.Text) (meaning, bool) {
	channel := t.Target
	if t.Private {
		channel = ""
	}
	if _, ok := r.questionOf(dropbox.Lead, channel); !ok || l != r.main {
		return meaning{}, false
	}
	line := strings.TrimSpace(t.Body)
	for _, called := range []string{dropbox.Lead, r.Called(dropbox.Lead)} {
		start, end := irc.FindMention(line, called, r.fold())
		if start == 0 && (line[0] == '@' || strings.ContainsRune(":,", rune(line[end-1]))) {
			return meaning{need: Talk, agents: []string{dropbox.Lead}}, true
		}
	}
	return meaning{}, false
}

// typed makes of the next steps in an answer of the daemon what is typed in a channel: an
// order begins with the bridge's name.
func (r *run) typed(answer string) string {
	const next = "next: "
	parts := strings.Split(answer, next)
	for i := 1; i < len(parts); i++ {
		if isOrder(parts[i]) {
			parts[i] = r.main.nick + ": " + parts[i]
		}
	}
	return strings.Join(parts, next)
}
