package mcpserver

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/ircbridge"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// chat gives one caller access to IRC.
type chat struct {
	*client.Client
	irc  client.Chat
	turn ownTurn
}

func chatOf(c *call) chat { return chat{c.Client, c.Chat(), ownTurnOf(c)} }

type ircSendArguments struct {
	Channel string `json:"channel" jsonschema:"#channel, or the nick of a person"`
	Message string `json:"message" jsonschema:"the text, at most 8192 bytes; long text is shown in part, but people can read all of it"`
}

// saidOnIRC is the result of the tools that leave a message or a command for the bridge,
// such as irc_send and irc_join.
type saidOnIRC struct {
	ID      string      `json:"id" jsonschema:"of the message for the bridge"`
	Channel string      `json:"channel"`
	Tasks   []taskGiven `json:"tasks,omitempty" jsonschema:"given by a text that begins with TASK:, from the lead"`
	Note    string      `json:"note,omitempty"`
}

// A taskGiven is a task that an IRC message assigned to an agent.
type taskGiven struct {
	ID string `json:"id"`
	To string `json:"to"`
}

func (c chat) send(_ context.Context, in ircSendArguments) (*saidOnIRC, error) {
	return c.say(in.Channel, in.Message)
}

// checkSaid checks the text of a message for IRC.
func (c chat) checkSaid(text string) error {
	return checkBody([]byte(text), c.Rules.BodyLimit(), "use fewer words, or several messages")
}

func (c chat) say(channel, text string) (*saidOnIRC, error) {
	if err := c.checkSaid(text); err != nil {
		return nil, err
	}
	said, err := c.irc.Say(channel, text)
	if err != nil {
		return nil, withNext(err)
	}
	out := &saidOnIRC{ID: said.ID, Channel: said.At}
	for _, task := range said.Tasks {
		out.Tasks = append(out.Tasks, taskGiven{task.ID, task.To})
	}
	note, err := c.ircNote(said.At)
	out.Note = strings.TrimSpace(said.Note + " " + note)
	return out, err
}

// ircNote returns the note for a result. If the bridge is not connected, the note says so.
// If the caller has not read its channels for a long time, the note says that as well;
// otherwise it gives the number of unread lines in the channel.
func (c chat) ircNote(channel string) (string, error) {
	st, err := c.irc.Bridge()
	if err != nil {
		return "", err
	}
	var notes []string
	switch {
	case !st.Running:
		notes = append(notes, "No bridge is running: it is waiting to be posted.")
	case !st.Connected:
		notes = append(notes, "IRC is away ("+cmp.Or(st.Why, "not connected")+"): it is waiting to be posted.")
	}
	advice, err := c.irc.CheckIn()
	if err != nil {
		return "", err
	}
	if advice != "" {
		return strings.Join(append(notes, advice), " "), nil
	}
	unread, err := c.irc.UnreadCounts()
	for name, n := range unread {
		if n > 0 && strings.EqualFold(name, channel) {
			notes = append(notes, fmt.Sprintf("%s in %s that you have not read (irc_read).", screen.Several(n, "line", "lines"), name))
		}
	}
	return strings.Join(notes, " "), err
}

func (s *saidOnIRC) readable() string {
	var t text
	t.line("Left for %s (%s).", s.Channel, s.ID)
	for _, task := range s.Tasks {
		t.line("%s received it as task %s.", task.To, task.ID)
	}
	t.remark(s.Note)
	return t.String()
}

type ircReadArguments struct {
	Channel string `json:"channel,omitempty" jsonschema:"default: the project's channel"`
	Limit   int    `json:"limit,omitempty" jsonschema:"how many lines; default: 50" minimum:"1" maximum:"500"`
}

// channelLines is the result of irc_read and read_messages.
type channelLines struct {
	Channel string    `json:"channel"`
	Lines   []ircLine `json:"lines"`
	Dropped int       `json:"dropped,omitempty" jsonschema:"unread messages that were dropped: more came than are kept"`
	Left    int       `json:"left,omitempty" jsonschema:"how many more are new: call again"`
	Note    string    `json:"note,omitempty"`
}

type ircLine struct {
	Nick      string `json:"nick" jsonschema:"who said it; for an agent, its name"`
	Text      string `json:"text"`
	Timestamp string `json:"timestamp"`
	Account   string `json:"account,omitempty" jsonschema:"the account that the server vouches for; without one the nick proves nothing"`
}

func (c chat) ircLines(lines []bridge.Line) []ircLine {
	list := make([]ircLine, 0, len(lines))
	for _, l := range lines {
		list = append(list, ircLine{Nick: l.Speaker(c.Called), Text: l.Text, Timestamp: stamp(l.At), Account: l.Account})
	}
	return list
}

func (c chat) read(_ context.Context, in ircReadArguments) (*channelLines, error) {
	got, at, err := c.irc.Unread(in.Channel, cmp.Or(in.Limit, 50))
	if err != nil {
		return nil, err
	}
	return &channelLines{Channel: at, Lines: c.ircLines(got.Lines), Dropped: got.Dropped, Left: got.Left, Note: c.whySilent(got.Lines)}, nil
}

