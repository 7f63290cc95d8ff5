package dropbox

import (
	"crypto/sha256"
	"encoding/hex"
	"path"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Version is the version number of the message format. A message contains it in the field
// v.
const Version = 1

// MaxHops is the default maximum number of times that programs may pass a message on;
// Options can change it. A message with more hops is considered to be in a loop.
const MaxHops = 8

// Type is the kind of a message. It indicates what the sender expects from the receiver.
type Type string

// The types. Status and Note do not begin a turn. They are included in the prompt of the
// next turn.
const (
	Task     Type = "task"     // do this; answered by a Result
	Question Type = "question" // answer this; answered by a Result
	Result   Type = "result"   // the answer to a Task or a Question
	Status   Type = "status"   // a report on progress
	Handoff  Type = "handoff"  // continue another agent's work
	Note     Type = "note"     // for information
)

// Types lists all types, in the order of their declaration.
func Types() []Type { return []Type{Task, Question, Result, Status, Handoff, Note} }

// Valid reports whether t is one of the types.
func (t Type) Valid() bool {
	switch t {
	case Task, Question, Result, Status, Handoff, Note:
		return true
	}
	return false
}

// Wakes reports whether a message of this type begins a turn.
func (t Type) Wakes() bool { return t != Status && t != Note }

// WantsAnswer reports whether the sender of this type of message expects a Result.
func (t Type) WantsAnswer() bool { return t == Task || t == Question }

// A Message consists of an envelope and a body. Its content never changes after delivery.
// The name and folder of its file, and its receipt, show its state.
type Message struct {
	V        int    // version of the format; [Version]
	ID       string // 10 characters, unique in the project; set at delivery
	From     string // a mailbox's name, or "swarm"; Proof proves it
	To       []string
	CC       []string
	Type     Type
	Priority Priority
	Subject  string
	Thread   string // id of the conversation; usually the id of its first message
	ReplyTo  string // id of the message that this one answers
	// DependsOn are the ids of the messages that must come to a good end before this one
	// begins a turn.
	DependsOn []string
	Trace     string // id of the original message that caused this one
	Key       string // chosen by the sender; a key is delivered once per recipient within 7 days
	Turn      string // the turn in which the message was sent
	Topic     string // the topic of published work; see package topic
	Offer     string // id of the publication that this message offers to a subscriber
	Outcome   string // of the turn that this result answers with, if the turn was not done: "refused"
	Proof     string // see [Proof]
	Hops      int    // number of times that programs passed it on; see [Options]
	Path      []string
	Created   time.Time // UTC, microseconds
	Expires   time.Time // zero: never

	Attachments []Attachment

	// Extra contains the unknown keys as YAML lines in their original order, with a
	// newline at the end. Encode writes them unchanged.
	Extra string

	Body []byte // Markdown or any other text, kept byte for byte
}

// Expired reports whether the message has expired by the given time.
func (m *Message) Expired(now time.Time) bool {
	return !m.Expires.IsZero() && !now.Before(m.Expires)
}

// entry returns the entry of a message that is waiting for its first turn.
func (m *Message) entry() Entry {
	e := Entry{Priority: m.Priority, Created: m.Created, ID: m.ID}
	e.Name = e.FileName()
	return e
}

// fill sets the fields that a file can omit, using the file's name or their defaults.
func (m *Message) fill(e Entry) {
	m.V, m.ID, m.Priority, m.Created = Version, e.ID, e.Priority, e.Created
	setIfEmpty(&m.From, Lead)
	setIfEmpty(&m.Thread, e.ID)
	setIfEmpty(&m.Trace, e.ID)
	if m.Type == "" {
		m.Type = Task
	}
}

func setIfEmpty(s *string, to string) {
	if *s == "" {
		*s = to
	}
}

// Limits for individual fields: bytes in a line or a word, and entries in a list. The
// limit for the entire front matter is 16 KiB.
const (
	maxLine = 1024 // subject, key
	maxWord = 128  // names, ids, turn, proof
	maxList = 256  // to, cc, path, attachments
)

// check returns an error for an envelope that cannot be written or read back.
func (m *Message) check() error {
	if m.V < 0 || m.V > Version {
		return invalid("v %d is unknown: this program supports %d", m.V, Version)
	}
	if m.Type != "" && !m.Type.Valid() {
		return invalid("type %q: must be task, question, result, status, handoff or note", string(m.Type))
	}
	if m.Priority < Urgent || m.Priority > Low {
		return invalid("priority %d: must be urgent, normal or low", m.Priority)
	}
	if m.Hops < 0 {
		return invalid("hops %d: must be 0 or more", m.Hops)
	}
	if m.ID != "" && !ValidID(m.ID) {
		return invalid("id %q: must be 10 characters from a-z and 0-9", m.ID)
	}
	words := []struct{ name, value string }{
		{"from", m.From}, {"thread", m.Thread}, {"reply_to", m.ReplyTo},
		{"trace", m.Trace}, {"turn", m.Turn}, {"topic", m.Topic}, {"offer", m.Offer}, {"outcome", m.Outcome}, {"proof", m.Proof},
	}
	for _, w := range words {
		if err := checkText(w.name, w.value, maxWord); err != nil {
			return err
		}
	}
	if err := checkText("subject", m.Subject, maxLine); err != nil {
		return err
	}
	if err := checkText("key", m.Key, maxLine); err != nil {
		return err
	}
	lists := []struct {
		name   string
		values []string
	}{{"to", m.To}, {"cc", m.CC}, {"path", m.Path}, {"depends_on", m.DependsOn}}
	for _, l := range lists {
		if len(l.values) > maxList {
			return invalid("%s has %d names; the maximum is %d", l.name, len(l.values), maxList)
		}
		for _, v := range l.values {
			if v == "" {
				return invalid("%s has an empty name", l.name)
			}
			if err := checkText(l.name, v, maxWord); err != nil {
				return err
			}
		}
	}
	for _, id := range m.DependsOn {
		if !ValidID(id) {
			return invalid("depends_on %q: must be ids of messages, 10 characters from a-z and 0-9", id)
		}
	}
	if len(m.Attachments) > maxList {
		return invalid("%d attachments; the maximum is %d", len(m.Attachments), maxList)
	}
	for _, a := range m.Attachments {
		if err := a.check(); err != nil {
			return err
		}
	}
	return nil
}

// checkText rejects text that is too long or not valid UTF-8. It also rejects control
// characters, which would break a line in the envelope or on a terminal.
func checkText(what, s string, most int) error {
	if len(s) > most {
		return invalid("%s has %d bytes; the maximum is %d", what, len(s), most)
	}
	if !utf8.ValidString(s) {
		return invalid("%s is not UTF-8", what)
	}
	if i := strings.IndexFunc(s, unicode.IsControl); i >= 0 {
		return invalid("%s has a control character", what)
	}
	return nil
}

// attachDir is the folder of the attachments, in the store's folder.
const attachDir = "attach"

// An Attachment is a file that belongs to a message. Its path in the store contains the
// hash of its content, so the same file from two senders is stored only once.
type Attachment struct {
	Name   string // the file's own name
	Path   string // relative to the store: attach/<sha256>/NAME
	Size   int64  // bytes
	SHA256 string // lowercase hexadecimal
}

// check rejects an attachment that cannot have come from Attach, especially one with a
// wrong path.
func (a Attachment) check() error {
	sum, err := hex.DecodeString(a.SHA256)
	switch {
	case err != nil || len(sum) != sha256.Size || strings.ToLower(a.SHA256) != a.SHA256:
		return invalid("attachment: sha256 %q is not 64 lowercase hexadecimal digits", a.SHA256)
	case a.Name == "" || a.Name != attachmentName(a.Name):
		return invalid("attachment: name %q is not a plain file name", a.Name)
	case a.Path != attachDir+"/"+a.SHA256+"/"+a.Name:
		return invalid("attachment: path %q is not attach/<sha256>/<name>", a.Path)
	case a.Size < 0:
		return invalid("attachment: size %d is negative", a.Size)
	}
	return nil
}

// attachmentName turns any name into a plain file name.
func attachmentName(name string) string {
	name = path.Base(strings.ReplaceAll(name, "\\", "/"))
	name = strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune("._-+ ", r):
			return r
		case r >= 0xa0 && r != utf8.RuneError && !mustEscape(r):
			return r
		}
		return '_'
	}, name)
	for len(name) > 100 { // cut the beginning, so that the extension is kept
		_, n := utf8.DecodeRuneInString(name)
		name = name[n:]
	}
	name = strings.TrimLeftFunc(name, func(r rune) bool { return r == '.' || r == '-' || unicode.IsSpace(r) })
	name = strings.TrimRightFunc(name, unicode.IsSpace)
	if name == "" {
		return "file"
	}
	return name
}

// Gist describes a message in one line by its subject or, if the subject is empty, by the
// beginning of its text. It omits the mark that a bridge puts before the text. The result
// may contain terminal control characters.
func (m *Message) Gist() string {
	about := m.Subject
	if about == "" {
		about = strings.ToValidUTF8(string(m.Body[:min(len(m.Body), 400)]), "")
		if _, what, ok := Heard(m.From, about); ok && IsBridge(m.From) {
			about = what
		}
	}
	return strings.Join(strings.Fields(about), " ")
}

// Heard splits a line that a bridge delivered, such as "[IRC where] <who> what" from the
// irc bridge. ok is false for any other text.
func Heard(bridge, text string) (who, what string, ok bool) {
	inner, found := strings.CutPrefix(text, "[")
	title, _, spaced := strings.Cut(inner, " ")
	if !found || !spaced || !strings.EqualFold(title, bridge) {
		return "", "", false
	}
	_, rest, _ := strings.Cut(text, "] <")
	who, what, ok = strings.Cut(rest, "> ")
	return who, what, ok && who != ""
}
