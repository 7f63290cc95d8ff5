package ircbridge

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// maxShown is how many lines of a message are said where the server has no multiline
// messages; the rest can be asked for.
const maxShown = 6

// maxFirst is the longest first line in a message of one line, in bytes.
const maxFirst = 240

// again marks what may have been said before.
const again = "(again) "

// A place is where a message is to be said, to whom, and how urgent that is.
type place struct {
	request  Do
	target   string // a channel or a nick
	person   string // who is spoken to in a channel; "" is everybody
	priority irc.Priority
	moment   Announcement
	passing  bool   // see the function of that name
	copied   bool   // it shows a message that is safe elsewhere
	alone    bool   // it is for a person alone, by the server's signs of channels
	answers  string // the server's id of the line that is answered there; "" is not known
}

// threaded are the tags of what answers a line: clients then show it with that. A server
// without tags is not sent any.
func threaded(msgid string) map[string]string {
	if msgid == "" {
		return nil
	}
	return map[string]string{"+draft/reply": msgid}
}

// private says whether a place is a person and not a channel.
func (p place) private() bool { return p.target == p.person }

// placeOf decides where a message goes. origin is what is known of the message that
// it answers: zero if that did not come from IRC.
func placeOf(m *dropbox.Message, n, origin Origin, c Channels) place {
	p := place{request: n.Do, target: n.Channel, moment: n.Announces, passing: passing(m, n), copied: n.About != "" && n.Do == ""}
	switch {
	case p.target != "":
	case origin.Channel != "":
		p.target, p.person, p.answers = origin.Channel, origin.Nick, origin.MsgID
	default:
		p.target = c.homeOf(m.From)
	}
	switch {
	case n.Announces == Alert || c.Alerts != "" && strings.EqualFold(p.target, c.Alerts):
		p.priority = irc.Alert
	case p.person != "" || m.Type == dropbox.Question || n.Do != "":
		p.priority = irc.Answer
	}
	return p
}

// A shown is a message as people are to read it.
type shown struct {
	name string // whose words they are, by the mailbox
	text string // any number of lines; secrets are still in it
	id   string // by which the rest can be read
}

// show makes of a message what people read. bridge is the bridge's nick, to which what
// is to be typed is said; called is what people call the owner of a mailbox.
func show(m *dropbox.Message, n Origin, p place, bridge string, called func(mailbox string) string) shown {
	from := inLine(m.From)
	n.To = inLine(n.To)
	s := shown{name: from, id: m.ID}
	if m.From == dropbox.IRC && n.Announces == Said && n.About != "" {
		s.name = dropbox.Swarm // the bridge speaks for all
	}
	if n.About != "" {
		s.id = n.About
	}
	body := strings.Trim(irc.PlainText(string(m.Body)), "\n")
	first, more := firstLine(body)
	read := ""
	if more {
		read = bridge + ": read " + s.id
	}
	switch n.Announces {
	case Begun:
		s.name = n.To
		who, what := heard(from, first)
		s.text = "begins: " + WithoutHead(what, []string{n.To}) + aside("from "+called(who), read)
	case Ended:
		s.text = "done: " + first + aside(read)
	case Failed:
		if n.To != "" {
			s.name = n.To
		}
		s.text = "failed: " + first + aside(read)
	case Buried:
		if n.To != "" {
			s.name = n.To
		}
		s.text = "gave up " + s.id + ": " + first + aside(read)
	case Alert:
		s.text = body
		if m.Subject != "" && !strings.HasPrefix(body, m.Subject) {
			s.text = strings.TrimSuffix(m.Subject+": "+body, ": ")
		}
	default:
		s.text = body
		switch {
		case m.Type == dropbox.Question && p.person == "":
			s.text = "asks: " + body + "\n" + fmt.Sprintf(`(answer here with "%s: …", or with: %s: reply %s …)`, called(from), bridge, s.id)
		case n.To != "":
			s.text = "to " + called(n.To) + ": " + body
		case p.person != "" && !p.private():
			s.text = p.person + ": " + body
		}
	}
	for _, a := range m.Attachments {
		s.text += fmt.Sprintf("\n(attached: %s, %d bytes, in %s)", irc.PlainText(a.Name), a.Size, a.Path)
	}
	s.text = withoutBlank(withoutTabs(s.text))
	if s.text == "" {
		s.text = "(no text)"
	}
	return s
}

