package main

import (
	"strings"

	"github.com/urfave/cli/v2"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// isFlag tells what counts as a flag: one or two dashes and a word, perhaps with
// = and a value. A text such as "- one" or "-5 degrees" is an argument, so that
// a message may begin with a dash.
func isFlag(arg string) bool {
	word, dashed := strings.CutPrefix(arg, "-")
	word, _, _ = strings.Cut(strings.TrimPrefix(word, "-"), "=")
	if !dashed || word == "" || !isLetter(word[0]) {
		return false
	}
	for i := range len(word) {
		if c := word[i]; !isLetter(c) && c != '-' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

// A commandLine is a command line put in the order that the flag parser wants:
// it stops at the first argument, people write `logs coder -f`.
type commandLine struct {
	args  []string
	chain []*cli.Command // the verb, and the verb below it
	help  bool           // help was asked for
}

// arrange puts flags before arguments, finds the verb, and refuses verbs and
// flags that do not exist, naming the nearest. Everything after -- is an
// argument.
func arrange(app *cli.App, args []string) (commandLine, error) {
	line := commandLine{args: args[:1:1]}
	rest := args[1:]
	if len(rest) > 0 && rest[len(rest)-1] == "--generate-bash-completion" {
		line.args = args
		return line, nil
	}
	if len(rest) > 0 && rest[0] == "--version" { // as most programs have it
		rest = append([]string{"version"}, rest[1:]...)
	}
	commands, flags := app.Commands, app.Flags
	for {
		level, operands, err := split(rest, flags, app.Flags, len(line.chain) > 0 && len(commands) == 0)
		if err != nil {
			return line, err.in(line.chain)
		}
		line.help = line.help || level.help
		line.args = append(line.args[:1:1], append(level.global, line.args[1:]...)...)
		line.args = append(line.args, level.flags...)
		if len(commands) == 0 {
			if len(operands) > 0 {
				line.args = append(append(line.args, "--"), operands...)
			}
			return line, nil
		}
		if len(operands) == 0 {
			if n := len(line.chain); !line.help && (n == 0 || line.chain[n-1].Action == nil) {
				return line, noVerb(line.chain)
			}
			return line, nil
		}
		name := operands[0]
		if name == "help" && len(line.chain) == 0 {
			line.help = true
			rest = operands[1:]
			continue
		}
		c := find(commands, name)
		if c == nil {
			return line, unknownVerb(line.chain, commands, name)
		}
		line.chain = append(line.chain, c)
		line.args = append(line.args, c.Name)
		if c.SkipFlagParsing {
			line.args = append(line.args, operands[1:]...)
			return line, nil
		}
		commands, flags, rest = c.Subcommands, c.Flags, operands[1:]
	}
}

// A level is what split found of one verb.
type level struct {
	flags  []string // with their values
	global []string // flags of the program that stood behind the verb
	help   bool
}

// A flagError becomes a message when the verb is known.
type flagError struct {
	name  string // as typed
	flags []cli.Flag
	value bool // its value is missing
}

// split takes the flags out of args. Unless all is set it stops at the first
// operand, which is a verb.
func split(args []string, flags, global []cli.Flag, all bool) (l level, operands []string, _ *flagError) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			return l, append(operands, args...), nil
		}
		if !isFlag(arg) {
			operands = append(operands, arg)
			if !all {
				return l, append(operands, args...), nil
			}
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "help" || name == "h" {
			l.help = true
			continue
		}
		into, f := &l.flags, lookup(flags, name)
		if f == nil {
			into, f = &l.global, lookup(global, name)
		}
		if f == nil {
			return l, nil, &flagError{name: name, flags: flags}
		}
		*into = append(*into, arg)
		if hasValue || !takesValue(f) {
			continue
		}
		if len(args) == 0 {
			return l, nil, &flagError{name: name, value: true}
		}
		*into = append(*into, args[0])
		args = args[1:]
	}
	return l, operands, nil
}

func lookup(flags []cli.Flag, name string) cli.Flag {
	for _, f := range flags {
		for _, n := range f.Names() {
			if n == name {
				return f
			}
		}
	}
	return nil
}

// takesValue tells whether the next argument belongs to f. A flag such as
// --wait[=D], which may stand alone, has a value with IsBoolFlag.
func takesValue(f cli.Flag) bool {
	if g, ok := f.(*cli.GenericFlag); ok {
		b, ok := g.Value.(interface{ IsBoolFlag() bool })
		return !ok || !b.IsBoolFlag()
	}
	_, isBool := f.(*cli.BoolFlag)
	return !isBool
}

func find(commands []*cli.Command, name string) *cli.Command {
	for _, c := range commands {
		if c.HasName(name) {
			return c
		}
	}
	return nil
}

// path is how a verb is typed: "claude-swarm dead list".
func path(chain []*cli.Command) string {
	words := []string{"claude-swarm"}
	for _, c := range chain {
		words = append(words, c.Name)
	}
	return strings.Join(words, " ")
}

func helpFor(chain []*cli.Command) string {
	return strings.Replace(path(chain), "claude-swarm", "claude-swarm help", 1)
}

func noVerb(chain []*cli.Command) error {
	if len(chain) == 0 {
		return usagef("claude-swarm help", "a verb is missing")
	}
	return usagef(helpFor(chain), "%s: a verb is missing", chain[len(chain)-1].Name)
}

func unknownVerb(chain, commands []*cli.Command, name string) error {
	var known []string
	for _, c := range commands {
		if !c.Hidden {
			known = append(known, c.Name)
		}
	}
	if near := nearest(name, known); near != "" {
		return usagef(path(chain)+" "+near, "no verb %q; did you mean %s?", name, near)
	}
	return usagef(helpFor(chain), "no verb %q", name)
}

func (e *flagError) in(chain []*cli.Command) error {
	dashed := dashes(e.name)
	if e.value {
		return usagef(helpFor(chain), "%s needs a value", dashed)
	}
	var known []string
	for _, f := range e.flags {
		known = append(known, f.Names()...)
	}
	if near := nearest(e.name, known); near != "" {
		return usagef(path(chain)+" "+dashes(near), "no flag %s; did you mean %s?", dashed, dashes(near))
	}
	return usagef(helpFor(chain)+"   (a text that begins with a dash goes after --)", "no flag %s", dashed)
}

func dashes(name string) string {
	if len(name) == 1 {
		return "-" + name
	}
	return "--" + name
}

// nearest is the one of known that name was most likely meant to be, or "".
func nearest(name string, known []string) string {
	if near := dropbox.Nearest(name, known); len(near) > 0 {
		return near[0]
	}
	return ""
}
