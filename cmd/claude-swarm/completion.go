package main

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
	"github.com/claude-swarm/claude-swarm/internal/client"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/merge"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
	"github.com/claude-swarm/claude-swarm/swarm/worktree"
)

// The scripts call the hidden verb __complete whenever the tab key is pressed, so they need
// no update when the verbs change.
var (
	//go:embed completion/claude-swarm.bash
	bashCompletion string
	//go:embed completion/claude-swarm.zsh
	zshCompletion string
	//go:embed completion/claude-swarm.fish
	fishCompletion string
)

func completionCommand() *cli.Command {
	return &cli.Command{
		Name:      "completion",
		Category:  groupProject,
		Usage:     "print the completion for a shell",
		ArgsUsage: "bash|zsh|fish",
		Description: `Prints a script that lets a shell complete verbs, flags, agent names and
message ids.` +
			examples(
				`source <(claude-swarm completion bash)`,
				`claude-swarm completion zsh > "${fpath[1]}/_claude-swarm"`,
				`claude-swarm completion fish > ~/.config/fish/completions/claude-swarm.fish`),
		Action: func(c *cli.Context) error {
			scripts := map[string]string{"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion}
			script, ok := scripts[c.Args().First()]
			if !ok || c.NArg() != 1 {
				return usagef("claude-swarm completion bash", "completion: name a shell: bash, zsh or fish")
			}
			_, err := io.WriteString(c.App.Writer, script)
			return err
		},
	}
}

// completeName is the verb that the completion scripts call.
const completeName = "__complete"

// completeCommand returns the verb that the scripts call: __complete -- WORD… The words are
// those on the command line up to the cursor. The last word can be empty. The verb prints a
// line for each candidate: the word, a tab and a description. It also prints ":files" if the
// word can be a file name.
func completeCommand() *cli.Command {
	return &cli.Command{
		Name: completeName, Hidden: true, SkipFlagParsing: true,
		Action: func(c *cli.Context) error {
			words := c.Args().Slice()
			if len(words) > 0 && words[0] == "--" {
				words = words[1:]
			}
			words = withoutEquals(words)
			f := &finder{c: c, last: words[len(words)-1]}
			f.complete(words[:len(words)-1])
			for _, cand := range f.found {
				fmt.Fprintf(c.App.Writer, "%s\t%s\n", cand.text, cand.about)
			}
			if f.files {
				fmt.Fprintln(c.App.Writer, ":files")
			}
			return nil
		},
	}
}

// withoutEquals removes each "=" word, because bash splits --flag=value into three words.
// The last word of the result is the word to complete, which can be "".
func withoutEquals(words []string) []string {
	var out []string
	for i, w := range words {
		switch {
		case w != "=":
			out = append(out, w)
		case i == len(words)-1:
			out = append(out, "")
		}
	}
	if len(out) == 0 {
		out = []string{""}
	}
	return out
}

// A candidate is a possible word at the cursor, with its description.
type candidate struct{ text, about string }

// A finder collects the candidates for the word at the cursor.
type finder struct {
	c     *cli.Context
	last  string // the typed part of the word under the cursor
	flag  string // the flag that precedes it in the same word, such as "--type="
	agent string // the value of the flag --agent before the cursor, or ""
	first string // the first operand before the cursor, or ""
	found []candidate
	files bool
}

func (f *finder) offer(text, about string) {
	if strings.HasPrefix(text, f.last) {
		f.found = append(f.found, candidate{f.flag + text, screen.OneLine(about)})
	}
}

// complete parses the words before the cursor in the same way as [arrange], but skips unknown
// flags. Then it collects the candidates for the word at the cursor.
func (f *finder) complete(before []string) {
	app := f.c.App
	commands, flags := app.Commands, app.Flags
	var chain []string
	operands, onlyOperands := 0, false
	arguments := false // whether the verb has arguments besides subcommands, as merge ID
	for i := 0; i < len(before); i++ {
		word := before[i]
		switch {
		case onlyOperands:
			operands++
		case word == "--":
			onlyOperands = true
		case isFlag(word):
			fl := cmp.Or(lookup(flags, flagName(word)), lookup(app.Flags, flagName(word)))
			if fl == nil || !takesValue(fl) {
				continue
			}
			_, value, given := strings.Cut(word, "=")
			if !given && i == len(before)-1 {
				if fl.Names()[0] == "thread" && slices.Contains(chain, "unhalt") {
					f.halted()
					return
				}
				f.value(fl.Names()[0])
				return
			}
			if !given {
				i++
				value = before[i]
			}
			if fl.Names()[0] == "agent" {
				f.agent = value
			}
			if fl.Names()[0] == "config" && f.c.Set("config", value) != nil {
				return
			}
		case len(commands) > 0:
			if word == "help" && len(chain) == 0 {
				continue
			}
			c := find(commands, word)
			if c == nil && arguments {
				commands = nil
				operands++
				continue
			} else if c == nil {
				return
			}
			chain, arguments = append(chain, c.Name), c.ArgsUsage != ""
			commands, flags = c.Subcommands, c.Flags
		default:
			if operands == 0 {
				f.first = word
			}
			operands++
		}
	}
	switch {
	case isFlag(f.last) && strings.Contains(f.last, "=") && !onlyOperands:
		if fl := cmp.Or(lookup(flags, flagName(f.last)), lookup(app.Flags, flagName(f.last))); fl != nil {
			at := strings.Index(f.last, "=") + 1
			f.flag, f.last = f.last[:at], f.last[at:]
			f.value(fl.Names()[0])
		}
	case strings.HasPrefix(f.last, "-") && !onlyOperands:
		f.flags(flags)
	case len(commands) > 0:
		for _, c := range commands {
			if !c.Hidden {
				f.offer(c.Name, c.Usage)
			}
		}
		if len(chain) == 0 {
			f.offer("help", "show the help for a verb")
		}
		if arguments {
			f.operand(strings.Join(chain, " "), 0)
		}
	default:
		f.operand(strings.Join(chain, " "), operands)
	}
}

func flagName(word string) string {
	name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "=")
	return name
}

