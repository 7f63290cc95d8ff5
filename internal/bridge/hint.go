package bridge

import (
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// hinted reads a line in a channel that does what a hint of the bridge says, and leaves
// out the bridge's name: a reply to a question that waits, or the reading of a message
// that is here. Anyone who may not talk is not looked up anything for.
func (r *listener) hinted(t Text) (meaning, bool) {
	words := strings.Fields(t.Body)
	if len(words) < 2 || t.Private || !r.permits.may(t.Who, Talk) {
		return meaning{}, false
	}
	known := false
	switch id := bareID(words[1]); {
	case strings.EqualFold(words[0], "reply"):
		known = len(words) > 2 && (len(r.questions.like(id)) > 0 || r.mail.isHere(id))
	case strings.EqualFold(words[0], "read") && len(words) == 2:
		known = r.mail.isHere(id)
	}
	return meaning{need: Talk, order: t.Body}, known
}

// answersLead reads a line that speaks to the lead, as in "lead: yes", where a question of
// the lead's waits. Anything else that is said to the lead is talk between people, and a
// line may well begin with the word.
func (r *listener) answersLead(t Text) (meaning, bool) {
	channel := t.Target
	if t.Private {
		channel = ""
	}
	if _, ok := r.questions.of(dropbox.Lead, channel); !ok || t.Via != "" {
		return meaning{}, false
	}
	line := strings.TrimSpace(t.Body)
	for _, called := range []string{dropbox.Lead, r.called(dropbox.Lead)} {
		start, end := r.link.FindMention(line, called)
		if start == 0 && (line[0] == '@' || strings.ContainsRune(":,", rune(line[end-1]))) {
			return meaning{need: Talk, agents: []string{dropbox.Lead}}, true
		}
	}
	return meaning{}, false
}
