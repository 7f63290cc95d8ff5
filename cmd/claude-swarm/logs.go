package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// logPoll is how often a followed file is read when no daemon runs. A daemon reports each
// line.
const logPoll = 250 * time.Millisecond

func logsCommand() *cli.Command {
	return &cli.Command{
		Name: "logs", Category: groupAgents, ArgsUsage: "[AGENT]",
		Usage: "what an agent says and does",
		Description: `Prints the last lines of an agent's log, or of all logs in the order of time;
with -f goes on with new lines, also when the daemon stops and starts again.
Works without a daemon. Inside a turn an agent sees its own log.

On a terminal -f with one AGENT shows text while the agent writes it, in each
turn that begins after you began to follow. A turn that began before shows whole
messages: its client cannot change that, and text in pieces from every client
would make the kept streams nine times as long.

Lines are TIME AGENT MESSAGE TEXT; a tool call is $ and its name, + is urgent
mail that came into the turn, the beginning and the end of a turn are =, the end
with its duration and cost. --raw prints the client's own event stream
of the last turn, JSON lines.` +
			examples("claude-swarm logs coder", "claude-swarm logs coder -f", "claude-swarm logs -f", "claude-swarm logs coder --raw -n 5"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "f", Aliases: []string{"follow"}, Usage: "go on with what is added, until Ctrl-C"},
			&cli.IntFlag{Name: "n", Aliases: []string{"lines"}, Value: 50, Usage: "begin with the last `N` lines"},
			&cli.BoolFlag{Name: "raw", Usage: "the client's event stream"},
		},
		Action: func(c *cli.Context) error {
			if c.NArg() > 1 {
				return usagef("claude-swarm logs "+c.Args().First(), "logs: one agent, or all without a name")
			}
			if c.Int("n") < 0 {
				return usagef("claude-swarm help logs", "-n must not be negative")
			}
			p, err := loadInForce(c)
			if err != nil {
				return err
			}
			me, err := p.whoAmI()
			if err != nil {
				return err
			}
			name := c.Args().First()
			switch {
			case name == "" && me.Name != dropbox.Lead:
				name = me.Name
			case name == "" && c.Bool("raw"):
				return usagef("claude-swarm status", "logs --raw: of which agent?")
			case name == "":
				return readableLogs(c, p)
			}
			if _, err := p.agent(name, "claude-swarm logs %s"); err != nil && !p.hasLog(name) {
				return err
			}
			// A log holds the texts of the agent's mail and of the agent.
			if err := private((&client.Client{Me: me}).MaySee(name)); err != nil {
				return err
			}
			if c.Bool("raw") {
				return rawLog(c, p, name)
			}
			return readableLog(c, p, name)
		},
	}
}

// hasLog tells whether an agent has a log, also one that is gone from the configuration.
func (p *project) hasLog(agent string) bool {
	if dropbox.CheckAgent(agent) != nil {
		return false
	}
	_, err := os.Stat(p.home.AgentLog(agent))
	return err == nil
}

func readableLog(c *cli.Context, p *project, agent string) error {
	t, lines, err := openTail(p.home.AgentLog(agent), 0, c.Int("n"))
	if err != nil {
		return err
	}
	defer t.close()
	out := &logPrinter{w: c.App.Writer, live: isTerminal(c.App.Writer), p: paletteOf(c.App.Writer), agent: agent}
	out.lines(lines)
	if !c.Bool("f") {
		if t.file == nil {
			fmt.Fprintf(c.App.ErrWriter, "%s has done nothing yet\n", agent)
		}
		return nil
	}
	if out.live {
		tellWholeMessages(c, p, agent)
	}
	return follow(c, swarm.Filter{Agent: agent, Text: out.live}, out.told, func() error { return out.more(t) })
}

