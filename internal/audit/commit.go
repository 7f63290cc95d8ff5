package audit

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path"
	"strings"
	"time"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm/journal"

	"github.com/claude-swarm/claude-swarm/internal/git"
)

// A commit is the input to git for one commit.
type commit struct {
	author string
	at     time.Time
	text   string
	files  []file
	gone   []string
}

// A file is one file in a commit. Unless data is set, the content is read when the file
// is written to git.
type file struct {
	path string
	data []byte
	// read, if set, is called with the data that was read.
	read func(data []byte)
}

// A head contains the fields of a message that the audit reads.
type head struct {
	ID      string `yaml:"id"`
	From    string `yaml:"from"`
	Subject string `yaml:"subject"`
	Trace   string `yaml:"trace"`

	Attachments []struct {
		Path string `yaml:"path"`
	} `yaml:"attachments"`
}

// maxHead is the maximum length of the front matter, in bytes. The store does not accept
// messages with longer front matter.
const maxHead = 16 << 10

// parseMessage reads as much of a message as it can. A message that it cannot parse is
// recorded with an empty head, because the audit does not check messages.
func parseMessage(data []byte) (h head, body []byte) {
	body = data
	rest, ok := bytes.CutPrefix(data, []byte("---\n"))
	if !ok {
		return h, body
	}
	front, after, ok := bytes.Cut(rest, []byte("\n---\n"))
	if !ok || len(front) > maxHead {
		return h, body
	}
	if yaml.Unmarshal(front, &h) != nil {
		return head{}, after
	}
	return h, after
}

// attachments returns the files in the store that are attached to a message.
func (h head) attachments() []file {
	var files []file
	for _, a := range h.Attachments {
		if isAttachment(a.Path) {
			files = append(files, file{path: a.Path})
		}
	}
	return files
}

// commitOf creates the commit for a turn. It returns false if the receipt of the turn's
// own message is missing, cannot be read, or contains a secret.
func (a *Audit) commitOf(root *os.Root, t *turn) (*commit, bool) {
	c := &commit{author: t.mailbox, at: t.ended}
	for i, p := range t.mails {
		receipt, _, ok := a.read(root, p.base+receiptEnd)
		if !ok {
			if i == 0 {
				return nil, false
			}
			continue
		}
		var h head
		var body []byte
		if message, _, ok := a.read(root, p.base+messageEnd); ok {
			h, body = parseMessage(message)
			c.files = append(c.files, file{path: p.base + messageEnd, data: message})
		}
		c.files = append(c.files, file{path: p.base + receiptEnd, data: receipt})
		c.files = append(c.files, h.attachments()...)
		if i == 0 {
			r, err := journal.ParseReceipt(receipt)
			if err != nil {
				r = new(journal.Receipt) // look has already reported the error
			}
			c.text = turnText(t, r, h, body)
		}
	}
	return c, true
}

const (
	maxSubject = 100  // characters
	maxText    = 2000 // bytes of the turn's text
)

// turnText returns the commit message for a turn.
func turnText(t *turn, r *journal.Receipt, h head, body []byte) string {
	id := cmp.Or(r.ID, h.ID, idOf(t.mails[0].base))
	answer := r.Answer
	if answer == nil {
		answer = new(journal.Answer)
	}
	var b strings.Builder
	title := cmp.Or(screen.OneLine(h.Subject), screen.OneLine(firstLine(body)), screen.OneLine(answer.Subject), "message "+screen.OneLine(id))
	fmt.Fprintf(&b, "%s: %s\n\n", t.mailbox, screen.Cut(title, maxSubject))
	if text := manyLines(r.Text); text != "" {
		fmt.Fprintf(&b, "%s\n\n", text)
	}
	trailer := func(key, value string) {
		if value = screen.OneLine(value); value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	trailer("Message-Id", id)
	trailer("From", cmp.Or(h.From, answer.To))
	trailer("Proven", map[bool]string{true: "yes", false: "no"}[r.Proven])
	trailer("Trace", cmp.Or(h.Trace, answer.Trace))
	trailer("Turn", r.Turn)
	trailer("Outcome", r.Outcome)
	trailer("Cost-USD", screen.CostCell(r.CostUSD, r.CostUnknown, 4))
	for _, p := range t.mails[1:] {
		trailer("Rode-Along", idOf(p.base))
	}
	return b.String()
}

// idOf returns the id in a message's file name: the part after the last hyphen.
func idOf(base string) string {
	name := path.Base(base)
	return name[strings.LastIndexByte(name, '-')+1:]
}

func firstLine(body []byte) string {
	line, _, _ := bytes.Cut(bytes.TrimSpace(body), []byte("\n"))
	return string(line[:min(len(line), 4*maxSubject)])
}

// manyLines makes a string safe for a commit message, and truncates it to about maxText
// bytes.
func manyLines(s string) string {
	if len(s) > maxText {
		s = s[:maxText] + "…"
	}
	s = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && unicode.IsControl(r) || r == unicode.ReplacementChar {
			return -1
		}
		return r
	}, s)
	return strings.TrimSpace(s)
}

// add adds changes that were made outside turns to a commit.
func (c *commit) add(a *Audit, root *os.Root, rest []change) {
	for i := range rest {
		ch := &rest[i]
		if ch.gone {
			c.gone = append(c.gone, ch.path)
			continue
		}
		ch.stamp.blob = "" // the file may have changed since then; the next read sets the blob
		c.files = append(c.files, file{path: ch.path, read: func(data []byte) { ch.stamp.blob = a.git.Blob(data) }})
		if strings.HasSuffix(ch.path, messageEnd) && !strings.HasPrefix(ch.path, "board/") {
			if data, _, ok := a.read(root, ch.path); ok {
				h, _ := parseMessage(data)
				c.files = append(c.files, h.attachments()...)
			}
		}
	}
}

// restText returns the commit message for changes that belong to no turn.
func restText(rest []change) string {
	if len(rest) == 1 {
		verb := "record"
		if rest[0].gone {
			verb = "remove"
		}
		return fmt.Sprintf("%s: %s %s\n", git.Committer, verb, screen.OneLine(rest[0].path))
	}
	return fmt.Sprintf("%s: record %d files\n", git.Committer, len(rest))
}
