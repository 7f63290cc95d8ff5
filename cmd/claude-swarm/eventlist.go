package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/fatih/color"
	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

func eventsCommand() *cli.Command {
	return &cli.Command{
		Name: "events", Category: groupAgents, ArgsUsage: "[WORD…]",
		Usage: "list what people were told",
		Description: `Lists the notices, oldest first: what a person may have to act on, each fact
once, in the words that IRC and webhooks use. WORD selects some of them:` + "\n" + wordList() + `
WORD can also be a kind of event (begun, result, failed, …; see
docs/dev/protocol.md).
--all lists every event. --json prints a line of JSON for each.` +
			examples("claude-swarm events --since 12h", "claude-swarm events agent_error dead_letter -f"),
		Flags: []cli.Flag{
			&cli.BoolFlag{Name: "all", Usage: "events without a notice, too"},
			&cli.BoolFlag{Name: "f", Aliases: []string{"follow"}, Usage: "continue with new events, until Ctrl-C"},
			spanFlag("since", "only what happened within `TIME`, such as 24h or 7d"),
			&cli.IntFlag{Name: "n", Usage: "only the last `N`"},
			jsonFlag(),
		},
		Action: events,
	}
}

// wordList returns the words that identify notices, wrapped for the help text.
func wordList() string {
	var b strings.Builder
	width := 0
	for i, w := range journal.Words() {
		if text := string(w); i > 0 && width+len(text) > 70 {
			b.WriteString(",\n" + text)
			width = len(text)
		} else {
			if i > 0 {
				b.WriteString(", ")
			}
			b.WriteString(text)
			width += len(text) + 2
		}
	}
	return b.String() + "."
}

func events(c *cli.Context) error {
	filter := eventFilter{words: c.Args().Slice(), all: c.Bool("all"), seen: map[string]bool{}}
	for _, w := range filter.words {
		if !slices.Contains(eventWords(), w) {
			if near := dropbox.Nearest(w, eventWords()); len(near) > 0 {
				return usagef("claude-swarm events "+near[0], "events: no event is called %q", w)
			}
			return usagef("claude-swarm events "+eventWords()[0], "events: no event is called %q, only %s", w, strings.Join(eventWords(), ", "))
		}
	}
	if c.IsSet("n") && c.Int("n") < 1 {
		return usagef("claude-swarm events -n 5", "-n: want 1 or more")
	}
	if d := spanOf(c, "since"); d > 0 {
		filter.since = time.Now().Add(-d)
	}
	p, err := locate(c)
	if err != nil {
		return err
	}
	me, err := whoAmI(c.Context, p.dir)
	if err != nil {
		return err
	}
	filter.me = me.Name
	var channels config.IRC
	if loaded, err := loadProject(c); err == nil { // without the configuration, notices are printed exactly as recorded
		channels = loaded.file.IRC
	}
	out := eventPrinter{w: c.App.Writer, columns: textWidth(c.App.Writer), json: c.Bool("json"), irc: &channels}
	reader := p.home.Events().From(0)
	found, err := filter.rest(reader)
	if err != nil {
		return err
	}
	if n := c.Int("n"); n > 0 && len(found) > n {
		found = found[len(found)-n:]
	}
	if len(found) == 0 && !c.Bool("f") && !out.json {
		fmt.Fprintln(out.w, "no event matches")
	}
	if err := out.print(found); err != nil || !c.Bool("f") {
		return err
	}
	return follow(c, swarm.Filter{}, func(swarm.FeedEvent) { /* the next function reads the file */ }, func() error {
		found, err := filter.rest(reader)
		return errors.Join(err, out.print(found))
	})
}

// eventWords returns the words that select events: the words that identify notices, and
// the kinds of events.
func eventWords() (words []string) {
	for _, w := range journal.Words() {
		words = append(words, string(w))
	}
	for _, k := range journal.Kinds() {
		words = append(words, string(k))
	}
	return words
}

// An eventFilter selects the events to print.
type eventFilter struct {
	words []string // the words to select; if empty, all notices or, if all is set, all events
	all   bool
	since time.Time
	me    string          // the caller; an agent gets only the events about its own mail
	seen  map[string]bool // the keys of the events that [eventFilter.rest] has returned
}

// rest reads the remaining events and returns those that the filter selects. If several
// events have the same key, it returns only the first.
func (f *eventFilter) rest(r *journal.Reader) (found []journal.Event, err error) {
	for {
		events, err := r.Next()
		if err != nil || len(events) == 0 {
			return found, err
		}
		for _, ev := range events {
			if f.fits(ev) && !f.seen[ev.Key] {
				f.seen[ev.Key] = true
				found = append(found, ev)
			}
		}
	}
}

func (f *eventFilter) fits(ev journal.Event) bool {
	switch {
	case ev.At.Before(f.since), f.me != dropbox.Lead && !isMailOf(ev, f.me):
		return false
	case len(f.words) > 0:
		return slices.Contains(f.words, string(ev.Word())) || slices.Contains(f.words, string(ev.Kind))
	}
	return f.all || ev.Notice != nil
}

// isMailOf reports whether an agent sent or received every message in an event, so that it
// may read the event.
func isMailOf(ev journal.Event, agent string) bool {
	if ev.Message == nil && ev.Agent != agent {
		return false
	}
	for _, m := range []*journal.Message{ev.Message, ev.Of, ev.Task} {
		mine := m == nil || m.From == agent || slices.Contains(m.To, agent) || m == ev.Message && ev.To == agent
		if !mine {
			return false
		}
	}
	return true
}

// An eventPrinter prints events as text or JSON.
type eventPrinter struct {
	w       io.Writer
	columns int // the terminal's width; 0 means no limit
	json    bool
	irc     *config.IRC
}

func (p eventPrinter) print(events []journal.Event) error {
	pal, now := paletteOf(p.w), time.Now()
	for _, ev := range events {
		if p.json {
			data, err := json.Marshal(ev)
			if err != nil {
				return err
			}
			if _, err := fmt.Fprintf(p.w, "%s\n", data); err != nil {
				return err
			}
			continue
		}
		at := timeText(ev.At, now)
		text := indented(p.text(ev), screen.Columns(at)+2, p.columns)
		if ev.Word().Severity() == journal.Error {
			text = pal.paint(text, color.FgRed)
		}
		if _, err := fmt.Fprintf(p.w, "%s  %s\n", at, text); err != nil {
			return err
		}
	}
	return nil
}

// text returns a line of text that describes an event.
func (p eventPrinter) text(ev journal.Event) string {
	if ev.Notice != nil {
		return noticeOf(p.irc, ev).Text()
	}
	text := string(ev.Kind)
	if ev.Agent != "" {
		text += " " + ev.Agent
	}
	if ev.About != "" {
		text += " " + ev.About
	}
	if m := ev.Message.Mail(); m != nil {
		text += ": " + screen.Short(m.Gist(), 100)
	}
	return text
}
