package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/bridge"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/ircbridge"
)

// The documented defaults for the number of lines to read and for the time that a verb
// waits for an answer.
const (
	ircLines    = 50
	ircPatience = 300 * time.Second
)

func ircCommand() *cli.Command {
	verb := func(name, usage, args, what string, action func(*cli.Context, *post) error, flags ...cli.Flag) *cli.Command {
		return &cli.Command{
			Name: name, Usage: usage, ArgsUsage: args, Description: what, Flags: append(flags, jsonFlag()),
			Action: withChat(action),
		}
	}
	return &cli.Command{
		Name: "irc", Category: groupMail,
		Usage: "speak and listen on IRC, as an agent or the lead",
		Description: `Sends and reads messages in IRC channels. This works through files: a line that
you send waits until the bridge has posted it, and the newest lines of each
channel are kept for reading. The # of a channel can be omitted.

docs/irc.md explains how people take part from a phone.` +
			examples("claude-swarm irc read", `claude-swarm irc send project-x "The build is green"`),
		Subcommands: []*cli.Command{
			verb("send", "say something in a channel, or to a person", "CHANNEL TEXT…",
				`Leaves TEXT for CHANNEL, or for a person's nick, and prints the id as soon
as it is on disk. The bridge posts it when it can. - reads the standard
input.`+
					examples(`claude-swarm irc send "#general" "Done with the parser"`, "git log -1 | claude-swarm irc send ann -"), ircSend),
			verb("read", "print what you have not read yet", "[CHANNEL] [LIMIT]",
				`Prints the lines of a channel that have arrived since you last read it, oldest
first, at most LIMIT (default 50). CHANNEL defaults to the project's channel.`+
					examples("claude-swarm irc read", "claude-swarm irc read standup-x 20"), ircRead,
				&cli.BoolFlag{Name: "all", Usage: "the newest lines, whether you have read them or not"}),
			verb("ask", "ask the people in a channel, and wait", "CHANNEL QUESTION…",
				`Asks in CHANNEL, mentions the question in the channel for alerts, and prints the
first answer that begins with the asker's name: "coder: yes". People whom
the bridge allows to speak (irc.allow) can answer there, and the lead with
reply. With --answerers any, an agent can answer too, with reply. With
--answerers first, CHANNEL is a comma-separated list of names, and the
first answer counts. The exit status is 5 if no answer comes in time;
--on-timeout decides what happens then.`+
					examples(`claude-swarm irc ask project-x "Delete 47 files. Proceed?"`, `claude-swarm irc ask ann --timeout 1m --on-timeout deny "May I?"`), ircAsk,
				append(questionFlags(), spanFlag("timeout", "wait no longer than `TIME`; default 5m"))...),
			verb("join", "make the bridge join a channel", "CHANNEL",
				`The bridge joins CHANNEL and keeps what is said there.`+examples(`claude-swarm irc join "#general"`), ircJoin),
			verb("part", "make the bridge leave a channel", "CHANNEL",
				`The bridge leaves CHANNEL; what was said there stays readable.`+examples(`claude-swarm irc part "#general"`), ircPart),
			verb("channels", "list the channels that the bridge is in", "",
				`Lists the channels, how many people are there, and how many lines you have
not read.`+examples("claude-swarm irc channels"), ircChannels),
			verb("who", "list who is in a channel", "[CHANNEL]",
				`Lists the nicks: @ is an operator, + has a voice. CHANNEL defaults to the
project's channel.`+examples("claude-swarm irc who", "claude-swarm irc who general --json"), ircWho),
			verb("topic", "print or set the topic of a channel", "CHANNEL [TEXT…]",
				`Prints the topic of CHANNEL, or sets it to TEXT.`+
					examples("claude-swarm irc topic project-x", `claude-swarm irc topic project-x "Release on Friday"`), ircTopic),
			ircDoctorCommand(),
			ircRunCommand(),
		},
	}
}