func (f *finder) flags(flags []cli.Flag) {
	for _, fl := range append(slices.Clone(flags), f.c.App.Flags...) {
		usage := ""
		if doc, ok := fl.(cli.DocGenerationFlag); ok {
			usage = strings.ReplaceAll(doc.GetUsage(), "`", "")
		}
		for _, name := range fl.Names() {
			f.offer(dashes(name), usage)
		}
	}
	f.offer("--help", "show the help for this verb")
}

// value offers the values of a flag.
func (f *finder) value(flag string) {
	switch flag {
	case "to":
		f.agents()
	case "file", "attach", "config", "dir":
		f.files = true
	case "type":
		for _, t := range typeWords() {
			f.offer(t, "")
		}
	case "backend":
		for _, k := range backends.Kinds() {
			f.offer(k.Name, k.Title)
		}
	case "priority":
		for _, p := range []string{"urgent", "normal", "low"} {
			f.offer(p, "")
		}
	case "cc":
		f.agents(dropbox.Lead, dropbox.All)
	case "undo", "cancel":
		f.branches()
	case "agent", "for", "as", "role":
		f.agents()
	case "thread", "reply-to":
		f.mail(nil)
	case "done":
		f.mail([]string{view.StateUnread, view.StateRead})
	}
}

// operand offers the possible words for operand n of a verb. The first operand is number 0.
func (f *finder) operand(verb string, n int) {
	switch verb {
	case "send":
		if n == 0 {
			f.agents(dropbox.Lead, dropbox.All)
		}
	case "inbox":
		if n == 0 {
			f.agents(dropbox.Lead)
		}
	case "history", "logs", "attach", "init":
		if n == 0 {
			f.agents()
		}
	case "diff":
		if n == 0 {
			f.agents()
		} else if n == 1 {
			f.worked(f.first)
		}
	case "pause", "resume", "drain", "undrain", "abort", "clear", "compact":
		f.agents()
		if n == 0 {
			f.offer(dropbox.All, "every agent")
		}
	case "start", "stop", "status":
		f.agents()
	case "events":
		for _, w := range eventWords() {
			f.offer(w, "")
		}
	case "remove":
		if n == 0 {
			f.gone()
		}
	case "claim", "ack":
		if n == 0 {
			f.work()
		}
	case "publish":
		if n == 0 {
			f.topics()
		}
	case "unsubscribe":
		f.subscribed()
	case "read", "reply", "trace":
		if n == 0 {
			f.mail(nil)
		}
	case "tasks":
		if n == 0 {
			f.tasks()
		}
	case "cancel":
		if n == 0 {
			f.waiting()
		}
	case "dead show":
		if n == 0 {
			f.dead()
		}
	case "dead retry", "dead purge":
		f.dead()
	case "budget raise":
		if n == 0 {
			f.budgets()
		}
	case "verify":
		if n == 0 {
			f.verifiers()
		}
	case "merge", "merge show":
		if n == 0 {
			f.branches()
		}
	case "webhooks test":
		if n == 0 {
			f.webhooks()
		}
	case "completion":
		if n == 0 {
			for _, shell := range []string{"bash", "zsh", "fish"} {
				f.offer(shell, "")
			}
		}
	}
}

