package supervisor_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/streamjson"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
	"github.com/claude-swarm/claude-swarm/swarm/runner/backends"
)

// A recording contains an agent's activity as the events of one or more turns.
type recording struct {
	name     string
	kind     *runner.Kind
	readonly bool
	turns    []turnEvents
}

// turnEvents are the events of one turn and the message that the turn works on.
type turnEvents struct {
	message string
	events  []streamjson.Event
}

// scripts reads a file in testdata/calm or testdata/loops. Each recording begins with
//
//	== NAME (KIND, readonly)
//
// where either of the words in parentheses may be missing. If KIND is missing, the kind
// is claude. Each line is one message from the agent. A line that begins with "&"
// continues the message on the line before it:
//
//	> TEXT                          the agent says something
//	TOOL `INPUT` = RESULT           a call and its result; \n is a new line in it
//	TOOL `INPUT` x FAILURE          a call that fails
//	TOOL `INPUT` ...                a call without a result so far
//	3x TOOL …                       three calls; # in them becomes the number of the call
//	@NAME TOOL …                    a call by a sub-agent
//	--- turn, --- message           another turn, for the same message or for another
//	--- compact                     the client compacts its context
//
// INPUT is the JSON of the input, or only the command, path or address, optionally
// followed by "|" and another argument.
func scripts(t *testing.T, path string) (all []recording) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var w *writer
	done := func() {
		if w != nil {
			all = append(all, w.recording())
		}
	}
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if head, ok := strings.CutPrefix(line, "== "); ok {
			done()
			name, words, _ := strings.Cut(strings.TrimSuffix(head, ")"), " (")
			w = newWriter(name, "claude")
			for word := range strings.SplitSeq(words, ", ") {
				switch {
				case word == "readonly":
					w.rec.readonly = true
				case word != "":
					w.rec.kind = backends.Kind(word)
				}
			}
		} else if w != nil && line != "" {
			w.line(t, line)
		}
	}
	done()
	return all
}

// A writer creates a recording line by line.
type writer struct {
	rec      recording
	messages int // from people
	replies  int // messages from the model
	calls    int
}

func newWriter(name, kind string) *writer {
	w := &writer{rec: recording{name: name, kind: backends.Kind(kind)}}
	w.turn(true)
	return w
}

func (w *writer) recording() recording { return w.rec }

func (w *writer) turn(message bool) {
	if message {
		w.messages++
	}
	w.rec.turns = append(w.rec.turns, turnEvents{message: fmt.Sprint("m", w.messages)})
}

func (w *writer) emit(ev streamjson.Event) {
	ev.Session = "3d1b9b77-2bcd-4ef2-a2df-533428d84cb1"
	last := &w.rec.turns[len(w.rec.turns)-1]
	last.events = append(last.events, ev)
}

func (w *writer) says(parent string, b streamjson.Block) {
	ev := streamjson.Event{Kind: streamjson.KindAssistant, Parent: parent, Blocks: []streamjson.Block{b}}
	if w.rec.kind.Name == "claude" { // messages from other clients have no ids
		ev.MessageID = fmt.Sprint("msg_", w.replies)
	}
	w.emit(ev)
}

func (w *writer) line(t *testing.T, line string) {
	t.Helper()
	switch {
	case line == "--- turn", line == "--- message":
		w.turn(line == "--- message")
		return
	case line == "--- compact":
		w.emit(streamjson.Event{Kind: streamjson.KindCompact, Compact: &streamjson.Compact{Trigger: "auto"}})
		return
	case strings.HasPrefix(line, "> "):
		w.replies++
		w.says("", streamjson.Block{Kind: streamjson.BlockText, Text: line[2:]})
		return
	}
	rest, same := strings.CutPrefix(line, "& ")
	parent := ""
	if after, ok := strings.CutPrefix(rest, "@"); ok {
		parent, rest, _ = strings.Cut(after, " ")
	}
	n := 1
	if count, after, ok := strings.Cut(rest, "x "); ok {
		if i, err := strconv.Atoi(count); err == nil {
			n, rest = i, after
		}
	}
	tool, rest, ok1 := strings.Cut(rest, " `")
	input, rest, ok2 := strings.Cut(rest, "`")
	if !ok1 || !ok2 {
		t.Fatalf("%s: bad line %q", w.rec.name, line)
	}
	for i := range n {
		number := func(s string) string { return strings.ReplaceAll(s, "#", fmt.Sprint(i+1)) }
		mark, result, _ := strings.Cut(strings.TrimPrefix(rest, " "), " ")
		w.call(same, parent, tool, inputOf(tool, number(input)), mark, number(strings.ReplaceAll(result, `\n`, "\n")))
	}
}