// withChat returns the action of a verb that requires IRC in the configuration.
func withChat(action func(*cli.Context, *post) error) cli.ActionFunc {
	return withPost(func(c *cli.Context, p *post) error {
		if p.IRC == nil {
			return noIRC()
		}
		return p.ircError(action(c, p))
	})
}

func noIRC() error {
	return fail(exitFailed, "irc: {server: localhost}   in claude-swarm.yaml; docs/irc.md shows how to set up a server", "%w", client.ErrNoIRC)
}

// ircError adds a hint to an error about IRC.
func (p *post) ircError(err error) error {
	if _, ok := errors.AsType[*client.NotThereError](err); ok {
		return hint(err, "claude-swarm status, or claude-swarm irc join CHANNEL")
	}
	if _, ok := errors.AsType[*client.TargetError](err); ok {
		return hint(err, "claude-swarm irc channels")
	}
	if _, ok := errors.AsType[*client.StaysError](err); ok {
		return hint(err, "take it out of irc: in claude-swarm.yaml, then claude-swarm reload")
	}
	return p.refused(err, "")
}

// A given is a task that an agent received because of a message on IRC.
type given struct {
	ID string `json:"id"`
	To string `json:"to"`
}

func ircSend(c *cli.Context, p *post) error {
	if c.NArg() < 2 && !(c.NArg() == 1 && c.Args().First() == "-") || noWhere(c) {
		return usagef(`claude-swarm irc send "#general" "text"`, "irc send: give a channel and the text")
	}
	text, err := ircText(c, p)
	if err != nil {
		return err
	}
	said, err := p.Chat().Say(c.Args().First(), text)
	if err != nil {
		return err
	}
	tasks := []given{}
	for _, task := range said.Tasks {
		tasks = append(tasks, given{task.ID, task.To})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int     `json:"v"`
			ID      string  `json:"id"`
			Channel string  `json:"channel"`
			Tasks   []given `json:"tasks"` // the tasks that agents received because of the message
		}{1, said.ID, said.At, tasks})
	}
	if _, err := fmt.Fprintln(c.App.Writer, said.ID); err != nil {
		return unprinted(said.ID, err)
	}
	for _, task := range tasks {
		fmt.Fprintf(c.App.ErrWriter, "%s received it as task %s\n", task.To, task.ID)
	}
	if said.Note != "" {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n", said.Note)
	}
	p.sayIfNotSaid(c)
	return nil
}

// noWhere reports whether the channel on the command line is empty, for example because a
// script did not set a variable. The verbs reject an empty name and never choose a
// channel themselves.
func noWhere(c *cli.Context) bool { return strings.TrimSpace(c.Args().First()) == "" }

// ircText returns the text that follows the channel on the command line.
func ircText(c *cli.Context, p *post) (string, error) {
	body, err := textSource{
		words: c.Args().Tail(), stdin: c.App.Reader, as: "claude-swarm irc " + c.Command.Name + " " + shellWord(c.Args().First()), most: p.Rules.BodyLimit(), readable: p.Readable,
	}.read()
	return string(body), err
}

// sayIfNotSaid prints a warning if the text must wait because the bridge is not connected.
func (p *post) sayIfNotSaid(c *cli.Context) {
	s, err := view.IRCOf(p.file, p.home)
	if err != nil || s == nil || s.Connected {
		return
	}
	next := s.Next
	if next == "" {
		next = "claude-swarm status"
	}
	why := s.Why
	if why == "" {
		why = "not connected"
	}
	fmt.Fprintf(c.App.ErrWriter, "claude-swarm: the message is waiting to be posted: %s\n  try: %s\n", screen.OneLine(why), next)
}

// whatToRead returns the channel and the number of lines to read. Both are optional on
// the command line.
func whatToRead(c *cli.Context) (channel string, limit int, err error) {
	words := c.Args().Slice()
	limit = ircLines
	if len(words) > 0 {
		last := words[len(words)-1]
		if n, err := strconv.Atoi(last); err == nil && n > 0 {
			limit, words = n, words[:len(words)-1]
		} else if len(words) == 2 {
			return "", 0, usagef("claude-swarm irc read "+shellWord(words[0])+" 50", "irc read: %q is not a number of lines", last)
		}
	}
	if len(words) > 1 {
		return "", 0, usagef("claude-swarm irc read project-x 50", "irc read: give at most a channel and a number")
	}
	return strings.Join(words, ""), limit, nil
}