// agents offers the names of the project's agents. If there is no project or the
// configuration is invalid, it offers nothing, because the verb reports the error when it
// runs.
func (f *finder) agents(also ...string) {
	p, err := loadProject(f.c)
	if err != nil {
		return
	}
	for _, a := range p.file.Agents {
		f.offer(a.Name, a.Role)
	}
	if slices.Contains(also, dropbox.All) {
		tags := p.file.Tags()
		for _, tag := range slices.Sorted(maps.Keys(tags)) {
			f.offer(client.TagMark+tag, strings.Join(tags[tag], ", "))
		}
	}
	for _, name := range also {
		f.offer(name, map[string]string{dropbox.Lead: "the person who steers the agents", dropbox.All: "every agent"}[name])
	}
}

// budgets offers the scopes that have a cap.
func (f *finder) budgets() {
	st, err := statusOf(f.c, nil) // the arguments of f.c are the words to complete
	if err != nil || st.Budget == nil {
		return
	}
	for _, row := range st.Budget.Scopes {
		for _, cell := range row.Cells(st.Budget.Digits()) {
			f.offer(row.Scope, cell.Spent+" of "+cell.Cap)
			break
		}
	}
}

// gone offers the agents that have a mailbox but no entry in the configuration. If there are
// none, it offers the others, and says what comes first.
func (f *finder) gone() {
	f.withPost(func(p *post) {
		boxes, err := p.Store.Mailboxes()
		if err != nil {
			return
		}
		gone := slices.DeleteFunc(boxes, func(name string) bool { return !p.isGone(name) })
		for _, name := range gone {
			f.offer(name, "no longer in the configuration")
		}
		if len(gone) > 0 {
			return
		}
		for _, name := range p.file.Names() {
			f.offer(name, "first remove its entry from "+filepath.Base(p.file.Path))
		}
	})
}

// subscribed offers the patterns to which the agent of --agent or the caller subscribes.
func (f *finder) subscribed() {
	f.withPost(func(p *post) {
		has, err := topic.Of(p.Store).Subscriptions(cmp.Or(f.agent, p.Me.Name))
		if err != nil {
			return
		}
		for _, pattern := range has {
			f.offer(pattern, "")
		}
	})
}

// withPost calls do with the project's mailboxes if it can open them.
func (f *finder) withPost(do func(p *post)) {
	proj, err := loadProject(f.c)
	if err != nil {
		return
	}
	p, err := proj.openPost(f.c.Context)
	if err != nil {
		return
	}
	defer p.close()
	do(p)
}

// mail offers the messages in the caller's mailbox that are in one of the given states, or
// in any state if states is nil.
func (f *finder) mail(states []string) {
	f.withPost(func(p *post) {
		list, err := view.Inbox(p.Client, p.Me.Name, false)
		if err != nil {
			return
		}
		for _, m := range slices.Backward(list) {
			if states == nil || slices.Contains(states, m.State) {
				f.offer(m.ID, m.From+": "+screen.Cut(screen.OneLine(m.Gist()), 50))
			}
		}
	})
}

