package config

import (
	"errors"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"unicode"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/dropbox/topic"
)

// ToolServer is the client's name for the MCP server that claude-swarm itself gives an
// agent.
const ToolServer = "dead-drop"

// A channel name may contain these placeholders for the project's slug and a task's id.
const (
	slugMark = "{slug}"
	taskMark = "{task-id}"
)

// A rule converts a string to its final value, or returns an Error about it.
type rule func(r *reader, s string) (string, *Error)

// rules maps each name that the tag "is" may contain to its rule.
var rules = map[string]rule{
	"word": fits("must be one word that does not begin with -", "", func(s string) bool {
		return !strings.ContainsFunc(s, unicode.IsSpace) && !strings.HasPrefix(s, "-")
	}),
	"path":     func(r *reader, s string) (string, *Error) { return inFolder(r.dir, s) },
	"cwd":      func(r *reader, s string) (string, *Error) { return inFolder(r.project, s) },
	"program":  program,
	"backend":  backend,
	"variable": matches(`^[A-Za-z_][A-Za-z0-9_]*$`, "is not the name of a variable", "the name of the variable, not its value"),
	"name":     matches(`^[A-Za-z_][A-Za-z0-9_]*$`, "is not the name of a variable", ""),
	"free":     fits("is set by claude-swarm itself", "", func(s string) bool { return !strings.HasPrefix(s, "CLAUDE_SWARM_") }),
	"drop":     matches(`^[A-Za-z_][A-Za-z0-9_]*\*?$`, "is neither a NAME nor a PREFIX_*", ""),
	"ours":     fits("is claude-swarm's own server", "another name; mcp: false removes ours", func(s string) bool { return s != ToolServer }),
	// The name of a server becomes part of the names of its tools.
	"server": matches(`^[A-Za-z0-9][A-Za-z0-9_-]{0,31}$`, "cannot name a server; want up to 32 letters, digits, - and _", ""),
	"header": matches(`^[A-Za-z0-9-]+$`, "cannot be the name of a header", ""),
	"url":    matches(`^https?://[^ \t"<>]*[^ \t"<>/][^ \t"<>]*$`, "is not the address of a server", "url: https://example.com/mcp"),
	"host":   host,
	"slug":   slug,
	// Only the IRC server can decide whether a nick is acceptable; the bridge finds out
	// when it connects.
	"nick": fits("is not a possible nick", "", func(s string) bool {
		return len(s) <= 32 && (s[0] < '0' || s[0] > '9') && !strings.ContainsFunc(s, func(c rune) bool { return c > '~' || strings.ContainsRune("!@#&*?,.:;/\"'$%()+<=>", c) })
	}),
	"channel":   channel,
	"shown":     shownIn,
	"work":      fits("lacks "+taskMark, "", func(s string) bool { return strings.Contains(s, taskMark) }),
	"mask":      matches(`!.*@`, "is not a mask", `mask: "*!*@host.example"`),
	"certain":   matches(`^[^!]*![^@]*@.*[^*?.]`, "matches everybody: the host must identify the person", `mask: "*!*@host.example"`),
	"pattern":   pattern,
	"call":      call,
	"own":       editable,
	"protected": protected,
	"verifier":  matches(`^[a-z0-9][a-z0-9_-]{0,31}$`, "cannot name a verifier; want up to 32 letters a-z, digits, - and _", ""),
	"zone":      zone,
	"hours":     work,
	"daily":     daily,
	"hook":      matches(`^[a-z0-9][a-z0-9_-]{0,31}$`, "cannot name a webhook; want up to 32 letters a-z, digits, - and _", ""),
	"tag":       func(_ *reader, s string) (string, *Error) { return s, badName("tag", s) },
}

// fits creates a rule from a predicate.
func fits(problem, try string, good func(string) bool) rule {
	return func(_ *reader, s string) (string, *Error) {
		if !good(s) {
			return "", wrong(try, "%q %s", s, problem)
		}
		return s, nil
	}
}

// matches creates a rule from a pattern, which it compiles on first use.
func matches(pattern, problem, try string) rule {
	compiled := sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
	return fits(problem, try, func(s string) bool { return compiled().MatchString(s) })
}