func ircRead(c *cli.Context, p *post) error {
	channel, limit, err := whatToRead(c)
	if err != nil {
		return err
	}
	var got bridge.Reading
	if c.Bool("all") {
		got.Lines, channel, err = p.Chat().Recent(channel, time.Time{}, limit)
		slices.Reverse(got.Lines)
	} else {
		got, channel, err = p.Chat().Unread(channel, limit)
	}
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int           `json:"v"`
			Channel string        `json:"channel"`
			Lines   []bridge.Line `json:"lines"`
			Dropped int           `json:"dropped"` // number of lines that were dropped before they were read
			Left    int           `json:"left"`    // number of lines that are still unread
		}{1, channel, append([]bridge.Line{}, got.Lines...), got.Dropped, got.Left})
	}
	writeLines(c.App.Writer, channel, got, p.Called, time.Now())
	if got.Left > 0 {
		fmt.Fprintf(c.App.Writer, "(%s: %s)\n", screen.Count(got.Left, "more line"), commandTyped(c))
	}
	return nil
}

func writeLines(w io.Writer, channel string, got bridge.Reading, called func(mailbox string) string, now time.Time) {
	if got.Dropped > 0 {
		fmt.Fprintf(w, "(%s dropped unread)\n", screen.Count(got.Dropped, "message"))
	}
	if len(got.Lines) == 0 {
		fmt.Fprintf(w, "nothing new in %s\n", channel)
	}
	for _, l := range got.Lines {
		fmt.Fprintf(w, "%s <%s> %s\n", screen.Clock(l.At, now), screen.OneLine(l.Speaker(called)), screen.OneLine(l.Text))
	}
}

func ircAsk(c *cli.Context, p *post) error {
	if c.NArg() < 2 || noWhere(c) {
		return usagef(`claude-swarm irc ask project-x "Shall I?"`, "irc ask: give a channel and the question")
	}
	patience := cmp.Or(spanOf(c, "timeout"), ircPatience)
	how, err := p.unansweredOf(c, "claude-swarm irc ask "+shellWord(c.Args().First())+` "…"`)
	if err != nil {
		return err
	}
	text, err := ircText(c, p)
	if err != nil {
		return err
	}
	asked, err := p.Chat().Inquire(client.Inquiry{To: c.Args().First(), Text: text, Answerers: how.answerers, OnTimeout: how.onTimeout, Patience: patience})
	if err != nil {
		return err
	}
	p.sayIfNotSaid(c)
	got, err := asked.Await(c.Context)
	if none, ok := errors.AsType[*client.NoAnswerError](err); ok {
		return fail(exitFailed, "claude-swarm read "+asked.Sent[0].ID, "%w", none)
	} else if err != nil {
		return err
	}
	if got == nil {
		at := strings.Join(asked.At, ", ")
		how.asked(text, patience, asked.Sent, func(dropbox.Delivery) string { return ircbridge.Name })
		return how.end(c, fail(exitTimeout, "claude-swarm irc read "+shellWord(asked.At[0]), "nobody in %s answered within %s", at, screen.Span(patience)))
	}
	if got.Note != "" {
		fmt.Fprintf(c.App.ErrWriter, "claude-swarm: %s\n", got.Note)
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int    `json:"v"`
			ID      string `json:"id"` // the id of the question
			Channel string `json:"channel"`
			Nick    string `json:"nick"`
			Account string `json:"account"` // "" if the server does not confirm an account
			Text    string `json:"text"`
		}{1, got.ReplyTo, got.At, got.By.Nick, got.By.Account, strings.TrimRight(string(got.Body), "\n")})
	}
	_, err = fmt.Fprintf(c.App.Writer, "%s\n", strings.TrimRight(printable(c.App.Writer, got.Body), "\n"))
	return err
}

