package floorplan_test

import (
	"encoding/json"
	"errors"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// floors lists which of our packages each package may import. If a package is missing
// from this list, the test fails: add a line for the package, and check its imports
// carefully.
var floors = map[string][]string{
	".":                     {}, // the root, which embeds clients.lock
	"dropbox":               {},
	"dropbox/outbox":        {"dropbox"},
	"dropbox/topic":         {"dropbox"},
	"streamjson":            {},
	"window":                {"internal/durable"},
	"swarm/runner":          {"streamjson"},
	"swarm/runner/follow":   {"swarm/runner"},
	"swarm/runner/claude":   {".", "streamjson", "swarm/runner", "swarm/runner/follow"},
	"swarm/runner/acp":      {".", "streamjson", "swarm/runner", "swarm/runner/follow"},
	"swarm/runner/backends": {"swarm/runner", "swarm/runner/acp", "swarm/runner/claude"},
	"swarm/journal":         {"dropbox", "internal/durable", "internal/lineage", "internal/discovery", "internal/screen", "internal/tokens", "swarm/runner"},
	"swarm/budget":          {"dropbox", "internal/durable", "swarm/journal", "swarm/runner", "internal/hours", "internal/screen"},
	"swarm/turn":            {"streamjson", "window", "swarm/journal", "swarm/runner", "internal/durable", "internal/tokens", "internal/screen"},
	"swarm/supervisor":      {"streamjson", "swarm/runner", "internal/screen"},
	"swarm/notice":          {"dropbox", "internal/durable", "swarm/journal", "internal/screen"},
	"swarm/mail":            {"dropbox", "dropbox/topic", "window", "internal/durable", "swarm/journal", "swarm/runner", "internal/permission", "internal/tokens", "internal/screen", "internal/policy", "swarm/notice"},
	"swarm/verify":          {"internal/discovery", "internal/durable", "internal/git", "swarm/runner"},
	"swarm/whisper":         {"streamjson", "internal/durable", "swarm/journal", "swarm/runner"},
	"swarm/hold":            {"dropbox", "swarm/budget", "swarm/journal", "internal/hours", "internal/screen"},
	"swarm":                 {"swarm/verify", "swarm/worktree", "dropbox", "dropbox/topic", "streamjson", "swarm/budget", "swarm/journal", "swarm/mail", "swarm/runner", "swarm/turn", "swarm/supervisor", "swarm/whisper", "internal/durable", "internal/git", "internal/hours", "internal/permission", "internal/screen", "swarm/hold", "swarm/notice"},
	"ircbridge/irc":         {},
	"internal/config":       {"dropbox", "dropbox/topic", "internal/durable", "internal/discovery", "internal/webhook", "swarm", "swarm/budget", "swarm/journal", "swarm/supervisor", "swarm/turn", "swarm/verify", "internal/hours", "internal/permission", "swarm/runner", "swarm/runner/backends"},
	"internal/rights":       {},
	"internal/control":      {"dropbox", "internal/discovery", "internal/rights", "swarm", "swarm/budget", "swarm/journal", "swarm/whisper"},
	"internal/client":       {"dropbox", "dropbox/topic", "internal/config", "internal/policy", "internal/bridge", "ircbridge", "internal/discovery", "swarm", "swarm/journal", "swarm/mail", "swarm/runner", "swarm/runner/backends"},
	"internal/board":        {"dropbox", "internal/durable"},
	"internal/mcpserver":    {"dropbox", "dropbox/topic", "internal/board", "internal/control", "internal/client", "internal/view", "internal/bridge", "ircbridge", "swarm", "swarm/budget", "swarm/runner", "internal/screen"},
	"internal/compat":       {"internal/durable", "internal/fakeapi", "internal/screen", "swarm/runner/claude"},
	"internal/durable":      {},
	"internal/e2e":          {},
	"internal/e2e/backends": {},
	"internal/e2e/image":    {},
	"internal/e2e/packages": {},
	"internal/fakeapi":      {},
	"internal/floorplan":    {},
	"internal/audit":        {"internal/git", "swarm/journal", "internal/screen"},
	"internal/git":          {"internal/screen"},
	"swarm/worktree":        {"internal/durable", "internal/git"},
	"swarm/merge":           {"internal/durable", "internal/git", "internal/screen"},
	"internal/house":        {},
	"internal/hours":        {},
	"internal/lineage":      {},
	"internal/permission":   {"swarm/runner"},
	"internal/policy":       {"dropbox", "internal/durable", "internal/screen"},
	"internal/provision":    {"dropbox", "dropbox/topic", "internal/config", "internal/webhook", "internal/durable", "internal/bridge", "ircbridge", "internal/control", "internal/discovery", "internal/git", "swarm", "swarm/journal", "swarm/runner", "swarm/runner/backends", "internal/screen"},
	"internal/screen":       {},
	"internal/discovery":    {},
	"internal/tmux":         {},
	"internal/tokens":       {},
	"internal/view":         {"dropbox", "internal/config", "internal/git", "internal/webhook", "internal/control", "internal/client", "internal/discovery", "internal/screen", "internal/bridge", "ircbridge", "swarm", "swarm/journal", "swarm/merge", "swarm/runner", "swarm/runner/backends", "swarm/whisper"},
	"internal/webhook":      {"dropbox", "dropbox/outbox", "internal/durable", "internal/screen", "internal/tokens", "swarm/journal"},
	"cmd/claude-swarm":      {"*"}, // the only package that wires everything together
	"docs":                  {},
	"packaging":             {},
	"docs/shown":            {},
	"examples":              {},
	"internal/bridge":       {"dropbox", "dropbox/outbox", "internal/durable", "internal/discovery"},
	"ircbridge":             {"internal/bridge", "ircbridge/irc"},

	// Test helpers: no program in cmd links them.
	"internal/testkit/acprecord":      {"internal/testkit/acptest", "internal/testkit/models"},
	"internal/testkit/acptest":        {"."},
	"internal/testkit/acpstandin":     {"internal/testkit/standin"},
	"internal/testkit/acpstandin/acp": {"internal/testkit/acpstandin"},
	"internal/testkit/bench":          {},
	"internal/testkit/compatpage":     {"internal/compat", "swarm/runner/claude"},
	"internal/testkit/bridgetest":     {"dropbox", "internal/bridge"},
	"internal/testkit/durabletest":    {"internal/durable"},
	"internal/testkit/execfile":       {},
	"internal/testkit/irctest":        {"internal/testkit/need", "ircbridge/irc"},
	"internal/testkit/models":         {},
	"internal/testkit/mutants":        {},
	"internal/testkit/need":           {},
	"internal/testkit/newest":         {".", "swarm/runner/backends", "swarm/runner/claude"},
	"internal/testkit/nightly":        {"internal/testkit/acptest"},
	"internal/testkit/picture":        {},
	"internal/testkit/runnertest":     {"internal/testkit/need", "streamjson", "swarm/runner"},
	"internal/testkit/standin":        {},
	"internal/testkit/stress":         {},
	"internal/testkit/testrun":        {},
	"internal/testkit/torture":        {"dropbox", "internal/control", "internal/testkit/need", "swarm", "swarm/journal", "swarm/runner"},
	"internal/testkit/standin/claude": {"internal/testkit/standin"},
}

// listed is what go list prints about one package.
type listed struct {
	ImportPath, Dir string
	Imports         []string
	GoFiles         []string
}

func packages(t *testing.T) (module string, all []listed) {
	t.Helper()
	module = strings.TrimSpace(goList(t, "-m")) + "/"
	dec := json.NewDecoder(strings.NewReader(goList(t, "-json=ImportPath,Dir,Imports,GoFiles", module+"...")))
	for {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			return module, all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func goList(t *testing.T, args ...string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list %v: %v", args, err)
	}
	return string(out)
}

// inTree returns the folder of a package of ours, "." for the root.
func inTree(module, path string) (folder string, ours bool) {
	if path+"/" == module {
		return ".", true
	}
	return strings.CutPrefix(path, module)
}

func TestFloorPlan(t *testing.T) {
	module, all := packages(t)
	for _, p := range all {
		name, _ := inTree(module, p.ImportPath)
		allowed, ok := floors[name]
		if !ok {
			t.Errorf("package %s is not on the floor plan", name)
			continue
		}
		for _, imp := range p.Imports {
			ours, found := inTree(module, imp)
			if found && !slices.Contains(allowed, ours) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s, which the floor plan does not allow", name, ours)
			}
		}
	}
}

func TestEveryPackageSaysWhatItPromises(t *testing.T) {
	module, all := packages(t)
	for _, p := range all {
		doc := ""
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.PackageClauseOnly|parser.ParseComments)
			if err != nil {
				t.Fatal(err)
			}
			doc += f.Doc.Text()
		}
		if len(strings.Fields(doc)) < 12 {
			t.Errorf("package %s has no comment that says what it promises", strings.TrimPrefix(p.ImportPath, module))
		}
	}
}