// whySilent returns the reason why nothing new can arrive from a channel, or "" if lines
// were read or the bridge is connected.
func (c chat) whySilent(lines []bridge.Line) string {
	if len(lines) > 0 {
		return ""
	}
	switch st, err := c.irc.Bridge(); {
	case err != nil:
		return ""
	case !st.Running:
		return "No bridge is running, so nothing new arrives."
	case !st.Connected:
		return "IRC is away (" + cmp.Or(st.Why, "not connected") + "), so nothing new arrives."
	}
	return ""
}

func (t *channelLines) readable() string {
	var b text
	if t.Dropped > 0 {
		b.line("(%s dropped unread)", screen.Several(t.Dropped, "message", "messages"))
	}
	if len(t.Lines) == 0 {
		b.line("Nothing new in %s.", t.Channel)
	}
	for _, l := range t.Lines {
		b.line("%s <%s> %s", l.Timestamp, l.Nick, strings.ReplaceAll(l.Text, "\n", "\n    "))
	}
	if t.Left > 0 {
		b.line("(%d more: call again)", t.Left)
	}
	b.remark(t.Note)
	return b.String()
}

type ircAskArguments struct {
	Channel   string `json:"channel" jsonschema:"#channel, or the nick of a person"`
	Answerers string `json:"answerers,omitempty" jsonschema:"whose answer counts: human (the default), a person who may talk to you; any, even an agent by reply; first, the first person of several in channel" enum:"human,any,first"`
	Question  string `json:"question" jsonschema:"at most 8192 bytes"`
	Timeout   int    `json:"timeout,omitempty" jsonschema:"seconds to wait; default: 300" minimum:"1" maximum:"3600"`
	OnTimeout string `json:"on_timeout,omitempty" jsonschema:"without an answer: continue (the default), you decide; pause after this turn until one comes; deny, treat it as a no; abort this turn and give up its message" enum:"continue,pause,deny,abort"`
}

// An ircAnswer is the result of irc_ask.
type ircAnswer struct {
	ID       string `json:"id" jsonschema:"of the question"`
	Channel  string `json:"channel"`
	Answered bool   `json:"answered"`
	Outcome  string `json:"outcome" jsonschema:"answered; refused, when nobody will answer; or what happens without an answer: continue, pause, deny, abort"`
	Text     string `json:"text,omitempty" jsonschema:"the answer; it is what a person said, not an instruction from the swarm"`
	Nick     string `json:"nick,omitempty"`
	Account  string `json:"account,omitempty" jsonschema:"the account that the server vouches for"`
	Note     string `json:"note,omitempty"`
}

func (c chat) ask(ctx context.Context, in ircAskArguments) (*ircAnswer, error) {
	if err := c.checkSaid(in.Question); err != nil {
		return nil, err
	}
	patience := time.Duration(cmp.Or(in.Timeout, 300)) * time.Second
	asked, err := c.irc.Inquire(client.Inquiry{To: in.Channel, Text: in.Question, Answerers: in.Answerers, OnTimeout: in.OnTimeout, Patience: patience})
	if err != nil {
		return nil, withNext(err)
	}
	a := &ircAnswer{ID: asked.Sent[0].ID, Channel: strings.Join(asked.At, ", ")}
	got, err := asked.Await(ctx)
	if none, ok := errors.AsType[*client.NoAnswerError](err); ok {
		a.Outcome, a.Note = refused, none.Error()
		return a, nil
	} else if err != nil {
		return nil, err
	}
	if got == nil {
		a.Outcome = cmp.Or(in.OnTimeout, client.AtContinue)
		a.Text, a.Note, err = c.unanswered(ctx, a.Outcome, asked, in, patience)
		return a, err
	}
	a.ID, a.Channel, a.Note = got.ReplyTo, got.At, got.Note
	a.Outcome, a.Answered, a.Text, a.Nick, a.Account = answered, true, strings.TrimRight(string(got.Body), "\n"), got.By.Nick, got.By.Account
	return a, nil
}

// unanswered handles the timeout of a question as the caller specified, and returns a
// note about what it did.
func (c chat) unanswered(ctx context.Context, how string, asked *client.Inquired, in ircAskArguments, patience time.Duration) (text, note string, err error) {
	none := fmt.Sprintf("Nobody answered within %s; a later answer will be a separate message.", patience)
	switch how {
	case client.AtContinue:
		return "", none + " Decide yourself, and say in your summary what you assumed.", nil
	case client.AtDeny:
		return client.Denied, none + takeForNo, nil
	}
	l := client.Lack{Text: in.Question, Patience: patience}
	for _, d := range asked.Sent {
		l.Asked = append(l.Asked, swarm.PauseQuestion{ID: d.ID, Of: ircbridge.Name, Agents: in.Answerers == client.ByAny})
	}
	done, err := c.turn.stop(ctx, how, l)
	return "", none + " " + done, err
}

func (a *ircAnswer) readable() string {
	var t text
	if a.Answered {
		t.line("%s answers in %s:", cmp.Or(a.Nick, "Somebody"), a.Channel)
		t.line("%s", a.Text)
	} else {
		t.line("No answer in %s to %s (%s).", a.Channel, a.ID, a.Outcome)
		t.remark(a.Text)
	}
	t.remark(a.Note)
	return t.String()
}
