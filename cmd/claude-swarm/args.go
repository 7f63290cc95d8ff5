package main

import (
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

// A commandLine is a command line reordered for the library's flag parser, which requires
// flags to come before arguments. People also write flags last, as in `logs coder -f`.
// Version 3 of the library accepts flags anywhere, but its parser stops at an argument
// such as "- one", even if flags follow, and it treats "-a list" and " --json " as flags;
// see the examples in TestArrange.
type commandLine struct {
	args  []string
	chain []*cli.Command // the verb, then its subcommand
	help  bool           // the command line asks for help
}

// arrange moves flags before arguments and finds the verb. For an unknown verb or flag, it
// returns an error that suggests the most similar name. Everything after -- is an argument.
func arrange(app *cli.App, args []string) (commandLine, error) {
	line := commandLine{args: args[:1:1]}
	rest := args[1:]
	if len(rest) > 0 && rest[0] == "--version" { // accepted because most programs have this flag
		rest = append([]string{"version"}, rest[1:]...)
	}
	commands, flags := app.Commands, app.Flags
	for {
		level, operands, err := split(rest, flags, app.Flags, len(line.chain) > 0 && len(commands) == 0)
		if err != nil {
			return line, err.in(line.chain, args[1:])
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
			n := len(line.chain)
			if n == 0 { // a command line without a verb shows the help
				line.help = true
			} else if !line.help && line.chain[n-1].Action == nil {
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
		if c == nil && takesArguments(line.chain) {
			commands, rest = nil, operands // the verb takes operands as well as subcommands
			continue
		}
		if c == nil {
			return line, unknownVerb(line.chain, commands, name, args[1:], len(args)-1-len(operands))
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

// takesArguments reports whether the last verb of a chain also has arguments, besides subcommands,
// as in merge ID.
func takesArguments(chain []*cli.Command) bool {
	return len(chain) > 0 && chain[len(chain)-1].ArgsUsage != ""
}

// A level contains the flags that [split] finds for the program, a verb or a subcommand.
type level struct {
	flags  []string // with their values
	global []string // flags of the program, which may follow the verb
	help   bool
	span   optional
}

// An optional is a flag that accepts a time span but was typed without =SPAN, together
// with the next word, which may be the span.
type optional struct {
	flag int  // index of the flag in level.flags
	word int  // index of the word in the operands
	left int  // number of arguments after the flag
	set  bool // the command line has such a flag
}

// split separates args into flags and operands. Unless all is set, it stops at the first
// operand, which is a verb or a subcommand.
func split(args []string, flags, global []cli.Flag, all bool) (l level, operands []string, _ *flagError) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if arg == "--" {
			operands = append(operands, args...)
			break
		}
		if !isFlag(arg) {
			operands = append(operands, arg)
			if !all {
				return l, append(operands, args...), nil
			}
			continue
		}
		name, value, hasValue := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		if name == "help" || name == "h" {
			l.help = true
			continue
		}
		into, f := &l.flags, lookup(flags, name)
		if f == nil {
			into, f = &l.global, lookup(global, name)
		}
		if f == nil && isShort(arg, flags) {
			l.flags = append(l.flags, arg[:2], arg[2:])
			continue
		}
		if f == nil {
			return l, nil, &flagError{name: name, flags: flags, left: len(args)}
		}
		left := len(args)
		*into = append(*into, arg)
		switch {
		case hasValue:
		case !takesValue(f):
			if all && takesSpan(f) && len(args) > 0 && likeSpan(args[0]) {
				l.span = optional{flag: len(*into) - 1, word: len(operands), left: left, set: true}
				operands = append(operands, args[0])
				args = args[1:]
			}
			continue
		case len(args) == 0:
			return l, nil, &flagError{name: name, left: left, err: errNoValue}
		default:
			value, args = args[0], args[1:]
			*into = append(*into, value)
		}
		if err := checkValue(f, value); err != nil {
			return l, nil, &flagError{name: name, left: left, value: value, err: err}
		}
	}
	operands, err := l.assignSpan(operands)
	return l, operands, err
}

// isShort reports whether arg is a one-letter flag directly followed by a number, such as
// -n1.
func isShort(arg string, flags []cli.Flag) bool {
	if len(arg) < 3 || arg[1] == '-' || strings.Trim(arg[2:], "0123456789") != "" {
		return false
	}
	f := lookup(flags, arg[1:2])
	return f != nil && takesValue(f)
}

// assignSpan decides whether the word after an optional flag is the flag's time span. The
// word is the span only if it is the last word and the message still has text without it.
// Otherwise, the word may be part of the text, and assignSpan returns an error.
func (l *level) assignSpan(operands []string) ([]string, *flagError) {
	if !l.span.set {
		return operands, nil
	}
	flag, word := &l.flags[l.span.flag], operands[l.span.word]
	wrong := &flagError{name: strings.TrimLeft(*flag, "-"), left: l.span.left, value: word}
	text := len(operands) > 2 || slices.ContainsFunc(l.flags, func(f string) bool { return strings.HasPrefix(strings.TrimLeft(f, "-"), "file") })
	if l.span.word != len(operands)-1 || !text {
		wrong.err = errUnclearSpan
		return operands, wrong
	}
	if wrong.err = new(optionalSpan).Set(word); wrong.err != nil {
		return operands, wrong
	}
	*flag += "=" + word
	return operands[:l.span.word], nil
}