// inFolder makes the path of a folder or a file absolute. If dir is "", a relative path
// stays relative.
func inFolder(dir, path string) (string, *Error) {
	if path[0] == '~' && path != "~" && path[1] != '/' {
		return "", wrong("", "%q: only ~/ is supported, not another person's home", path)
	}
	return resolve(dir, path)
}

// resolve makes a path absolute: ~ means the home folder, and a relative path is relative
// to dir.
func resolve(dir, path string) (string, *Error) {
	switch home, err := os.UserHomeDir(); {
	case dir == "", filepath.IsAbs(path):
		return filepath.Clean(path), nil
	case path != "~" && !strings.HasPrefix(path, "~/"):
		return filepath.Join(dir, path), nil
	case err != nil:
		return "", wrong("", "%v", err)
	default:
		return filepath.Join(home, path[1:]), nil
	}
}

// program reads the name of a program. A name with a slash is a path; any other name is
// looked up in PATH.
func program(r *reader, s string) (string, *Error) {
	if !strings.Contains(s, "/") {
		return s, nil
	}
	return resolve(r.dir, s)
}

func backend(r *reader, s string) (string, *Error) {
	known := kindNames(r.clients())
	if slices.Contains(known, s) {
		return s, nil
	}
	return "", unlike(s, known, "%q is unknown; this version has %s", s, or(known))
}

// host reads the address of an IRC server, in the format host or host:port.
func host(_ *reader, s string) (string, *Error) {
	if _, rest, isURL := strings.Cut(s, "://"); isURL {
		host, _, _ := strings.Cut(rest, "/")
		return "", wrong("server: "+host, "want host or host:port, got the URL %s", s)
	}
	host, port, err := net.SplitHostPort(s)
	if err != nil { // there is no port
		host, port = strings.Trim(s, "[]"), "1"
	}
	if number, err := strconv.ParseUint(port, 10, 16); err != nil || number == 0 {
		return "", wrong("server: "+net.JoinHostPort(host, "6697"), "%q is not a port: a port is a number from 1 to 65535", port)
	}
	if host == "" || strings.ContainsAny(host, "/@#,") || strings.Contains(host, ":") && net.ParseIP(host) == nil {
		return "", wrong("server: irc.example.net:6697", "%q is neither host nor host:port", s)
	}
	return s, nil
}

func slug(_ *reader, s string) (string, *Error) {
	if s != slugOf(s) {
		return "", wrong("slug: "+slugOf(s), "%q: want lower-case letters, digits and -", s)
	}
	return s, nil
}

// slugOf converts any name to a slug.
func slugOf(name string) string {
	s := strings.Trim(strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '-' || c == '_' {
			return c
		}
		return '-'
	}, strings.ToLower(name)), "-")
	if s == "" {
		return "swarm"
	}
	return s[:min(len(s), 30)]
}

// channel reads the name of a channel. The leading # may be omitted, because it begins a
// comment in YAML.
func channel(_ *reader, s string) (string, *Error) {
	if !strings.ContainsRune("#&+!", rune(s[0])) {
		s = "#" + s
	}
	if len(s) < 2 || len(s) > 64 || strings.ContainsAny(s, ",:") {
		return "", wrong("", "%q cannot be the name of a channel", s)
	}
	return s, nil
}

// shownIn reads the name of a channel, or the word none.
func shownIn(r *reader, s string) (string, *Error) {
	if s == "none" {
		return "", nil
	}
	return channel(r, s)
}

// pattern reads a topic pattern.
func pattern(_ *reader, s string) (string, *Error) {
	if err := topic.CheckPattern(s); err != nil {
		return "", wrong(`"task.*", or "task.>" for all topics below task`, "%v", err)
	}
	return s, nil
}

// badName returns an Error about a name that no agent can have; the Error suggests a
// similar name. For a valid name, badName returns nil.
func badName(what, name string) *Error {
	err, ok := errors.AsType[*dropbox.NameError](dropbox.CheckAgent(name))
	if !ok {
		return nil
	}
	e := wrong("", "%s %q: %s", what, oneLine(name, 40), err.Reason)
	if low := strings.ToLower(name); low != name && dropbox.CheckAgent(low) == nil {
		e.Near = []string{low}
	}
	return e
}
