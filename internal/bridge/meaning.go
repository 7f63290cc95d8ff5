package bridge

import (
	"maps"
	"slices"
	"strings"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// taskWord is the word at the start of a line that gives a task.
const taskWord = "TASK:"

// tagMark is the character in front of a tag that is used as a name. Without the mark,
// the word is ordinary text.
const tagMark = "@"

// A meaning is the request that a line expresses.
type meaning struct {
	need   Right
	agents []string // the recipients; empty means the bridge itself
	order  string   // for the bridge: the words after its name
}

// A name is a name by which people address an agent: the name of its mailbox, its nick on
// the network, or a tag with its @. Several agents may have the same tag.
type name struct{ called, agent string }

// meant parses the meaning of a line; ok is false if the line addresses neither the
// bridge nor an agent. agent is the agent whose connection received the line, or "" for
// the bridge's connection. nicks are the bridge's nicks.
func meant(text string, private bool, agent string, names []name, nicks []string, c Names) (m meaning, ok bool) {
	line := strings.TrimSpace(text)
	for _, nick := range nicks {
		if start, end := c.FindMention(line, nick); start == 0 {
			order := orderOf(line[end:])
			if _, isTask := cutTask(order); !isOrder(order) && (isTask || len(headed(order, names, c)) > 0) {
				line = order // "swarm: coder: go on" is for coder
				break
			}
			return meaning{need: rightOf(order), order: order}, true
		}
	}
	m.need = Talk
	if order := steered(line, names, c); order != "" {
		return meaning{need: rightOf(order), order: order}, true
	}
	if body, isTask := cutTask(line); isTask {
		m.need, line = Tasks, body
		m.agents = headed(line, names, c)
	}
	switch {
	case len(m.agents) > 0: // a task is only for the agents named at the start of the line
	case agent != "" && private:
		m.agents = []string{agent}
	case private && m.need == Talk:
		// The line is for the bridge itself, unless it begins with the name of an agent.
		order := orderOf(line)
		m.agents = headed(line, names, c)
		if only := soleAgent(names); len(m.agents) == 0 && only != "" && isSentence(order) {
			m.agents = []string{only}
		}
		if len(m.agents) == 0 || isOrder(order) {
			return meaning{need: rightOf(order), order: order}, true
		}
	default:
		for _, n := range names {
			if !slices.Contains(m.agents, n.agent) && mentions(line, n.called, c) {
				m.agents = append(m.agents, n.agent)
			}
		}
	}
	if m.need != Tasks {
		return m, len(m.agents) > 0
	}
	if len(m.agents) == 0 {
		m.order = taskWord // the line names no known agent
	} else if _, what := cutHead(line, names, c); strings.Trim(what, " :,;.!?-@") == "" {
		m.agents, m.order = nil, taskWord+" "+m.agents[0] // a task without any text
	}
	if m.order != "" {
		return m, true
	}
	return m, len(m.agents) > 0
}

// soleAgent returns the only agent, or "" if there are none or several.
func soleAgent(names []name) (agent string) {
	for _, n := range names {
		if agent != "" && n.agent != agent {
			return ""
		}
		agent = n.agent
	}
	return agent
}

// isSentence reports whether a private line without a name is for an agent rather than a
// mistyped order: it has several words, and the first one is not similar to an order.
func isSentence(line string) bool {
	return len(strings.Fields(line)) > 1 && len(dropbox.Nearest(orderWord(line), orderWords)) == 0
}

func cutTask(line string) (rest string, ok bool) {
	if len(line) < len(taskWord) || !strings.EqualFold(line[:len(taskWord)], taskWord) {
		return line, false
	}
	return strings.TrimSpace(line[len(taskWord):]), true
}

// namesOf returns one name for each agent and leaves out the agents' nicks.
func namesOf(agents []string) (names []name) {
	for _, agent := range agents {
		names = append(names, name{agent, agent})
	}
	return names
}

// tagNames returns each tag as a name of every agent that has the tag.
func tagNames(tags map[string][]string, agents []string) (names []name) {
	for _, tag := range slices.Sorted(maps.Keys(tags)) {
		for _, agent := range tags[tag] {
			if slices.Contains(agents, agent) {
				names = append(names, name{tagMark + tag, agent})
			}
		}
	}
	return names
}

// withTags returns the agents, each with its tags in parentheses.
func withTags(agents []string, tags func() map[string][]string) (shown []string) {
	var all []name
	if tags != nil {
		all = tagNames(tags(), agents)
	}
	for _, agent := range agents {
		var own []string
		for _, n := range all {
			if n.agent == agent {
				own = append(own, n.called)
			}
		}
		if len(own) > 0 {
			agent += " (" + strings.Join(own, " ") + ")"
		}
		shown = append(shown, agent)
	}
	return shown
}

// TaskFor parses a line that gives a task, as in "TASK: @coder fix the build", and
// returns the agents and the task. tags maps each tag to the agents that have it. ok is
// false for other lines.
func TaskFor(text string, agents []string, tags map[string][]string, c Names) (to []string, what string, ok bool) {
	names := append(namesOf(agents), tagNames(tags, agents)...)
	m, _ := meant(text, false, "", names, nil, c)
	if m.need != Tasks {
		return nil, "", false
	}
	what, _ = cutTask(strings.TrimSpace(text))
	_, what = cutHead(what, names, c)
	return m.agents, what, true
}

// WithoutHead removes TASK: and the agents' names, or nicks with an @, from the start of
// a line. It returns other lines unchanged.
func WithoutHead(line string, agents []string, c Names) string {
	what, ok := cutTask(strings.TrimSpace(line))
	if !ok {
		return line
	}
	names := namesOf(agents)
	for {
		_, rest := cutHead(what, names, c)
		if strings.HasPrefix(rest, "@") {
			rest = behind(rest, 1)
		}
		if rest == what {
			return what
		}
		what = rest
	}
}

// headed returns the agents named at the start of a line.
func headed(line string, names []name, c Names) []string {
	at, _ := cutHead(line, names, c)
	return at
}

// cutHead removes the agents' names from the start of a line, and returns the agents and
// the remainder of the line.
func cutHead(line string, names []name, c Names) (at []string, rest string) {
	for {
		line = strings.TrimLeft(line, " ,&+")
		found, length := "", 0
		for _, n := range names {
			if slices.Contains(at, n.agent) || found != "" && n.called != found {
				continue
			}
			if start, end := c.FindMention(line, n.called); start == 0 {
				found, length = n.called, end
				at = append(at, n.agent) // several agents can have the same tag
			}
		}
		if found == "" {
			return at, line
		}
		line = line[length:]
	}
}

// mentions reports whether text addresses name.
func mentions(text, name string, c Names) bool {
	start, _ := c.FindMention(text, name)
	return start >= 0
}
