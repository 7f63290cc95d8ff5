package notice

import (
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// samples contains one fact of each type, and of each form that a type's fact can have.
func samples() []Fact {
	at := time.Date(2026, 11, 29, 1, 2, 3, 4, time.UTC)
	m := &dropbox.Message{ID: "k7f3q9m2xd", From: dropbox.Lead, Type: dropbox.Task, Subject: "Paint the door", Body: []byte("Green.")}
	rec := &journal.Record{Turn: "k7f3q9m2xd-1", Agent: "coder", Message: m.ID}
	turn := &journal.Turn{ID: rec.Turn}
	asked := journal.Asked{ID: "k7f3q9m2xe", Of: "#project-x", Mailbox: "irc", Text: "Which color?", Since: at, Until: at.Add(time.Minute)}
	late := asked
	late.Late = "pause"
	return []Fact{
		AnswerRefused{Agent: "coder", To: "tester", Why: "in a loop", Message: m.ID, Title: "Paint the door"},
		AnswerReturned{Agent: "coder", To: "tester", Message: m.ID, Subject: "Re: Paint the door", Body: "It is green.", Err: errors.New("no such mailbox")},
		Asked{Turn: rec, Question: asked},
		Begun{Agent: "coder", Message: m},
		ContextFull{Agent: "coder", Turn: rec.Turn, Context: journal.Context{Tokens: 170000, Limit: 200000}, Commands: []string{"claude-swarm clear coder"}},
		Damaged{Err: &durable.DamagedError{Path: "sessions.json", Err: fs.ErrInvalid}, What: "the sessions were damaged", Started: at},
		Decided{Turn: rec, Number: 1, Call: "execute npm test", Verdict: "denied"},
		Decided{Turn: rec, Number: 2, Call: "execute npm test", Verdict: "denied", Unanswered: "nobody answered within 1m0s"},
		Ended{Agent: "coder", Message: m, Result: m, Turn: turn},
		Ended{Agent: "coder", Message: m, Result: m, Turn: turn, Task: m, TaskTitle: "Paint the door", Doer: "coder"},
		Ended{Agent: "coder", Message: m, Result: m, Turn: turn, Task: m, TaskTitle: "Paint the door", Refused: "nothing was permitted"},
		Failed{Agent: "coder", Message: m, Title: "Paint the door", Turn: turn, Why: "no luck"},
		Failed{Agent: "coder", Message: m, Title: "Paint the door", Turn: turn, Why: "no luck", Next: "It will be tried again"},
		GaveUp{Agent: "coder", ID: m.ID, Message: m, Title: "Paint the door", Why: "no luck", At: at},
		Gone{Agent: "coder", Since: "2", Why: "1 message waits", Next: "claude-swarm remove coder --keep"},
		LostDependency{Agent: "coder", Message: "k7f3q9m2xd", Title: "port it", Dependency: "a7f3q9m2xd", Why: "was given up", Next: "claude-swarm dead retry a7f3q9m2xd"},
		Halted{Agent: "coder", Thread: m.ID, Title: "Paint the door", Since: at},
		Incomplete{Agent: "coder", Message: m.ID, Title: "Paint the door", Branch: "task/a", Commit: "0123456789abcdef", Base: "fedcba9876543210"},
		Listed{Agent: "coder", Session: "s1", Task: journal.ListedTask{ID: "1", Subject: "Paint the door"}},
		Listed{Agent: "coder", Session: "s1", Task: journal.ListedTask{ID: "1", Subject: "Paint the door", By: "helper", Done: true}, Details: "Green."},
		Limited{Agent: "coder", Agents: []string{"coder", "tester"}, Account: "a", Limit: journal.Limit{Why: "its limit is reached", Since: at}, Until: at},
		Litter{Mailbox: "coder", File: "task.md~", Kind: dropbox.LitterBackup},
		Misnamed{Mailbox: "coder", Files: "a.txt", ID: m.ID},
		Misplaced{Store: ".dead-drop", Name: "a.md", Changed: at, Agents: []string{"coder"}},
		Misplaced{Store: ".dead-drop", Name: "coderr", Files: []string{"a.md"}, All: "a.md", Changed: at, Near: []string{"coder"}, Agents: []string{"coder"}},
		NearCap{Agent: "coder", Scope: "agent coder", Key: "agent coder", Used: "has spent 8 USD of 10 USD"},
		NearCap{Agent: "coder", Scope: "task k7f3q9m2xd", Key: "task k7f3q9m2xd", Used: "has spent 8 USD of 10 USD", Task: `"Paint the door"`},
		NotDone{Agent: "coder", Key: NotDoneKey(m.ID, at), Title: "Paint the door", Body: "Not done."},
		Refused{Agent: "coder", About: m.ID, Subject: "refused: Paint the door", Body: "Refused."},
		RightsGrew{Grown: []string{"coder.budget.day 5 → 500"}, By: "sh", At: at},
		SetAside{Mailbox: "coder", File: "a.md", Changed: at, Why: "it is empty"},
		Stopped{Agent: "coder", Why: "the key is wrong", Hint: "claude-swarm start coder", Since: at},
		Stuck{Agent: "coder", Task: "Paint the door", Why: "Retried cmake 4 times", Escalation: "e1", Message: m.ID},
		TooManyTurns{Agent: "coder", Why: "it began 120 turns", Since: at, Message: m.ID, From: dropbox.Lead, Title: "Paint the door"},
		TreeStays{Agent: "coder", Dir: ".worktrees/agent-task-a", Branch: "task/a", Why: "changes are not committed: a.go"},
		NotAccepted{Agent: "coder", Turn: rec.Turn, Title: "Build", Message: m.ID, Branch: "task/a", Why: "Failed: test: red, exit status 1.", Tries: 3},
		Unanswered{Agent: "coder", Question: asked, Of: "lead"},
		Unanswered{Agent: "coder", Question: late, Of: "lead"},
		Unbooked{Agent: "coder", Turn: rec.Turn},
		Unclaimed{ID: m.ID, From: dropbox.Lead, Topic: "builds", Title: "Build", Body: "Build.", Waits: time.Minute},
		Unpaused{Agent: "coder", Since: at, Why: "resumed by lead", By: dropbox.Lead},
		Unpaused{Agent: "coder, tester", Account: "a", Since: at, Why: "a turn succeeded again"},
		Vanished{At: at, Messages: map[string][]string{"coder": {m.ID}}},
		WaitsAlone{Agent: "coder", Why: "the service is down", Since: at, Again: at},
		WebhookFails{Hook: "ops", Why: "status 500", At: at},
		arrived{Message: m, To: dropbox.Lead},
	}
}

// factTypes returns the names of the types that are facts, as the source files declare them.
func factTypes(t *testing.T) (names []string) {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range files {
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "told" {
				names = append(names, fn.Recv.List[0].Type.(*ast.Ident).Name)
			}
		}
	}
	slices.Sort(names)
	return names
}