// call adds a call, with its result unless mark is "...".
func (w *writer) call(same bool, parent, tool, input, mark, result string) {
	if !same {
		w.replies++
	}
	w.calls++
	id := fmt.Sprint("toolu_", w.calls)
	w.says(parent, streamjson.Block{Kind: streamjson.BlockToolUse, ID: id, Name: tool, Input: json.RawMessage(input)})
	if mark == "..." {
		return
	}
	w.emit(streamjson.Event{Kind: streamjson.KindUser, Parent: parent, Blocks: []streamjson.Block{
		{Kind: streamjson.BlockToolResult, ID: id, Text: result, Failed: mark == "x"},
	}})
}

// inputOf returns the input of a call, given its short form in a script.
func inputOf(tool, short string) string {
	if strings.HasPrefix(short, "{") {
		return short
	}
	more := ""
	if i := strings.LastIndexByte(short, '|'); i > 0 && !strings.HasPrefix(short[i:], "| ") {
		short, more = short[:i], short[i+1:]
	}
	keys := map[string][2]string{
		"Bash": {"command", "description"}, "Read": {"file_path", "offset"}, "Edit": {"file_path", "new_string"},
		"Write": {"file_path", "content"}, "Glob": {"pattern", "path"}, "Grep": {"pattern", "path"}, "WebFetch": {"url", "prompt"},
		"execute": {"command", "title"}, "read": {"path", "title"}, "edit": {"path", "title"}, "search": {"title", "path"},
	}[tool]
	in := map[string]string{keys[0]: short}
	if more != "" {
		in[keys[1]] = more
	}
	data, _ := json.Marshal(in)
	return string(data)
}

// recorded reads the streams under testdata, which were recorded while the real client
// ran our scripted turns. No agent is stuck, except in the recordings listed in
// repeating.
func recorded(t *testing.T) (all []recording) {
	t.Helper()
	for _, pattern := range []string{"transcripts/*.jsonl", "transcripts-330/*.jsonl", "errors/*/*.jsonl", "project-v1/recording/files/claude-swarm/turns/*.jsonl"} {
		paths, err := filepath.Glob(filepath.Join("../../testdata", pattern))
		if err != nil || len(paths) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(paths), err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			w := newWriter(strings.TrimPrefix(path, "../../testdata/"), "claude")
			last := &w.rec.turns[0]
			for d := streamjson.NewDecoder(bytes.NewReader(data), 0); ; {
				ev, err := d.Next()
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatalf("%s: %v", path, err)
				}
				last.events = append(last.events, *ev.Clone())
			}
			all = append(all, w.recording())
		}
	}
	return all
}

// unseen reports whether a recording belongs to the half of the recordings that was not
// used to tune the rules.
func unseen(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(name))
	return h.Sum32()%2 == 1
}

// An episode is a piece of ordinary work.
type episode func(r *rand.Rand, w *writer)

// day returns a day's work, which consists of episodes in an order that depends only on
// the seed. Even seeds were used to tune the rules, and odd seeds were not.
func day(seed uint64) recording {
	r := rand.New(rand.NewPCG(seed, 15))
	kind := "claude"
	if r.IntN(4) == 0 {
		kind = "codex"
	}
	w := newWriter(fmt.Sprint("day ", seed), kind)
	for range 4 + r.IntN(9) {
		episodes[r.IntN(len(episodes))](r, w)
	}
	return w.recording()
}

var episodes = []episode{explore, mend, mend, mend, refactor, look, poll, question, build, delegate, nextMessage, sayOnly, compacted, missing, network}

func (w *writer) do(tool, short, mark, result string) {
	if w.rec.kind.Name != "claude" {
		tool = map[string]string{"Bash": "execute", "Read": "read", "Edit": "edit", "Write": "edit", "Grep": "search", "Glob": "search"}[tool]
	}
	w.call(false, "", tool, inputOf(tool, short), mark, result)
}

func some(r *rand.Rand, ext string) string {
	return fmt.Sprintf("pkg%d/file%d.%s", r.IntN(4), r.IntN(12), ext)
}

// explore reads files and searches in them.
func explore(r *rand.Rand, w *writer) {
	for range 2 + r.IntN(9) {
		switch r.IntN(3) {
		case 0:
			word := fmt.Sprint("word", r.IntN(30))
			w.do("Grep", word, "=", "matches of "+word)
		default:
			name := some(r, "go")
			w.do("Read", name, "=", "content of "+name)
		}
	}
}

