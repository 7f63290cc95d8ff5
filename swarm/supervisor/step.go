package supervisor

import (
	"bytes"
	"encoding/json"
	"hash/maphash"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/claude-swarm/claude-swarm/internal/screen"
	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// A Step is one message from an agent and the results of its tool calls.
type Step struct {
	Parent string // the call that started the sub-agent that took the step; "" if the agent itself took it
	Text   string // the beginning of the message's text
	Calls  []Call

	reply string // the client's id for the message; "" if the message has no id
	part  int    // increases with each message and compaction; steps of different parts are not compared
	seen  bool   // the rules have judged the step
}

// A Call is one tool call in a step.
type Call struct {
	Tool    string
	About   string // the command, path or address; for other calls the beginning of the input
	Command string // the command line, if the call runs one
	File    string // the file that the call changes if it succeeds, or ""
	Result  string // the beginning of the result
	Done    bool   // the call has a result
	Failed  bool
	Waits   bool // the call only waits for somebody or for remote work
	Ours    bool // the call uses one of the swarm's tools

	id      string
	input   uint64 // hash of the tool and its input
	result  uint64 // hash of the result
	failure string // see failureOf; "" if the call did not fail
	fresh   bool   // no earlier call in the same part had the same input and result
}

// Maximum widths, in columns, of the strings in a step; see [screen.Short].
const (
	mostText  = 600
	mostAbout = 200
)

var seed = maphash.MakeSeed()

func newCall(tools runner.Tools, b *streamjson.Block) Call {
	c := Call{id: strings.Clone(b.ID), Tool: strings.Clone(b.Name)}
	c.Ours = strings.HasPrefix(c.Tool, "mcp__"+runner.ToolServer+"__")
	c.Command = strings.Clone(tools.Runs(b.Name, b.Input))
	c.File = strings.Clone(tools.Changes(b.Name, b.Input))
	c.About = screen.Short(cmpOr(c.Command, tools.About(b.Name, b.Input), string(b.Input)), mostAbout)
	c.Waits = tools.Waits(b.Name, b.Input) || c.Ours && (strings.HasSuffix(c.Tool, "__ask") || strings.HasSuffix(c.Tool, "__irc_ask")) || pauses(c.Command)
	what := []byte(c.Command)
	if c.Command == "" {
		what = withoutNotes(b.Input)
	}
	c.input = maphash.Bytes(seed, slices.Concat([]byte(c.Tool), []byte{0}, what))
	return c
}

func cmpOr(texts ...string) string {
	for _, text := range texts {
		if text != "" {
			return strings.Clone(text)
		}
	}
	return ""
}

// withoutNotes returns an input in canonical form, without the description that the model
// writes for people.
func withoutNotes(input json.RawMessage) []byte {
	var fields map[string]any
	d := json.NewDecoder(bytes.NewReader(input))
	d.UseNumber()
	if d.Decode(&fields) != nil {
		return input
	}
	delete(fields, "description")
	canonical, _ := json.Marshal(fields) // a value decoded from JSON can always be encoded
	return canonical
}

// answer adds the result of the call.
func (c *Call) answer(b *streamjson.Block) {
	c.Done, c.Failed = true, b.Failed
	text := plainResult(b.Text)
	c.Result = screen.Short(b.Text, mostAbout)
	mark := "="
	if c.Failed {
		mark = "x"
		c.failure = failureOf(c, text)
	}
	c.result = maphash.String(seed, mark+text)
}

// lasted matches durations such as 0.034s or 12.5 ms, which differ from run to run.
var lasted = compiled(`\b\d+\.\d+ ?(?:ns|µs|us|ms|s|sec|secs|second|seconds)\b`)

// plainResult replaces every duration in a result with 0s.
func plainResult(text string) string {
	return lasted().ReplaceAllLiteralString(strings.TrimSpace(text), "0s")
}

// exitLine is the line in which Claude Code reports the exit status of a command.
var exitLine = compiled(`^(?:Error: )?Exit code \d+\n`)

// failureOf returns a string that identifies a failure. It is the same for all calls with
// the same program, file or address that fail with the same text. For a failure without
// text, it is the same only for the same call.
func failureOf(c *Call, text string) string {
	about := c.About
	if c.Command != "" {
		about = program(c.Command)
		text = exitLine().ReplaceAllString(text, "")
	} else {
		text, _, _ = strings.Cut(text, "\n")
	}
	if text == "" || strings.HasPrefix(text, "Exit code ") {
		about = c.About
	}
	return strings.Join([]string{c.Tool, about, text}, "\x00")
}

// program returns the program of a command, and the next word unless it is a flag.
func program(command string) string {
	if head, tail, ok := strings.Cut(command, "&&"); ok && strings.HasPrefix(command, "cd ") && !strings.ContainsAny(head, ";|") {
		command = tail
	}
	words := strings.Fields(command)
	switch {
	case len(words) == 0:
		return ""
	case len(words) > 1 && !strings.HasPrefix(words[1], "-"):
		return words[0] + " " + words[1]
	}
	return words[0]
}

// pause matches commands that only wait, such as sleep and claude-swarm ask.
var pause = compiled(`(?:^|[\s;&|(])(?:sleep\s+[\d$.]|claude-swarm\s(?:.*\s)?(?:ask|wait|watch|--wait\S*)(?:\s|$))`)

func pauses(command string) bool { return pause().MatchString(command) }

// reads matches commands whose program does not change files.
var reads = compiled(`^\s*(?:cat|head|tail|ls|pwd|grep|rg|wc|which|file|stat|du|df|ps|date|echo|tree|git\s+(?:status|log|diff|show|blame|grep|ls-files|rev-parse))(?:\s|$)`)

// onlyReads reports whether a command is certain not to change a file.
func onlyReads(command string) bool {
	if strings.ContainsAny(command, "><`$(") {
		return false
	}
	for part := range strings.FieldsFuncSeq(command, func(r rune) bool { return r == '|' || r == ';' || r == '&' || r == '\n' }) {
		if strings.TrimSpace(part) != "" && !reads().MatchString(part) {
			return false
		}
	}
	return true
}

// changes reports whether the call may have changed a file, and no earlier call made the
// same change.
func (c *Call) changes() bool {
	switch {
	case !c.Done || !c.fresh:
		return false
	case c.File != "":
		return !c.Failed
	}
	return c.Command != "" && !c.Waits && !onlyReads(c.Command)
}

// looks reports whether the call succeeded and only read something.
func (c *Call) looks() bool {
	return !c.Failed && c.File == "" && (c.Command == "" || onlyReads(c.Command))
}

// counts reports whether the step counts as work. It does if at least one of its finished
// calls neither waited nor used one of the swarm's tools.
func (s *Step) counts() bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Done && !c.Waits && !c.Ours })
}

// open reports whether any call in the step still has no result.
func (s *Step) open() bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return !c.Done })
}

// changes reports whether any call in the step changes a file.
func (s *Step) changes() bool {
	return slices.ContainsFunc(s.Calls, func(c Call) bool { return c.changes() })
}

// compiled returns a function that compiles a pattern on its first call, because most
// claude-swarm commands, such as send, do not need any pattern.
func compiled(pattern string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(pattern) })
}
