package bridge

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"
)

// The words of orders that the bridge itself carries out.
const (
	help  = "help"
	join  = string(DoJoin)
	part  = string(DoPart)
	topic = string(DoTopic)
)

// An orderLine is the entry for an order in the help text.
type orderLine struct {
	word, with string
	does       string
	need       Right
}

var orderLines = []orderLine{
	{"status", "[AGENT]", "how things stand", Talk},
	{"who", "", "the agents", Talk},
	{"read", "ID", "the text of a message, ten lines at a time", Talk},
	{"more", "", "the next lines of that text", Talk},
	{"reply", "ID TEXT", "answers a question", Talk},
	{string(Pause), "AGENT", "it starts no new turn; @AGENT pause does the same", Control},
	{string(Resume), "AGENT", "it continues; @AGENT resume does the same", Control},
	{string(Abort), "AGENT", "ends its turn; @AGENT abort does the same", Control},
	{string(Start), "AGENT", "it begins again after it was stopped", Control},
	{string(Clear), "AGENT", "its next message begins a fresh session", Control},
	{string(Retry), "ID", "gives an aborted or failed message to its agent again", Control},
	{string(Budget), "[raise SCOPE AMOUNT]", "the caps, or raises one", Control},
	{string(Logs), "AGENT", "the last lines of its log", Talk},
	{string(Halt), "[WHY]", "no agent starts a new turn", Control},
	{string(Unhalt), "", "all agents continue", Control},
	{join, "#CHANNEL", "I join a channel", Control},
	{part, "#CHANNEL", "I leave a channel", Control},
	{topic, "#CHANNEL [TEXT]", "shows the topic of a channel, or sets it", Control},
	{help, "[ORDER, or all]", "this", Talk},
}

// orderWords are the words of the orders that the bridge obeys.
var orderWords = func() (words []string) {
	for _, o := range orderLines {
		words = append(words, o.word)
	}
	return words
}()

// orderOf normalizes the text that a person typed after the bridge's name. It converts
// every kind of space to an ordinary one, because phones and chat programs insert other
// kinds.
func orderOf(text string) string {
	text = strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return ' '
		}
		return r
	}, text)
	return strings.TrimSpace(strings.TrimLeft(text, " :,;"))
}

// orderWord returns the first word of an order.
func orderWord(order string) string {
	word, _, _ := strings.Cut(strings.TrimSpace(order), " ")
	return strings.ToLower(strings.TrimRight(word, "!?."))
}

// isOrder reports whether a line begins with an order that the bridge obeys. An order
// takes precedence over an agent of the same name. If a colon or comma follows the word,
// as in "halt: go on", the word is the agent's name.
func isOrder(order string) bool { return slices.Contains(orderWords, orderWord(order)) }

// rightOf returns the right that an order requires.
func rightOf(order string) Right {
	word := orderWord(order)
	i := slices.IndexFunc(orderLines, func(o orderLine) bool { return o.word == word })
	if i < 0 || word == topic && behind(order, 2) == "" || word == string(Budget) && behind(order, 1) == "" {
		return Talk
	}
	return orderLines[i].need
}

// behind returns the text after the first n words.
func behind(text string, n int) string {
	text = strings.TrimSpace(text)
	for range n {
		_, text, _ = strings.Cut(text, " ")
		text = strings.TrimSpace(text)
	}
	return text
}

// steered converts a reply such as "@coder resume", which alerts suggest, to an order such
// as "resume coder". It returns "" for other lines. Without the @, a line is for the agent.
func steered(line string, called []name, c Names) string {
	if rest := behind(line, 1); strings.EqualFold(orderWord(line), "reply") && strings.HasPrefix(rest, "@") {
		line = rest
	}
	if !strings.HasPrefix(line, "@") {
		return ""
	}
	for _, n := range called {
		start, end := c.FindMention(line, n.called)
		if start != 0 || strings.HasPrefix(n.called, tagMark) { // an order is for one agent, but several agents can have the same tag
			continue
		}
		switch word := orderWord(line[end:]); Order(word) {
		case Pause, Resume, Abort:
			if behind(line[end:], 1) == "" {
				return word + " " + n.agent
			}
		}
	}
	return ""
}

// helpOn returns help on one order, on all orders, or on how to get started. The text is
// short enough for a phone. bridge is the bridge's nick.
func helpOn(word, bridge string, agents []string, c Names) []string {
	agent := "coder"
	if len(agents) > 0 {
		agent = agents[0]
	}
	if word == "" {
		return []string{
			fmt.Sprintf(`"%s: how is it going?" asks; "TASK: @%s fix the build" gives a task.`, agent, agent),
			fmt.Sprintf("Orders: %s: %s", bridge, strings.Join(orderWords, ", ")),
			fmt.Sprintf("More: %s: help ORDER, %s: help all", bridge, bridge),
		}
	}
	var lines []string
	for _, o := range orderLines {
		if word != "all" && word != o.word {
			continue
		}
		line := strings.Join(strings.Fields(bridge+": "+o.word+" "+o.with), " ") + " - " + o.does
		if o.need == Control {
			line += " (needs the " + strconv.Quote(string(o.need)) + " right)"
		}
		lines = append(lines, line)
	}
	if lines == nil {
		return []string{fmt.Sprintf("There is no order %q. All orders: %s: help all", clip(c.Plain(word), 40), bridge)}
	}
	return lines
}

// typed rewrites the next steps in a text from the daemon so that people can type them in a
// channel. It puts the bridge's name, self, in front of each order, and replaces the commands
// of a shell for which there is an order. Other commands keep their form, so that a person sees
// that they are for a shell.
func typed(text, self string) string {
	for _, lead := range []string{"next: ", "To answer: "} {
		parts := strings.Split(text, lead)
		for i := 1; i < len(parts); i++ {
			if isOrder(parts[i]) {
				parts[i] = self + ": " + parts[i]
			}
		}
		text = strings.Join(parts, lead)
	}
	var b strings.Builder
	at := 0
	for _, m := range shellCommand().FindAllStringIndex(text, -1) {
		b.WriteString(text[at:m[0]])
		at = m[1]
		order := orderFor(text[m[0]:m[1]])
		if rest := text[at:]; order == "" || strings.HasPrefix(rest, " -") || strings.HasPrefix(rest, " |") {
			b.WriteString(text[m[0]:m[1]])
		} else {
			b.WriteString(self + ": " + order)
		}
	}
	return b.String() + text[at:]
}

// shellCommand matches the beginning of a command of a shell that an order may replace, up to
// its first argument.
var shellCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`claude-swarm (?:dead (?:show|retry)|reply|read|pause|resume|abort|start|clear|unhalt|status|budget raise|budget|logs)\b(?: [A-Za-z0-9-][A-Za-z0-9._-]*)?`)
})

// orderFor returns the order that replaces a command that shellCommand matched, or "" if none
// does.
func orderFor(command string) string {
	words := strings.Fields(command)[1:]
	if words[0] == "dead" { // an order has no subcommands
		words = words[1:]
	}
	if words[0] == "show" {
		words[0] = "read"
	}
	switch {
	case len(words) > 1 && strings.HasPrefix(words[1], "-"):
		return ""
	case len(words) == 1 && !slices.Contains([]string{string(Unhalt), string(Budget), "status"}, words[0]):
		return "" // for example, start without an agent starts the daemon
	}
	return strings.Join(words, " ")
}