// tellWholeMessages says where text will not appear while the agent writes it. It is only a
// remark: without a daemon to ask it says nothing, and the log is shown all the same.
func tellWholeMessages(c *cli.Context, p *project, agent string) {
	client, err := p.connect(c.Context)
	if err != nil {
		return
	}
	defer client.Close()
	st, err := client.Status(c.Context, agent)
	if err != nil {
		return
	}
	for _, a := range st.Agents {
		if a.Running && !a.Streams {
			fmt.Fprintf(c.App.ErrWriter, "this turn of %s began before you looked: its text comes in whole messages, that of the next as it is written\n", a.Name)
		}
	}
}

// follow calls more whenever there may be something to read, and told with each event of the
// daemon, until Ctrl-C. The file is the truth; the daemon's events only say when to look.
func follow(c *cli.Context, filter swarm.Filter, told func(swarm.FeedEvent), more func() error) error {
	ctx, cancel := context.WithCancel(c.Context)
	events := make(chan swarm.FeedEvent)
	ended := make(chan struct{})
	go func() { // ends with ctx, waited for below
		defer close(ended)
		for ctx.Err() == nil {
			// Without a daemon the file is read anyway; it may be back soon.
			_ = followEvents(ctx, c, filter, func(ev swarm.FeedEvent) {
				select {
				case events <- ev:
				case <-ctx.Done():
				}
			})
			wait(ctx, time.Second)
		}
	}()
	defer func() { cancel(); <-ended }()
	tick := time.NewTicker(logPoll)
	defer tick.Stop()
	return readOn(c.Context, events, tick.C, told, more)
}

// readOn is follow with the events and the ticks of the caller. It calls more before it tells
// of an event, so the line that an event is about has been read by then; a piece of text is no
// reason to read.
func readOn(ctx context.Context, events <-chan swarm.FeedEvent, tick <-chan time.Time, told func(swarm.FeedEvent), more func() error) error {
	for {
		var ev swarm.FeedEvent // of no kind at a tick
		select {
		case <-ctx.Done():
			return nil // Ctrl-C is how one leaves
		case ev = <-events:
		case <-tick:
		}
		if ev.Kind != swarm.FeedPartial {
			if err := more(); err != nil {
				return err
			}
		}
		told(ev)
	}
}

// A logPrinter prints an agent's log. On a terminal it shows text while the agent writes it,
// and of the finished line only the rest.
type logPrinter struct {
	w     io.Writer
	live  bool
	p     palette
	agent string
	open  string   // shown text that is not a line yet
	ahead []string // printed entries of which the daemon has not told yet
}

// logIndent begins the further lines of one entry.
const logIndent = "    "

// more prints what t has got since the last call.
func (l *logPrinter) more(t *tail) error {
	lines, err := t.more()
	l.lines(lines)
	if l.live {
		for _, entry := range entriesIn(lines) {
			l.ahead = append(l.ahead, string(entry))
		}
	}
	return err
}

// told shows a piece of text, unless the line of that text is printed already: the daemon tells
// of a line after it has told of all pieces of its text.
func (l *logPrinter) told(ev swarm.FeedEvent) {
	switch ev.Kind {
	case swarm.FeedPartial:
		if len(l.ahead) == 0 {
			l.partial(ev)
		}
	case swarm.FeedLine:
		// No event comes any more about what stands before it, such as a line by hand.
		if i := slices.Index(l.ahead, ev.Text); i >= 0 {
			l.ahead = slices.Delete(l.ahead, 0, i+1)
		}
	}
}

// partial shows a piece of text.
func (l *logPrinter) partial(ev swarm.FeedEvent) {
	text := strings.ReplaceAll(screen.Plain(ev.Text), "\n", "\n"+logIndent)
	if l.open == "" {
		text = strings.TrimLeft(text, "\n ")
		if text == "" {
			return
		}
		fmt.Fprint(l.w, l.head(ev.At.Local().Format(time.TimeOnly), l.agent, ev.ID))
	}
	fmt.Fprint(l.w, text)
	l.open += text
}

// lines prints finished lines of the log.
func (l *logPrinter) lines(data []byte) {
	for _, entry := range entriesIn(data) {
		l.entry(strings.TrimSuffix(string(entry), "\n"))
	}
}