// A fact without a row, a severity or a text would reach people as an empty line, or not at
// all during quiet hours.
func TestEachFactHasARow(t *testing.T) {
	sampled, kinds := map[string]bool{}, map[string]bool{"quiet": true} // Quiet makes the alert at the end of the quiet hours from other facts
	for _, f := range samples() {
		name := reflect.TypeOf(f).Name()
		sampled[name] = true
		told := withWord(f.told())
		kind, id := kindOf(told.Key)
		kinds[kind] = true
		row, ok := catalogue[kind]
		if !ok {
			t.Errorf("%s: the catalogue has no row %q", name, kind)
			continue
		}
		if id == "" {
			t.Errorf("%s: nothing distinguishes two facts with the key %s", name, told.Key)
		}
		switch n := told.Notice; {
		case n == nil && row.severity == "":
			t.Errorf("%s: it has no notice, so the row %q must have a severity", name, kind)
		case n == nil && told.subject == "" && told.Message == nil, told.subject != "" && told.body == "":
			t.Errorf("%s: it has no text", name)
		case n == nil:
		case !n.Word.Known():
			t.Errorf("%s: the row %q has no word, and its notice names none", name, kind)
		case n.Why == "" && n.Word != journal.AgentComplete && n.Task == "":
			t.Errorf("%s: its notice has no text", name)
		}
		if row.latest && (told.Agent == "" || row.void == nil) {
			t.Errorf("%s: only the latest fact of an agent matters, but it names no agent, or the row %q does not say when it is void", name, kind)
		}
	}
	for _, name := range factTypes(t) {
		if !sampled[name] {
			t.Errorf("%s is not among the samples of this test", name)
		}
	}
	for _, kind := range journal.Kinds() {
		if _, ok := catalogue[string(kind)]; !ok && kind != journal.Alert && kind != journal.Noticed { // any fact can be one of these
			t.Errorf("the catalogue has no row for events of the kind %s", kind)
		}
	}
	for kind := range catalogue {
		if !kinds[kind] {
			t.Errorf("no fact has the kind %q of the catalogue", kind)
		}
	}
}