// tasks offers what people asked for, the newest first.
func (f *finder) tasks() {
	f.withPost(func(p *post) {
		list, err := view.TasksOf(p.Client, swarm.Status{}, view.TaskQuery{Open: true, Closed: true, Since: p.closedSince(time.Now())})
		if err != nil {
			return
		}
		for _, t := range slices.Backward(list.Tasks) {
			f.offer(t.ID, screen.Cut(screen.OneLine(t.Subject), 50))
		}
	})
}

// work offers the published work that is not done.
func (f *finder) work() {
	f.withPost(func(p *post) {
		list, err := p.OpenWork()
		if err != nil {
			return
		}
		for _, w := range list {
			f.offer(w.ID, w.Topic+": "+screen.Cut(screen.OneLine(w.Subject), 50))
		}
	})
}

// topics offers the topics to which somebody subscribes, but not the patterns.
func (f *finder) topics() {
	f.withPost(func(p *post) {
		subscribers, err := p.Subscriptions()
		if err != nil {
			return
		}
		by := map[string][]string{}
		for _, name := range slices.Sorted(maps.Keys(subscribers)) {
			for _, pattern := range subscribers[name] {
				if !strings.Contains(pattern, "*") {
					by[pattern] = append(by[pattern], name)
				}
			}
		}
		for _, topic := range slices.Sorted(maps.Keys(by)) {
			f.offer(topic, strings.Join(by[topic], ", "))
		}
	})
}

// halted offers the halted conversations.
func (f *finder) halted() {
	f.withPost(func(p *post) {
		list, err := p.Store.Threads().List()
		if err != nil {
			return
		}
		for _, t := range list {
			f.offer(t.Thread, t.Why)
		}
	})
}

// waiting offers the messages that cancel can take back.
func (f *finder) waiting() {
	f.withPost(func(p *post) {
		for _, name := range p.file.Names() {
			list, err := view.Inbox(p.Client, name, true)
			if err != nil {
				continue
			}
			for _, m := range list {
				f.offer(m.ID, "to "+name+": "+screen.Cut(screen.OneLine(m.Gist()), 50))
			}
		}
	})
}

// worked offers the messages on which an agent has worked, newest first.
func (f *finder) worked(agent string) {
	f.withPost(func(p *post) {
		records, err := p.Home.RecordsOf(agent)
		if err != nil || p.MaySee(agent) != nil {
			return
		}
		seen := map[string]bool{}
		for _, r := range slices.Backward(records) {
			if seen[r.Message] {
				continue
			}
			seen[r.Message] = true
			about := r.Begun.Local().Format(time.DateTime)
			if found, err := p.Store.Find(r.Message); err == nil {
				if m, err := p.Store.Load(found); err == nil {
					about = screen.Cut(screen.OneLine(m.Gist()), 50)
				}
			}
			f.offer(r.Message, about)
		}
	})
}

func (f *finder) dead() {
	f.withPost(func(p *post) {
		list, err := p.deadLetters()
		if err != nil {
			return
		}
		for _, d := range list {
			f.offer(d.ID, d.Mailbox+": "+screen.Cut(d.Reason, 50))
		}
	})
}

// verifiers offers the verifiers, each with its command line.
func (f *finder) verifiers() {
	p, err := loadProject(f.c)
	if err != nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(p.file.Verifiers)) {
		f.offer(name, p.file.Verifiers[name].Run)
	}
}

// branches offers the branches of the agents, each with its agent.
func (f *finder) branches() {
	p, err := locate(f.c)
	if err != nil {
		return
	}
	trees, err := worktree.Open(durable.Files{}, p.home.WorktreesFile(), p.dir, nil)
	if err != nil {
		return
	}
	for _, t := range trees.List() {
		f.offer(merge.NameOf(t.Branch), t.Agent)
	}
}