func (l *logPrinter) entry(entry string) {
	if l.live {
		entry = screen.Plain(entry)
	}
	head, body, ok := strings.Cut(entry, "  ")
	words := strings.Fields(head)
	if !ok || len(words) != 3 {
		l.finish()
		fmt.Fprintln(l.w, entry)
		return
	}
	if l.open != "" {
		rest, ok := strings.CutPrefix(body, l.open)
		if !ok && strings.TrimRight(l.open, "\n ") == body {
			rest, ok = "", true // the log leaves out white space at the end
		}
		if ok {
			fmt.Fprintln(l.w, rest)
			l.open = ""
			return
		}
		l.finish()
	}
	fmt.Fprintln(l.w, l.head(words[0], words[1], words[2])+l.colour(body))
}

// finish ends shown text that differs from the log.
func (l *logPrinter) finish() {
	if l.open != "" {
		fmt.Fprintln(l.w)
		l.open = ""
	}
}

func (l *logPrinter) head(at, agent, id string) string {
	return l.p.paint(at, color.Faint) + " " + l.p.paint(agent, agentColour(agent)) + " " + l.p.paint(id, color.Faint) + "  "
}

func (l *logPrinter) colour(body string) string {
	switch {
	case strings.HasPrefix(body, "$ "):
		return l.p.paint(body, color.Faint)
	case strings.HasPrefix(body, "= "):
		return l.p.paint(body, color.Bold)
	case strings.HasPrefix(body, "✗ "):
		return l.p.paint(body, color.FgRed)
	}
	return body
}

// rawLog prints the event stream of the agent's newest turn, and with -f those of the turns
// after it.
func rawLog(c *cli.Context, p *project, agent string) error {
	turns := &turnFiles{home: p.home, agent: agent, seen: map[string]bool{}}
	newest, from, err := turns.next()
	if err != nil {
		return err
	}
	if newest == "" && !c.Bool("f") {
		fmt.Fprintf(c.App.ErrWriter, "no turn of %s is kept\n", agent)
		return nil
	}
	var t *tail
	if newest != "" {
		var lines []byte
		if t, lines, err = openTail(newest, from, c.Int("n")); err == nil {
			_, err = c.App.Writer.Write(lines)
		}
		if err != nil {
			return err
		}
		defer func() { t.close() }()
	}
	if !c.Bool("f") {
		return nil
	}
	return follow(c, swarm.Filter{Agent: agent}, func(swarm.FeedEvent) {}, func() error {
		// Look for the next turn first: if there is one, the turn before has ended, and
		// its file is complete.
		next, _, err := turns.next()
		if err != nil {
			return err
		}
		if t != nil {
			lines, err := t.more()
			if err != nil {
				return err
			}
			if _, err := c.App.Writer.Write(lines); err != nil {
				return err
			}
		}
		if next == "" || t != nil && next == t.path {
			return nil // a warm client goes on in the same file
		}
		if t != nil {
			if err := t.close(); err != nil {
				return err
			}
		}
		t = &tail{path: next}
		return nil
	})
}

// turnFiles finds the streams of an agent's turns. Each record is read once.
type turnFiles struct {
	home  journal.Home
	agent string
	seen  map[string]bool
}

// next returns the stream of the newest turn that was not there at the last
// call, or "", and the offset at which the turn begins in it.
func (f *turnFiles) next() (newest string, from int64, err error) {
	files, err := os.ReadDir(f.home.Turns())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", 0, err
	}
	at := time.Time{}
	for _, file := range files {
		name := file.Name()
		if f.seen[name] || filepath.Ext(name) != ".json" {
			continue
		}
		data, err := os.ReadFile(filepath.Join(f.home.Turns(), name))
		if err != nil {
			continue // rotated away just now
		}
		var rec struct {
			Turn, Client, Agent string
			From                runner.Place
			Begun               time.Time
		}
		if json.Unmarshal(data, &rec) != nil {
			continue
		}
		f.seen[name] = true
		if rec.Agent == f.agent && rec.Begun.After(at) {
			newest, from, at = f.home.Stream(cmp.Or(rec.Client, rec.Turn)), rec.From.Offset, rec.Begun
		}
	}
	return newest, from, nil
}
