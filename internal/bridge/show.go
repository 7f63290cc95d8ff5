package bridge

import (
	"cmp"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// maxFirst is the maximum length, in bytes, of a first line that is shown without the
// text that follows it.
const maxFirst = 240

// A shown is a message in the form that people read.
type shown struct {
	name string // the speaker's mailbox
	text string // any number of lines, in which secrets have not been masked yet
	id   string // the id with which people can read the whole message
}

// A viewer contains the data that the function show needs about the readers.
type viewer struct {
	Names
	mailbox string                      // the bridge's mailbox
	self    string                      // the bridge's name on the network, as people type it
	called  func(mailbox string) string // returns the name of a mailbox's owner, as shown to people
}

// show converts a message to the text that people read.
func show(m *dropbox.Message, n Origin, p destination, v viewer) shown {
	from := inLine(m.From, v)
	n.To = inLine(n.To, v)
	s := shown{name: from, id: m.ID}
	if m.From == v.mailbox && n.Announces == Said && n.About != "" {
		s.name = dropbox.Swarm // the bridge always speaks under one name
	}
	if n.About != "" {
		s.id = n.About
	}
	body := strings.Trim(v.Plain(string(m.Body)), "\n")
	first, more := firstLine(body)
	read := ""
	if more {
		read = v.self + ": read " + s.id
	}
	switch n.Announces {
	case Begun:
		s.name = n.To
		who, what := heard(from, first, v.mailbox)
		s.text = "begins: " + WithoutHead(what, []string{n.To}, v) + aside("from "+v.called(who), read)
	case Ended:
		s.text = inLine(cmp.Or(m.Outcome, "done"), v) + ": " + first + aside(read)
	case Failed:
		if n.To != "" {
			s.name = n.To
		}
		s.text = "failed: " + first + aside(read)
	case GivenUp:
		if n.To != "" {
			s.name = n.To
		}
		s.text = "gave up " + s.id + ": " + first + aside(read)
		if what := givenUp(m.Subject, n.To, v); what != "" && what != s.id {
			s.text = fmt.Sprintf("gave up \"%s\": %s", what, first) + aside(read, "to try again: "+v.self+": "+string(Retry)+" "+s.id)
		}
	case Alert:
		s.text = body
		if m.Subject != "" && !strings.HasPrefix(body, m.Subject) {
			s.text = strings.TrimSuffix(m.Subject+": "+body, ": ")
		}
	default:
		s.text = body
		switch {
		case m.Type == dropbox.Question && m.From == dropbox.Swarm: // a line that begins with a name does not answer this question
			s.text = body + "\n" + fmt.Sprintf("(answer with: %s: reply %s WORD)", v.self, s.id)
			if m.Subject != "" {
				s.text = m.Subject + "\n" + s.text
			}
			if !strings.HasPrefix(m.Subject, "[") {
				s.text = "[QUESTION] " + s.text
			}
		case m.Type == dropbox.Question && p.person == "":
			s.text = "asks: " + body + "\n" + fmt.Sprintf(`(answer here with "%s: …", or with: %s: reply %s …)`, v.called(from), v.self, s.id)
		case n.To != "":
			s.text = "to " + v.called(n.To) + ": " + body
		case p.person != "" && !p.private():
			s.text = p.person + ": " + body
		}
	}
	if m.From == dropbox.Swarm || n.Announces == Alert || n.Announces == GivenUp || n.Announces == Failed {
		s.text = typed(s.text, v.self) // an agent's own words stay as they are
	}
	for _, a := range m.Attachments {
		s.text += fmt.Sprintf("\n(attached: %s, %d bytes, in %s)", v.Plain(a.Name), a.Size, a.Path)
	}
	s.text = withoutBlank(withoutTabs(s.text))
	if s.text == "" {
		s.text = "(no text)"
	}
	return s
}

// givenUp returns the task that the subject of a message about a given-up message names,
// without the head of a line from this network. to is the agent that gave it up.
func givenUp(subject, to string, v viewer) string {
	what := inLine(strings.TrimPrefix(subject, "not done: "), v)
	if _, said, ok := dropbox.Heard(v.mailbox, what); ok {
		what = WithoutHead(said, []string{to}, v)
	}
	return what
}

// inLine makes a name safe to use in a line, because a name in a file that a person wrote
// can contain anything.
func inLine(name string, c Names) string { return strings.Join(strings.Fields(c.Plain(name)), " ") }

// heard parses a line that [listener.pass] composed, and returns the person's name and
// words.
func heard(from, line, mailbox string) (who, what string) {
	who, what, ok := dropbox.Heard(mailbox, line)
	if !ok || from != mailbox {
		return from, line
	}
	return who, what
}

// aside joins the parts and puts them in parentheses, for the end of a line.
func aside(parts ...string) string {
	var said []string
	for _, p := range parts {
		if p != "" {
			said = append(said, p)
		}
	}
	if len(said) == 0 {
		return ""
	}
	return " (" + strings.Join(said, ", ") + ")"
}

// firstLine returns the first line of text, cut at maxFirst; more reports whether
// anything was left out.
func firstLine(text string) (line string, more bool) {
	line, rest, _ := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	more = strings.TrimSpace(rest) != ""
	if len(line) > maxFirst {
		end := maxFirst
		for !utf8.RuneStart(line[end]) {
			end--
		}
		line, more = strings.TrimRight(line[:end], " ")+" …", true
	}
	return line, more
}
