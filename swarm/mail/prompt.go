package mail

import (
	"cmp"
	"crypto/rand"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/window"
)

// A Prompt is the text that starts a turn. It never begins with a body, so that the CLI
// cannot mistake a body for a command. Every body is enclosed between two marks that do not
// occur in it.
type Prompt struct {
	Agent    string
	Names    Names  // names the lead and the person
	Request  string // says who asks for the turn; "" if the prompt is the user's own word to the client
	Prior    []byte // the window after a compaction, or empty
	Reread   []string
	Whispers []string     // whispers from the supervisor, one line each
	Tree     string       // where the agent works, if it has a working tree; "" means no line
	Advice   string       // a line from the daemon; "" means no line
	Drift    string       // how the agent's folder has changed since its last turn, see [Drift.Text]; or ""
	Notes    []promptMail // the notes in this prompt
	Message  promptMail
	Tools    bool                  // the client has the tools of the dead-drop MCP server
	Red      *journal.Verification // why the work of the last attempt was not accepted; nil if it was not judged
	CutOff   time.Time             // when an earlier attempt at the message was interrupted, or zero
}

// A promptMail is a message with the results of the daemon's checks.
type promptMail struct {
	*dropbox.Message
	Proven bool
	Via    string
}

// Text returns the prompt as text.
func (p Prompt) Text() string { return p.text(randomMark) }

// text returns the prompt as text. mark returns a new random mark on each call.
func (p Prompt) text(mark func() string) string {
	var parts []string
	add := func(format string, args ...any) { parts = append(parts, fmt.Sprintf(format, args...)) }

	add("claude-swarm: turn for %s", p.Agent)
	if p.Request != "" {
		add("%s", p.Request)
	}
	if len(p.Whispers) > 0 {
		add("%s", WhispersText(p.Whispers))
	}
	if len(p.Prior) > 0 {
		parts = append(parts, strings.TrimSuffix(string(window.Banner(nil, len(p.Prior)/4, p.Prior)), "\n"))
	}
	if len(p.Reread) > 0 {
		add("Read these first: %s", strings.Join(p.Reread, ", "))
	}
	if p.Tree != "" {
		add("%s", p.Tree)
	}
	if p.Advice != "" {
		add("%s", p.Advice)
	}
	if p.Drift != "" {
		add("%s", p.Drift)
	}
	for _, n := range p.Notes {
		add("For your information, no answer needed:")
		parts = append(parts, n.envelope(p.Names), fenced(n.Body, mark))
	}
	head := p.Message.envelope(p.Names)
	if id := p.Message.Offer; id != "" {
		how := "claude-swarm claim " + word(id)
		if p.Tools {
			how = "with the claim tool, or " + how
		}
		head += fmt.Sprintf("\nThis was published on %s and offered to all who subscribe. See whether it is for you; if so, claim it before\n"+
			"you begin: %s. If it is not, or another agent has it, end your turn without doing it.", word(p.Message.Topic), how)
	}
	if !p.CutOff.IsZero() {
		head += fmt.Sprintf("\nThis was begun before and cut off at %s. Look at what is already done.", stamp(p.CutOff))
	}
	parts = append(parts, head, fenced(p.Message.Body, mark))
	if p.Red != nil {
		add("You finished this before, but your commit was not accepted: %s\nFind out why, repair it, and commit. Do not change a test only to make it pass. These are the last lines that the verifier printed:", p.Red.Line())
		parts = append(parts, fenced([]byte(strings.Join(p.Red.Output, "\n")), mark))
	}
	add("Do this one task. Other mail comes in later turns. Send one summary when done.")
	return strings.Join(parts, "\n\n") + "\n"
}

// envelope returns the lines above a body: one line for the message, and one for each
// attachment. Text that a sender can choose is quoted unless it is a plain word, so that
// it cannot be mistaken for text from the daemon.
func (l promptMail) envelope(names Names) string {
	proof := "unverified"
	if l.Proven {
		proof = "proven"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "Message %s from %s (%s, through %s), type %s", l.ID, word(names.Called(l.From)), proof, l.Via, l.Type)
	if l.Subject != "" {
		fmt.Fprintf(&b, ", subject %q", l.Subject)
	}
	fmt.Fprintf(&b, ", thread %s", word(cmp.Or(l.Thread, l.ID)))
	if l.ReplyTo != "" {
		fmt.Fprintf(&b, ", in reply to %s", word(l.ReplyTo))
	}
	fmt.Fprintf(&b, ", %s", stamp(l.Created))
	for _, a := range l.Attachments {
		fmt.Fprintf(&b, "\nAttached: %s (%d bytes)", word(a.Path), a.Size)
	}
	return b.String()
}

// word returns s, in quotes unless s is a plain word. Names, ids and most paths are plain
// words. Letters that only resemble ASCII letters are not allowed in a plain word.
func word(s string) string {
	for _, c := range s {
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || strings.ContainsRune("-_./", c)) {
			return strconv.QuoteToASCII(s)
		}
	}
	if s == "" {
		return `""`
	}
	return s
}

// fenced encloses a body between two marks that do not occur in it. The only change it
// makes to the body is to add a newline at the end if one is missing.
func fenced(body []byte, mark func() string) string {
	m := mark()
	for strings.Contains(string(body), m) {
		m = mark()
	}
	line := "--- " + m + " ---"
	text := string(body)
	if !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return line + "\n" + text + line
}

// randomMark returns 16 random letters and digits.
func randomMark() string { return strings.ToLower(rand.Text()[:16]) }

// Prompt returns the part of a turn's prompt that comes from its mail.
func (in *Inbox) Prompt(j *Job) Prompt {
	p := Prompt{
		Red:   j.Red,
		Agent: in.Name, Names: in.Names(), CutOff: j.CutOff,
		Message: promptMail{Message: j.Claim.Message, Proven: j.Proven, Via: j.Via},
	}
	for _, n := range j.Notes {
		p.Notes = append(p.Notes, promptMail{Message: n.Message, Proven: in.Proves(n.Message), Via: in.Arrivals.Via(n.ID)})
	}
	return p
}

// WhispersText returns whispers in the form used in a prompt.
func WhispersText(lines []string) string {
	return "A whisper from your supervisor. No other agent sees this, and nobody is waiting for an answer to it.\n" + strings.Join(lines, "\n")
}
