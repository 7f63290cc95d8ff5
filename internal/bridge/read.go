package bridge

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// read sends the whole text of a message, even if the body contains only the beginning
// and the whole text is in an attachment.
func (r *orders) read(t Text, id string) {
	if id = bareID(id); id == "" {
		r.rep.tell(t, "Say which message: read ID")
		return
	}
	found, m, err := r.mail.find(id)
	switch {
	case errors.Is(err, dropbox.ErrNotFound):
		r.rep.tell(t, "There is no message "+clip(r.link.Plain(id), 20)+"."+idParts)
		return
	case errors.Is(err, dropbox.ErrAmbiguous):
		r.rep.answer(t, r.candidates(err))
		return
	case err != nil:
		r.rep.tell(t, clip(r.link.Plain(err.Error()), 300))
		return
	}
	head := fmt.Sprintf("%s from %s to %s, %s, %s", m.ID, r.called(m.From), r.called(found.Mailbox), m.Type, m.Created.Format("2 Jan 15:04 UTC"))
	if m.Subject != "" {
		head += ": " + m.Subject
	}
	lines := []string{head}
	text, left := r.wholeText(m)
	lines = append(lines, r.link.Plain(text))
	if left > 0 {
		lines = append(lines, fmt.Sprintf("(%d more bytes: claude-swarm read %s --body)", left, m.ID))
	}
	for _, a := range m.Attachments {
		lines = append(lines, fmt.Sprintf("(attached: %s, %d bytes, in %s)", a.Name, a.Size, a.Path))
	}
	r.rep.forget(t)
	r.rep.tellPage(t, r.rep.fitting(t, lines), moreLines)
}

// candidates lists the messages whose ids match a partial id, one per line.
func (r *orders) candidates(err error) []string {
	several, ok := errors.AsType[*dropbox.AmbiguousError](err)
	if !ok {
		return []string{err.Error()}
	}
	lines := []string{fmt.Sprintf("%s matches %d messages:", several.Part, len(several.Found))}
	for _, f := range several.Found {
		line := f.Entry.ID + " to " + r.called(f.Mailbox)
		if m, err := r.mail.store.Load(f); err == nil {
			about := cmp.Or(m.Subject, strings.TrimSpace(string(m.Body)))
			line = fmt.Sprintf("%s from %s to %s, %s: %s", m.ID, r.called(m.From), r.called(f.Mailbox), m.Type, clip(strings.Join(strings.Fields(r.link.Plain(about)), " "), 100))
		}
		lines = append(lines, line)
	}
	return lines
}

// wholeText returns the text of a message, and how many bytes of it are omitted. If a
// result is too long for a body, its text is in an attachment that the body mentions.
func (r *orders) wholeText(m *dropbox.Message) (text string, left int) {
	text = string(m.Body)
	for _, a := range m.Attachments {
		if a.Size > maxRead || !strings.HasSuffix(strings.TrimSpace(text), "the whole text is the attachment "+a.Path+"]") {
			continue
		}
		f, err := r.mail.store.OpenAttachment(a)
		if err != nil {
			break // send the body, which mentions the missing attachment
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