// mend edits and tests until the tests pass. About one in five edits does not change the
// failure.
func mend(r *rand.Rand, w *writer) {
	left, name := 1+r.IntN(4), some(r, "go")
	for command := fmt.Sprintf("go test ./pkg%d", r.IntN(4)); left > 0; {
		w.do("Bash", command, "x", fmt.Sprintf("Exit code 1\n--- FAIL: Test%d (0.0%ds)\nFAIL 0.%03ds", left, r.IntN(9), r.IntN(999)))
		for range r.IntN(3) {
			w.do("Read", name, "=", "content of "+name+fmt.Sprint(left))
		}
		w.do("Edit", fmt.Sprint(name, "|", r.Uint32()), "=", "The file "+name+" has been updated.")
		if r.IntN(5) > 0 {
			left--
		}
		if left == 0 {
			w.do("Bash", command, "=", fmt.Sprintf("ok 0.%03ds", r.IntN(999)))
		}
	}
}

// refactor changes many files, and runs the build from time to time.
func refactor(r *rand.Rand, w *writer) {
	for range 2 + r.IntN(6) {
		name := some(r, "go")
		if r.IntN(2) == 0 {
			w.do("Read", name, "=", "content of "+name)
		}
		w.do("Edit", fmt.Sprint(name, "|", r.Uint32()), "=", "The file "+name+" has been updated.")
		if r.IntN(2) == 0 {
			w.do("Bash", "go build ./...", "=", "")
		}
	}
}

// look shows the changes with git, and usually commits them.
func look(r *rand.Rand, w *writer) {
	changed := fmt.Sprint(" M file", r.IntN(99), ".go")
	w.do("Bash", "git status --short", "=", changed)
	if r.IntN(2) == 0 {
		w.do("Bash", "git diff", "=", fmt.Sprint("-a\n+", r.Uint32()))
	}
	if r.IntN(3) == 0 {
		return
	}
	w.do("Bash", fmt.Sprint("git commit -am ", r.Uint32()), "=", "[main] done")
	w.do("Bash", "git status --short", "=", "")
}

// poll waits for a remote run, with a sleep in the command.
func poll(r *rand.Rand, w *writer) {
	command := fmt.Sprintf("sleep %d && gh run view %d", 10*(1+r.IntN(6)), r.IntN(999))
	for range r.IntN(8) {
		w.do("Bash", command, "=", "in progress")
	}
	w.do("Bash", command, "=", "completed")
}

// question asks a person a question that is not answered immediately.
func question(r *rand.Rand, w *writer) {
	input := fmt.Sprintf(`{"to":"lead","question":"question %d"}`, r.IntN(9))
	for range r.IntN(5) {
		w.call(false, "", "mcp__dead-drop__ask", input, "x", "no answer yet")
	}
	w.call(false, "", "mcp__dead-drop__ask", input, "=", "yes")
}

// build runs make, and sometimes a linter, which fails once.
func build(r *rand.Rand, w *writer) {
	for range 1 + r.IntN(3) {
		w.do("Bash", fmt.Sprint("make target", r.IntN(6)), "=", fmt.Sprintf("built in %d.%ds", r.IntN(9), r.IntN(9)))
	}
	if r.IntN(2) == 0 {
		w.do("Bash", "make lint", "x", "Exit code 2\nunused variable")
		w.do("Edit", fmt.Sprint("a.go|", r.Uint32()), "=", "The file a.go has been updated.")
		w.do("Bash", "make lint", "=", "")
	}
}

// delegate makes several sub-agents read the same files.
func delegate(r *rand.Rand, w *writer) {
	if w.rec.kind.Name != "claude" {
		return
	}
	for range 1 + r.IntN(4) {
		sub := fmt.Sprint("toolu_sub", r.Uint32())
		w.call(false, sub, "Bash", inputOf("Bash", "git log --oneline -5"), "=", "1 one")
		for range r.IntN(6) {
			name := some(r, "go")
			w.call(false, sub, "Read", inputOf("Read", name), "=", "content of "+name)
		}
	}
}

func nextMessage(_ *rand.Rand, w *writer) { w.turn(true) }

func sayOnly(_ *rand.Rand, w *writer) {
	w.replies++
	w.says("", streamjson.Block{Kind: streamjson.BlockText, Text: "That is how it is."})
}

func compacted(_ *rand.Rand, w *writer) {
	w.emit(streamjson.Event{Kind: streamjson.KindCompact, Compact: &streamjson.Compact{Trigger: "auto"}})
}

// missing looks for files that do not exist.
func missing(r *rand.Rand, w *writer) {
	for range r.IntN(5) {
		w.do("Read", some(r, "yaml"), "x", "File does not exist.")
	}
}

// network repeats a command until it succeeds. The command fails at most twice.
func network(r *rand.Rand, w *writer) {
	for range r.IntN(3) {
		w.do("Bash", "git fetch", "x", "fatal: could not resolve host")
	}
	w.do("Bash", "git fetch", "=", "")
}
