package docs_test

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/config"
	"github.com/claude-swarm/claude-swarm/internal/control"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
	"github.com/claude-swarm/claude-swarm/swarm/runner"
)

// fields returns the encoded names of a type's fields, including the fields of nested
// types.
func fields(t reflect.Type, tag string) []string {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct || t.PkgPath() == "time" {
		return nil
	}
	var names []string
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get(tag), ",")
		if name != "" && name != "-" {
			names = append(names, name)
		}
		names = append(names, fields(f.Type, tag)...)
	}
	return names
}

// The pages describe every field of these types, which are sent over the wire or written
// to a file.
func TestFieldsAreDescribed(t *testing.T) {
	for page, values := range map[string][]struct {
		value any
		tag   string
	}{
		"dev/protocol.md":       {{swarm.FeedEvent{}, "json"}, {swarm.Changes{}, "json"}, {control.Error{}, "json"}, {journal.LedgerLine{}, "json"}},
		"dev/message-format.md": {{journal.Receipt{}, "yaml"}},
	} {
		text := read(t, page)
		for _, v := range values {
			names := fields(reflect.TypeOf(v.value), v.tag)
			if len(names) < 3 {
				t.Errorf("%T has only the fields %q", v.value, names)
			}
			for _, name := range names {
				if !regexp.MustCompile("[`. ]" + name + "[`. \n]").MatchString(text) {
					t.Errorf("%s does not speak of %q of %T", page, name, v.value)
				}
			}
		}
	}
}

// Every key of an envelope has a row in the table.
func TestEnvelopeIsDescribed(t *testing.T) {
	full := dropbox.Message{
		V: 1, ID: "k7f3q9m2xd", From: "a", To: []string{"b"}, CC: []string{"c"}, Type: dropbox.Task, Subject: "s", Thread: "t", ReplyTo: "r",
		Trace: "t", Key: "k", Turn: "u", Proof: "p", Hops: 1, Path: []string{"a"},
	}
	data, err := full.Encode()
	if err != nil {
		t.Fatal(err)
	}
	text := read(t, "dev/message-format.md")
	keys := 0
	for line := range strings.Lines(string(data)) {
		key, _, ok := strings.Cut(line, ":")
		if !ok {
			continue
		}
		keys++
		if !regexp.MustCompile("(?m)^\\| .*`" + key + "`.* \\|").MatchString(text) {
			t.Errorf("message-format.md has no line for %s", key)
		}
	}
	if keys < 15 {
		t.Errorf("only %d keys in\n%s", keys, data)
	}
	for _, typ := range dropbox.Types() {
		if !strings.Contains(read(t, "concepts.md"), "`"+string(typ)+"`") {
			t.Errorf("concepts.md does not speak of the type %s", typ)
		}
	}
}

// The example message file is a valid message.
func TestExampleOfAMessageParses(t *testing.T) {
	at := slices.IndexFunc(fenced.FindAllStringSubmatch(read(t, "dev/message-format.md"), -1), func(m []string) bool {
		if !strings.HasPrefix(m[2], "---\n") {
			return false
		}
		m2, err := dropbox.Parse([]byte(m[2]))
		if err != nil {
			t.Errorf("the example does not parse: %v", err)
		} else if m2.ID != "k7f3q9m2xd" || m2.Subject != "Fix the build" {
			t.Errorf("the example is read as %+v", m2)
		}
		return true
	})
	if at < 0 {
		t.Error("message-format.md shows no message")
	}
}

// kindsOfEvents returns the values of all constants of type Kind in package journal.
func kindsOfEvents(t *testing.T) (kinds []string) {
	t.Helper()
	files, err := filepath.Glob("../swarm/journal/*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			of, _ := spec.Type.(*ast.Ident)
			word, isText := spec.Values[0].(*ast.BasicLit)
			if of != nil && of.Name == "Kind" && isText {
				kinds = append(kinds, strings.Trim(word.Value, `"`))
			}
			return true
		})
	}
	if len(kinds) < 6 {
		t.Fatalf("package journal has the kinds %q; want begun, result and four others at least", kinds)
	}
	return kinds
}