// A fact that was told before has the same key now.
func TestKeysOfFacts(t *testing.T) {
	at := time.Date(2026, 11, 29, 1, 2, 3, 4, time.UTC)
	for want, f := range map[string]Fact{
		"notice:stopped:coder:2026-11-29T01:02:03Z":                 Stopped{Agent: "coder", Since: at},
		"notice:unpaused:a:2026-11-29T01:02:03.000000004Z":          Unpaused{Agent: "coder, tester", Account: "a", Since: at},
		"notice:turns:coder:2026-11-29T01:02:03.000000004Z":         TooManyTurns{Agent: "coder", Since: at},
		"notice:limited:a:2026-11-29T01:02:03.000000004Z:1":         Limited{Agent: "coder", Account: "a", Limit: journal.Limit{Since: at, Hints: []string{"log in"}}},
		"notice:alone:coder:2026-11-29T01:02:03.000000004Z":         WaitsAlone{Agent: "coder", Since: at},
		"notice:budget warning agent coder":                         NearCap{Agent: "coder", Key: "agent coder"},
		"notice:context:coder:t1:5":                                 ContextFull{Agent: "coder", Turn: "t1", Context: journal.Context{Tokens: 5}},
		"notice:spiraling:e1":                                       Stuck{Agent: "coder", Escalation: "e1"},
		"notice:asked:q1":                                           Asked{Turn: &journal.Record{}, Question: journal.Asked{ID: "q1"}},
		"notice:late:q1":                                            Unanswered{Question: journal.Asked{ID: "q1"}},
		"dead:m1:1795914123000000":                                  NotDone{Key: NotDoneKey("m1", at)},
		"dead-m1.1795914123000000":                                  GaveUp{ID: "m1", At: at},
		`stray:coder:"a.md":2026-11-29T01:02:03.000000004Z`:         SetAside{Mailbox: "coder", File: "a.md", Changed: at},
		`stray:"a.md":2026-11-29`:                                   Misplaced{Name: "a.md", Changed: at},
		`litter:coder:` + string(dropbox.LitterIncomplete) + `:"a"`: Litter{Mailbox: "coder", File: "a", Kind: dropbox.LitterIncomplete},
		"litter:coder:" + string(dropbox.LitterSystem):              Litter{Mailbox: "coder", File: "a", Kind: dropbox.LitterSystem},
		"task_created:s1:1":                                         Listed{Agent: "coder", Session: "s1", Task: journal.ListedTask{ID: "1"}},
		"task_completed:s1:1":                                       Listed{Agent: "coder", Session: "s1", Task: journal.ListedTask{ID: "1", Done: true}},
		"webhook:ops:1795914123":                                    WebhookFails{Hook: "ops", At: at},
	} {
		if got := withWord(f.told()).Key; got != want {
			t.Errorf("key of %T is %s, want %s", f, got, want)
		}
	}
}
