package standin

import (
	"fmt"
	"slices"
	"strings"
)

// options contains the command-line options.
type options struct {
	version, help   bool
	input, output   string // input: text, stream-json; output: text, json, stream-json
	verbose         bool
	replay          bool
	partial         bool
	sessionID       string
	resume          string
	resuming        bool // --resume was given
	cont            bool
	fork            bool
	noPersist       bool
	model           string
	mode            string // permission mode
	allowed, denied []string
	settings        string
	system          string // text appended to the system prompt
	systemFile      string
	noSnapshot      bool // the system prompt of an earlier process does not apply
	mcp             []string
	maxTurns        int
	budget          float64 // --max-budget-usd; 0 means none
	prompt          []string
}

// arity is the number of values that a flag takes.
type arity uint8

const (
	none arity = iota
	one
	maybe // one, unless the next word is a flag
	many  // all words up to the next flag
)

// flags contains the flags that the real program's --help lists, plus the hidden ones
// that a daemon uses. Flags without a field in options are accepted, as in the real
// program, but have no effect.
var flags = map[string]arity{
	"--add-dir": many, "--agent": one, "--agents": one, "--allow-dangerously-skip-permissions": none,
	"--allowedTools": many, "--allowed-tools": many, "--append-system-prompt": one, "--append-system-prompt-file": one,
	"--bare": none, "--betas": many, "--continue": none, "--dangerously-skip-permissions": none, "--debug": maybe,
	"--debug-file": one, "--disable-slash-commands": none, "--disallowedTools": many, "--disallowed-tools": many,
	"--effort": one, "--fallback-model": one, "--fork-session": none, "--help": none, "--include-hook-events": none,
	"--include-partial-messages": none, "--input-format": one, "--json-schema": one, "--max-budget-usd": one,
	"--max-turns": one, "--mcp-config": many, "--mcp-debug": none, "--model": one, "--name": one,
	"--no-session-persistence": none, "--output-format": one, "--permission-mode": one,
	"--permission-prompt-tool": one, "--plugin-dir": one, "--print": none, "--replay-user-messages": none,
	"--resume": maybe, "--session-id": one, "--setting-sources": one, "--settings": one, "--strict-mcp-config": none,
	"--system-prompt": one, "--system-prompt-file": one, "--tools": many, "--verbose": none, "--version": none,
}

var short = map[string]string{
	"-c": "--continue", "-d": "--debug", "-h": "--help", "-n": "--name", "-p": "--print", "-r": "--resume", "-v": "--version",
}

var modes = []string{"acceptEdits", "auto", "bypassPermissions", "default", "dontAsk", "plan"}

// A complaint is an error with the exact text of the real program, which prints it to
// standard error and exits with 1.
type complaint string

func (c complaint) Error() string { return string(c) }

// complain formats a complaint like [fmt.Sprintf].
func complain(format string, args ...any) complaint {
	return complaint(fmt.Sprintf(format, args...))
}

// parseOptions parses the command line. Its errors are complaints.
func parseOptions(args []string, r release) (*options, error) {
	o := &options{input: "text", output: "text", mode: "default"}
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			o.prompt = append(o.prompt, args[i+1:]...)
			break
		}
		if len(word) < 2 || word[0] != '-' {
			o.prompt = append(o.prompt, word)
			continue
		}
		name, value, joined := strings.Cut(word, "=")
		if long, ok := short[name]; ok {
			name = long
		}
		takes, known := r.flag(name)
		if !known {
			return nil, complain("error: unknown option '%s'", word)
		}
		var values []string
		if joined {
			values = []string{value}
		}
		for takes != none && i+1 < len(args) && (len(values) == 0 || takes == many && !joined) {
			next := args[i+1]
			if takes != one && len(next) > 1 && next[0] == '-' {
				break
			}
			values = append(values, next)
			i++
		}
		if takes == one && len(values) == 0 {
			return nil, complain("error: option '%s <value>' argument missing", name)
		}
		if err := o.set(name, values); err != nil {
			return nil, err
		}
	}
	return o, o.check()
}

// set sets one flag with its values.
func (o *options) set(name string, values []string) error {
	value := ""
	if len(values) > 0 {
		value = values[0]
	}
	switch name {
	case "--version":
		o.version = true
	case "--help":
		o.help = true
	case snapshotFlag:
		o.noSnapshot = value == "off"
	case "--input-format":
		o.input = value
	case "--output-format":
		o.output = value
	case "--verbose":
		o.verbose = true
	case "--replay-user-messages":
		o.replay = true
	case "--include-partial-messages":
		o.partial = true
	case "--session-id":
		o.sessionID = value
	case "--resume":
		o.resume, o.resuming = value, true
	case "--continue":
		o.cont = true
	case "--fork-session":
		o.fork = true
	case "--no-session-persistence":
		o.noPersist = true
	case "--model":
		o.model = value
	case "--permission-mode":
		o.mode = value
	case "--dangerously-skip-permissions":
		o.mode = "bypassPermissions"
	case "--allowedTools", "--allowed-tools":
		o.allowed = append(o.allowed, splitRules(values)...)
	case "--disallowedTools", "--disallowed-tools":
		o.denied = append(o.denied, splitRules(values)...)
	case "--settings":
		o.settings = value
	case "--append-system-prompt":
		o.system = value
	case "--append-system-prompt-file":
		o.systemFile = value
	case "--mcp-config":
		o.mcp = append(o.mcp, values...)
	case "--max-budget-usd":
		return o.setCap(value)
	case "--max-turns":
		if _, err := fmt.Sscan(value, &o.maxTurns); err != nil {
			return complain("error: option '--max-turns <turns>' argument '%s' is invalid", value)
		}
	}
	return nil
}

// check checks the combinations of flags.
func (o *options) check() error {
	stream := o.output == "stream-json"
	switch {
	case o.version, o.help:
		return nil
	case !slices.Contains(modes, o.mode):
		return complain("error: option '--permission-mode <mode>' argument '%s' is invalid. Allowed choices are %s.",
			o.mode, strings.Join(modes, ", "))
	case o.sessionID != "" && !isUUID(o.sessionID):
		return complaint("Error: Invalid session ID. Must be a valid UUID.")
	case o.sessionID != "" && (o.cont || o.resuming) && !o.fork:
		return complaint("Error: --session-id can only be used with --continue or --resume if --fork-session is also specified.")
	case stream && !o.verbose:
		return complaint("Error: When using --print, --output-format=stream-json requires --verbose")
	case o.input == "stream-json" && !stream:
		return complaint("Error: --input-format=stream-json requires output-format=stream-json.")
	case o.system != "" && o.systemFile != "":
		return complaint("Error: Cannot use both --append-system-prompt and --append-system-prompt-file. Please use only one.")
	}
	return nil
}

// splitRules splits the values of --allowedTools at commas and spaces that are not inside
// parentheses, so "Bash(git *),Edit Read" is three rules.
func splitRules(values []string) []string {
	var rules []string
	for _, v := range values {
		depth := 0
		rules = append(rules, strings.FieldsFunc(v, func(r rune) bool {
			switch r {
			case '(':
				depth++
			case ')':
				depth--
			}
			return depth == 0 && (r == ',' || r == ' ')
		})...)
	}
	return rules
}

// isUUID reports whether s has the format of a UUID, in upper or lower case.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		switch c := s[i]; {
		case i == 8 || i == 13 || i == 18 || i == 23:
			if c != '-' {
				return false
			}
		case c >= '0' && c <= '9', c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		default:
			return false
		}
	}
	return true
}