// Each kind of event has a row in the protocol, and irc.map accepts it as a moment.
func TestKindsOfEventsAreDescribed(t *testing.T) {
	for _, kind := range kindsOfEvents(t) {
		if !strings.Contains(read(t, "dev/protocol.md"), "\n| `"+kind+"` |") {
			t.Errorf("protocol.md has no line for events of the kind %s", kind)
		}
		_, words, _ := strings.Cut(read(t, "irc-reference.md"), "may name `moment` (`")
		words, _, _ = strings.Cut(words, "`")
		if !slices.Contains(strings.Fields(words), kind) {
			t.Errorf("irc-reference.md does not name the moment %s of irc.map", kind)
		}
		rule := "agents: {coder: {}}\nirc: {map: [{moment: " + kind + ", channel: none}]}\n"
		if _, err := config.Parse(filepath.Join(t.TempDir(), config.Name), []byte(rule)); err != nil {
			t.Errorf("irc.map does not take the moment %s: %v", kind, err)
		}
	}
}

// The page about the protocol has a row for each notice word, with the severity of its
// notices. irc.map accepts each of these words as a moment.
func TestWordsOfNoticesAreDescribed(t *testing.T) {
	for _, word := range journal.Words() {
		if line := fmt.Sprintf("\n| `%s` | %s |", word, word.Severity()); !strings.Contains(read(t, "dev/protocol.md"), line) {
			t.Errorf("protocol.md has no line%s", line)
		}
		rule := fmt.Sprintf("agents: {coder: {}}\nirc: {map: [{moment: %s, channel: none}]}\n", word)
		if _, err := config.Parse(filepath.Join(t.TempDir(), config.Name), []byte(rule)); err != nil {
			t.Errorf("irc.map does not take the moment %s: %v", word, err)
		}
	}
}

func TestStatesAreDescribed(t *testing.T) {
	for _, state := range []swarm.State{swarm.Starting, swarm.Idle, swarm.Queued, swarm.Working, swarm.Asking, swarm.Backoff, swarm.Limited, swarm.Off, swarm.Parked, swarm.Paused, swarm.Stopped, swarm.Away} {
		if !strings.Contains(read(t, "concepts.md"), "\n| `"+string(state)+"`") {
			t.Errorf("concepts.md has no line for the state %s", state)
		}
	}
	for _, end := range []runner.End{
		runner.Done, runner.Failed, runner.NoFirstEvent, runner.Limited, runner.BadSetup, runner.NoSession, runner.Stalled, runner.TimedOut,
		runner.Stopped, runner.NoResult, runner.PromptNotRun,
	} {
		if !strings.Contains(read(t, "dev/protocol.md"), "`"+string(end)+"`") {
			t.Errorf("protocol.md does not speak of the end %s", end)
		}
	}
	for _, code := range []string{
		control.CodeUnknownAgent, control.CodeNoTurn, control.CodeBadConfig, control.CodeBadRequest, control.CodeUnknownType, control.CodeTooLong,
		control.CodeBusy, control.CodeVersion, control.CodeCancelled, control.CodeFailed,
	} {
		if !strings.Contains(read(t, "dev/protocol.md"), "\n| `"+code+"` |") {
			t.Errorf("protocol.md has no line for the code %s", code)
		}
	}
}

// The page lists the same exit statuses as the help, and the page on troubleshooting has a
// paragraph for each.
func TestExitStatuses(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	help := strings.Join(strings.Fields(verbs(t).help), " ")
	_, list, ok := strings.Cut(help, "Exit status: ")
	if !ok {
		t.Fatal("help does not speak of the exit status")
	}
	page, troubles := read(t, "command-line.md"), read(t, "troubleshooting.md")
	numbers := regexp.MustCompile(`\b[0-9]+\b`).FindAllString(list, -1)
	if len(numbers) < 7 {
		t.Errorf("help lists the statuses %q", numbers)
	}
	for _, n := range numbers {
		if !strings.Contains(page, "\n| "+n+" |") {
			t.Errorf("command-line.md has no line for the status %s", n)
		}
		if n != "0" && !strings.Contains(troubles, "\n**"+n+", ") {
			t.Errorf("troubleshooting.md has no part for the status %s", n)
		}
	}
}