func ircJoin(c *cli.Context, p *post) error { return ircTell(c, p, bridge.DoJoin) }
func ircPart(c *cli.Context, p *post) error { return ircTell(c, p, bridge.DoPart) }

// ircTell asks the bridge to join or leave the channel named on the command line.
func ircTell(c *cli.Context, p *post, do bridge.Do) error {
	if c.NArg() != 1 || noWhere(c) {
		return usagef(fmt.Sprintf(`claude-swarm irc %s "#general"`, do), "irc %s: name one channel", do)
	}
	return tellBridge(c, p, do, "")
}

func tellBridge(c *cli.Context, p *post, do bridge.Do, text string) error {
	_, channel, err := p.Chat().Tell(do, c.Args().First(), text)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int    `json:"v"`
			Channel string `json:"channel"`
		}{1, channel})
	}
	fmt.Fprintf(c.App.Writer, "%s %s\n", do, channel)
	p.sayIfNotSaid(c)
	return nil
}

func ircTopic(c *cli.Context, p *post) error {
	if c.NArg() == 0 || noWhere(c) {
		return usagef("claude-swarm irc topic project-x", "irc topic: which channel?")
	}
	if c.NArg() > 1 {
		text, err := ircText(c, p)
		if err != nil {
			return err
		}
		return tellBridge(c, p, bridge.DoTopic, screen.OneLine(text))
	}
	ch, err := p.Chat().InChannel(c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int    `json:"v"`
			Channel string `json:"channel"`
			Topic   string `json:"topic"`
		}{1, ch.Name, ch.Topic})
	}
	_, err = fmt.Fprintln(c.App.Writer, screen.OneLine(ch.Topic))
	return err
}

// A channelView is the JSON form of a channel, which --json prints.
type channelView struct {
	Name    string `json:"name"`
	Joined  bool   `json:"joined"`
	Why     string `json:"why"` // why the bridge is not in the channel
	Topic   string `json:"topic"`
	Members int    `json:"members"`
	Unread  int    `json:"unread"`
}

func ircChannels(c *cli.Context, p *post) error {
	if err := noArguments(c); err != nil {
		return err
	}
	st, err := p.Chat().Bridge()
	if err != nil {
		return err
	}
	unread, err := p.Chat().UnreadCounts()
	if err != nil {
		return err
	}
	list := []channelView{}
	for _, ch := range st.Channels {
		list = append(list, channelView{ch.Name, ch.Joined && st.Running && st.Connected, ch.Why, ch.Topic, len(ch.Members) + ch.More, unread[ch.Name]})
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V        int           `json:"v"`
			Channels []channelView `json:"channels"`
		}{1, list})
	}
	if len(list) == 0 {
		_, err := fmt.Fprintln(c.App.Writer, "no channels yet   next: claude-swarm status")
		return err
	}
	t := table{width: screenWidth(c.App.Writer)}
	t.add("CHANNEL", "PEOPLE", "UNREAD", "TOPIC")
	for _, ch := range list {
		people := number(ch.Members)
		if !ch.Joined {
			people = "away"
		}
		t.add(ch.Name, people, number(ch.Unread), screen.OneLine(ch.Topic))
	}
	t.write(c.App.Writer, nil)
	return nil
}

func ircWho(c *cli.Context, p *post) error {
	if c.NArg() > 1 {
		return usagef("claude-swarm irc who general", "irc who: one channel at a time")
	}
	ch, err := p.Chat().InChannel(c.Args().First())
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return printJSON(c.App.Writer, struct {
			V       int             `json:"v"`
			Channel string          `json:"channel"`
			Members []bridge.Member `json:"members"`
			More    int             `json:"more"` // number of members who are not listed
		}{1, ch.Name, append([]bridge.Member{}, ch.Members...), ch.More})
	}
	for _, m := range ch.Members {
		fmt.Fprintln(c.App.Writer, screen.OneLine(m.Modes+m.Nick))
	}
	if ch.More > 0 {
		fmt.Fprintf(c.App.Writer, "and %d more\n", ch.More)
	}
	return nil
}
