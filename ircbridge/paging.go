package ircbridge

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/ircbridge/irc"
)

// How much is told at once: a line is what the network takes for one.
const (
	moreLines = 10 // of a message, with `read` and `more`
	maxAnswer = 20 // of another answer, such as how things stand
	maxPages  = 3  // on their way to one person; who asks for more then is not heard
)

// Bounds of what is kept for `more`.
const (
	maxMores = 64      // people
	maxRead  = 1 << 20 // bytes of a text
)

// A more is what a person is reading.
type more struct {
	rest  []string
	pages []*irc.Delivery // the last of them, which may not have arrived
	at    time.Time
}

// read tells a message: all of its text, also where the body is its beginning alone and
// the rest lies in an attachment.
func (r *run) read(t irc.Text, id string) {
	if id = bareID(id); id == "" {
		r.tell(t, "Say which message: read ID")
		return
	}
	found, m, err := r.find(id)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		r.tell(t, "There is no message "+clip(irc.PlainText(id), 20)+"."+idParts)
		return
	case errors.Is(err, dropbox.ErrAmbiguous):
		r.answerPerson(t, r.candidates(err))
		return
	case err != nil:
		r.tell(t, clip(irc.PlainText(err.Error()), 300))
		return
	}
	head := fmt.Sprintf("%s from %s to %s, %s, %s", m.ID, r.Called(m.From), r.Called(found.Mailbox), m.Type, m.Created.Format("2 Jan 15:04 UTC"))
	if m.Subject != "" {
		head += ": " + m.Subject
	}
	lines := []string{head}
	text, left := r.wholeText(m)
	lines = append(lines, irc.PlainText(text))
	if left > 0 {
		lines = append(lines, fmt.Sprintf("(%d more bytes: claude-swarm read %s --body)", left, m.ID))
	}
	for _, a := range m.Attachments {
		lines = append(lines, fmt.Sprintf("(attached: %s, %d bytes, in %s)", a.Name, a.Size, a.Path))
	}
	delete(r.mores, r.fold().Fold(t.Nick))
	r.tellPage(t, r.fitting(t, lines), moreLines)
}

// idParts tells a person what may be written for an id.
var idParts = fmt.Sprintf(" The beginning or the end of an id is enough, from %d characters on.", dropbox.MinIDPart)

// candidates are the messages that a part of an id stands for, a line each.
func (r *run) candidates(err error) []string {
	several, ok := errors.AsType[*dropbox.AmbiguousError](err)
	if !ok {
		return []string{err.Error()}
	}
	lines := []string{fmt.Sprintf("%s fits %d messages:", several.Part, len(several.Found))}
	for _, f := range several.Found {
		line := f.Entry.ID + " to " + r.Called(f.Mailbox)
		if m, err := r.Store.Load(f); err == nil {
			about := cmp.Or(m.Subject, strings.TrimSpace(string(m.Body)))
			line = fmt.Sprintf("%s from %s to %s, %s: %s", m.ID, r.Called(m.From), r.Called(f.Mailbox), m.Type, clip(strings.Join(strings.Fields(irc.PlainText(about)), " "), 100))
		}
		lines = append(lines, line)
	}
	return lines
}

// wholeText is the text of a message, and how many bytes of it are left out. A result
// that was too long for a body is an attachment, which its body names.
func (r *run) wholeText(m *dropbox.Message) (text string, left int) {
	text = string(m.Body)
	for _, a := range m.Attachments {
		if a.Size > maxRead || !strings.HasSuffix(strings.TrimSpace(text), "the whole text is the attachment "+a.Path+"]") {
			continue
		}
		f, err := r.Store.OpenAttachment(a)
		if err != nil {
			break // the body says where it should be
		}
		data, err := io.ReadAll(io.LimitReader(f, maxRead))
		if err = errors.Join(err, f.Close()); err == nil && utf8.Valid(data) {
			text = string(data)
		}
		break
	}
	if left = len(text) - maxRead; left > 0 {
		text = strings.ToValidUTF8(text[:maxRead], "")
	}
	return text, max(left, 0)
}

// fitting cuts lines for a person to what the network takes for one, and leaves out
// those with nothing in them. Secrets are masked before: half of one looks like none.
func (r *run) fitting(t irc.Text, lines []string) (cut []string) {
	limit := 300
	if conn, ok := r.main.client.Conn(); ok {
		limit = min(conn.Limit(irc.Outgoing{Target: t.Peer()}), conn.Limit(irc.Outgoing{Target: t.Nick})) - len(t.Nick+": ")
	}
	for _, l := range irc.Split(r.mask.Mask(strings.Join(lines, "\n")), max(limit, 16)) {
		if text := strings.TrimRight(l.Text, " \t"); text != "" {
			cut = append(cut, text)
		}
	}
	if len(cut) == 0 {
		return []string{"(no text)"}
	}
	return cut
}

// tellPage tells the beginning of what may be long, and keeps the rest for `more`.
func (r *run) tellPage(t irc.Text, lines []string, page int) {
	if len(lines) <= page+1 { // the line about one more line is a line, too
		r.tellLines(t, lines)
		return
	}
	key := r.fold().Fold(t.Nick)
	m := r.mores[key]
	if m == nil {
		if len(r.mores) >= maxMores {
			oldest := ""
			for k, m := range r.mores {
				if oldest == "" || m.at.Before(r.mores[oldest].at) {
					oldest = k
				}
			}
			delete(r.mores, oldest)
		}
		m = &more{}
		r.mores[key] = m
	}
	now := append(slices.Clone(lines[:page]), fmt.Sprintf("… (%d more lines: more)", len(lines)-page))
	m.rest, m.at = lines[page:], time.Now()
	m.pages = append(m.pages, r.tellLines(t, now))
}

// goOn tells how a text goes on: privately, as it began.
func (r *run) goOn(t irc.Text) {
	m := r.mores[r.fold().Fold(t.Nick)]
	if m == nil || len(m.rest) == 0 {
		r.tell(t, "There is no more.")
		return
	}
	m.pages = slices.DeleteFunc(m.pages, func(d *irc.Delivery) bool {
		select {
		case <-d.Done():
			return true
		default:
			return false
		}
	})
	if len(m.pages) >= maxPages {
		return
	}
	rest := m.rest
	m.rest = nil
	t.Private, t.Target = true, r.main.nick
	r.tellPage(t, rest, moreLines)
}