func TestNoRoomWithoutAName(t *testing.T) {
	module, all := packages(t)
	vague := []string{"util", "utils", "common", "helpers", "types", "constants", "misc", "base"}
	for _, p := range all {
		if name := filepath.Base(p.ImportPath); slices.Contains(vague, name) {
			t.Errorf("package %s has a name that says nothing", strings.TrimPrefix(p.ImportPath, module))
		}
	}
}

// heavy lists substrings of the paths of packages that the program must not link. The
// command-line library contains a Markdown parser for manual pages that we do not
// generate. The official MCP SDK initializes its parts for HTTP servers and logins
// every time the program starts, which takes half as long as starting an empty program.
// The other packages belong in separate programs.
var heavy = []string{
	"md2man", "blackfriday", "modelcontextprotocol", "jsonschema", "encoding/gob",
	"nats-io", "opentelemetry", "protobuf", "prometheus",
}

func TestShippedProgramLinksNothingHeavy(t *testing.T) {
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	makefile, err := os.ReadFile(filepath.Join(root, "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	tags := regexp.MustCompile(`(?m)^TAGS *:= *-tags (\S+)$`).FindSubmatch(makefile)
	if tags == nil {
		t.Fatal("the Makefile has no line TAGS")
	}
	for pkg := range strings.Lines(goList(t, "-deps", "-tags", string(tags[1]), root+"/cmd/claude-swarm")) {
		if slices.ContainsFunc(heavy, func(part string) bool { return strings.Contains(pkg, part) }) {
			t.Errorf("with %s the program links %s", tags[0], pkg)
		}
	}
}

// Programs for users contain nothing that exists only for tests, such as the code in
// internal/testkit that simulates clients and servers, breaks connections and simulates
// power failures.
func TestNoProgramHoldsTestMachinery(t *testing.T) {
	module, _ := packages(t)
	deps := strings.Fields(goList(t, "-deps", module+"cmd/..."))
	if !slices.Contains(deps, module+"swarm") {
		t.Fatalf("the programs link %q, but not swarm", deps)
	}
	for _, pkg := range deps {
		if strings.HasPrefix(pkg, module+"internal/testkit/") {
			t.Errorf("a program links %s", pkg)
		}
	}
}

// TestTrackedFilesSpeakOfTheProductAlone looks for text that refers to one particular
// machine.
func TestTrackedFilesSpeakOfTheProductAlone(t *testing.T) {
	root := strings.TrimSpace(goList(t, "-m", "-f", "{{.Dir}}"))
	out, err := exec.CommandContext(t.Context(), "git", "-C", root, "ls-files", "-z").Output()
	if err != nil {
		t.Fatalf("git ls-files: %v", err)
	}
	leak := regexp.MustCompile(`(^|[^A-Za-z0-9_.>}$*-])/(work|farm)/|https?://(proxy|sum|registry|deb|security)\.`)
	for name := range strings.SplitSeq(strings.Trim(string(out), "\x00"), "\x00") {
		if strings.HasPrefix(name, "internal/floorplan/") {
			continue
		}
		data, err := os.ReadFile(filepath.Join(root, name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted, but not committed yet
		} else if err != nil {
			t.Fatal(err)
		}
		if at := leak.FindIndex(data); at != nil {
			line := 1 + strings.Count(string(data[:at[0]]), "\n")
			t.Errorf("%s:%d names a path or host of one machine: %s", name, line, data[at[0]:at[1]])
		}
	}
}