// inLine is a name as it stands in a line: a file by hand may say anything.
func inLine(name string) string { return strings.Join(strings.Fields(irc.PlainText(name)), " ") }

// heard parts what was said on IRC from who said it there, as pass put it together.
func heard(from, line string) (who, what string) {
	who, what, ok := dropbox.HeardOnIRC(line)
	if !ok || from != dropbox.IRC {
		return from, line
	}
	return who, what
}

// aside is what stands in brackets behind a line.
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

// firstLine is the first line of a text, cut at maxFirst; more says whether that was
// not all.
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

// withoutBlank leaves out the lines with nothing in them: a chat has none.
func withoutBlank(text string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(text, "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(strings.TrimRight(line, " \t"))
	}
	return b.String()
}

// A piece is one line, or one multiline message, on its way.
type piece struct {
	text string // as it is posted
	bare string // without prefix and mark
	upto int    // how many bytes of the whole are said with it
}

// A cutter cuts a masked text into pieces.
type cutter struct {
	prefix string // before each piece, such as "[coder] "
	limit  int    // bytes of a line, prefix and all
	whole  bool   // the server takes multiline messages
	read   string // what is typed to read the rest
}

// short is the text as it is said in all: where it has too many lines, the first of
// them, and a line that says how many more there are.
func (c cutter) short(text string) string {
	if c.whole {
		return text
	}
	lines := irc.Split(text, c.room())
	if len(lines) > maxShown+1 { // the line about one more line is a line, too
		text = withoutMarkup(text)
		lines = irc.Split(text, c.room())
	}
	if len(lines) <= maxShown+1 {
		return text
	}
	said := irc.Join(lines[:maxShown])
	return strings.TrimRight(said, "\n") + "\n" + fmt.Sprintf("… (%d more lines: %s)", len(lines)-maxShown, c.read)
}

func (c cutter) room() int { return max(c.limit-len(c.prefix), 16) }

// pieces cuts what of a short text is still to be said, from a byte on. What begins
// before the byte unsure may have been said before, and is marked.
func (c cutter) pieces(text string, from, unsure int) []piece {
	if from >= len(text) {
		return nil
	}
	if c.whole {
		mark := ""
		if from < unsure {
			mark = again
		}
		return []piece{{text: c.prefix + mark + text[from:], bare: text[from:], upto: len(text)}}
	}
	var all []piece
	at := from
	for at < len(text) {
		mark := ""
		if at < unsure {
			mark = again
		}
		line := irc.Split(text[at:], c.room()-len(mark))
		end := at + len(line[0].Text)
		all = append(all, piece{text: c.prefix + mark + line[0].Text, bare: line[0].Text, upto: end})
		if len(line) > 1 && !line[1].Concat {
			end++ // the newline
			all[len(all)-1].upto = end
		}
		at = end
	}
	return all
}

// said is how many bytes of rest stand at its beginning in a line that was heard of us,
// marked or not; 0 if the line is another one. It may have been cut at another place: a
// longer nick leaves less of a line.
func (c cutter) said(rest, heard string) int {
	line, ok := strings.CutPrefix(heard, c.prefix)
	if !ok {
		return 0
	}
	for _, line := range []string{line, strings.TrimPrefix(line, again)} {
		n := len(line)
		switch {
		case n == 0 || !strings.HasPrefix(rest, line):
		case n == len(rest) || n >= c.room()/2 && rest[n] != '\n':
			return n
		case rest[n] == '\n':
			return n + 1
		}
	}
	return 0
}

// alike says whether a line that was heard of us begins as rest does.
func (c cutter) alike(rest, heard string) bool {
	line, ok := strings.CutPrefix(heard, c.prefix)
	line = strings.TrimPrefix(line, again)
	return ok && line != "" && strings.HasPrefix(rest, line[:min(len(line), 16)])
}
