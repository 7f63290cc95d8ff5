package supervisor_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/swarm/supervisor"
)

// A supervisor cannot end a process, write a file, send mail or speak as an agent. It
// uses nothing from other packages that can do this, and has external effects only
// through the functions and the backend in its options.
func TestWhatASupervisorCannotDo(t *testing.T) {
	const ours = "github.com/claude-swarm/claude-swarm/"
	allowed := []string{
		"bytes", "cmp", "context", "crypto/rand", "embed", "encoding/json", "errors", "fmt", "hash/maphash", "regexp", "slices", "strings", "sync", "time",
		ours + "streamjson", ours + "internal/screen", ours + "swarm/runner",
	}
	// These are the names that a supervisor may use from packages that contain more
	// than data types.
	names := map[string][]string{
		"runner": {"Backend", "Tools", "Turn", "Outcome", "Session", "New", "ToolServer", "TimedOut"},
		"fmt":    {"Sprintf", "Errorf", "Fprintf"}, // Fprintf to a strings.Builder
	}
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") {
			continue
		}
		seen++
		f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range f.Imports {
			if path := strings.Trim(i.Path.Value, `"`); !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", file, path)
			}
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok {
				return true
			}
			if pkg, ok := sel.X.(*ast.Ident); ok && pkg.Obj == nil && names[pkg.Name] != nil && !slices.Contains(names[pkg.Name], sel.Sel.Name) {
				t.Errorf("%s uses %s.%s", file, pkg.Name, sel.Sel.Name)
			}
			return true
		})
	}
	if seen < 5 {
		t.Errorf("%d files were checked", seen)
	}
}

// The functions in a supervisor's options take plain data and return nothing, except the
// function that prepares the judge's turn.
func TestWhatASupervisorIsGiven(t *testing.T) {
	given := map[string]string{}
	for _, of := range []reflect.Type{reflect.TypeFor[supervisor.Options](), reflect.TypeFor[supervisor.Judge]()} {
		for _, f := range reflect.VisibleFields(of) {
			given[f.Name] = f.Type.String()
		}
	}
	want := map[string]string{
		"Settings": "supervisor.Settings", "Judge": "*supervisor.Judge", "Timeout": "time.Duration", "Backend": "runner.Backend",
		"OnWhisper": "func(supervisor.Whisper)", "OnEscalation": "func(supervisor.Escalation)", "OnOverrun": "func(supervisor.Overrun)", "Note": "func(string, string, string)",
		"Turn": "func(string) (runner.Turn, error)", "Ended": "func(string, runner.Turn, runner.Outcome)",
	}
	if !reflect.DeepEqual(given, want) {
		t.Errorf("it is given %v, want %v", given, want)
	}
}
