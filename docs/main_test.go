package docs_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// update reports whether to rewrite the pages instead of checking them.
var update = os.Getenv("UPDATE") != ""

// patience is the timeout for one command on a page.
const patience = 2 * time.Minute

// programs is the folder that built has created. It is "" if built was not called.
var programs string

// built returns a folder with the real program, which is built only once.
var built = sync.OnceValues(func() (string, error) {
	if err := noteSources(); err != nil {
		return "", err
	}
	bin, err := os.MkdirTemp("", "cs-bin")
	if err != nil {
		return "", err
	}
	programs = bin
	// Without its symbols, the program is linked in half the time.
	out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", bin+"/", "../cmd/...").CombinedOutput()
	if err != nil {
		return bin, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// noteSources reads the program's source folders, so that the go command discards a
// cached result of this test when one of them changes.
func noteSources() error {
	for _, dir := range []string{"cmd", "dropbox", "internal", "ircbridge", "streamjson", "swarm", "window"} {
		err := filepath.WalkDir(filepath.Join("..", dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return fmt.Errorf("look at the sources: %w", err)
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	code := m.Run()
	os.RemoveAll(programs) // "" if no test needed it
	os.Exit(code)
}

// pages returns the paths of the documentation pages, relative to this folder.
func pages(t *testing.T) []string {
	t.Helper()
	var all []string
	for _, pattern := range []string{"../*.md", "*.md", "dev/*.md", "../examples/*.md", "../examples/*/*.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, names...)
	}
	if len(all) < 14 {
		t.Fatalf("only %d pages: %q", len(all), all)
	}
	return all
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// A verb describes one of the program's verbs, as shown in the help.
type verb struct {
	words []string // "dead", "list"
	help  string
	flags []string // with the leading dashes
	subs  []verb
}

func (v verb) name() string { return strings.Join(v.words, " ") }

// unlisted contains the verbs meant for other programs, which the manual describes but
// the help does not list.
var unlisted = []string{"mcp"}

// root parses the program's help and the help of all its verbs.
var root = sync.OnceValues(func() (verb, error) {
	v, err := helpOf(nil)
	for _, name := range unlisted {
		sub, wrong := helpOf([]string{name})
		v.subs, err = append(v.subs, sub), errors.Join(err, wrong)
	}
	return v, err
})

func helpOf(words []string) (verb, error) {
	bin, err := built()
	if err != nil {
		return verb{}, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := exec.CommandContext(ctx, filepath.Join(bin, "claude-swarm"), append([]string{"help"}, words...)...).Output()
	if err != nil {
		return verb{}, fmt.Errorf("help %q: %w", words, err)
	}
	v := verb{words: words, help: string(out)}
	options := false
	for line := range strings.Lines(v.help) {
		if line == "options:\n" {
			options = true
		}
		m := entry.FindStringSubmatch(line)
		switch {
		case m == nil:
		case strings.HasPrefix(m[1], "-"):
			if options {
				v.flags = append(v.flags, dashed.FindAllString(m[1], -1)...)
			}
		case m[2] != "" && !strings.HasPrefix(line, "  claude-swarm "):
			sub, err := helpOf(append(slices.Clone(words), m[1]))
			if err != nil {
				return verb{}, err
			}
			v.subs = append(v.subs, sub)
		}
	}
	return v, nil
}

var (
	// A help line for a verb or a flag consists of two spaces, the name, at least two
	// spaces or the end of the line, and the description.
	entry  = regexp.MustCompile(`^  ([a-z]+|-.*?)(?:  +(\S.*))?\n$`)
	dashed = regexp.MustCompile(`--?[a-z][a-z-]*\b`)
)

// all returns v and, recursively, the verbs below it.
func (v verb) all() []verb {
	list := []verb{v}
	for _, sub := range v.subs {
		list = append(list, sub.all()...)
	}
	return list
}

func verbs(t *testing.T) verb {
	t.Helper()
	v, err := root()
	if err != nil {
		t.Fatal(err)
	}
	if len(v.subs) < 20 {
		t.Fatalf("help lists only %d verbs", len(v.subs))
	}
	return v
}

// fill writes text between the marks with the given name on a page, or checks that it
// is already there.
func fill(t *testing.T, page, name, text string) {
	t.Helper()
	const end = "<!-- end -->\n"
	begin := "<!-- generated: " + name + "; UPDATE=1 go test ./docs writes it again -->\n"
	old := read(t, page)
	before, rest, ok := strings.Cut(old, begin)
	_, after, ok2 := strings.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no part %q", page, begin)
	}
	want := before + begin + "\n" + strings.TrimSpace(text) + "\n\n" + end + after
	switch {
	case want == old:
	case update:
		if err := os.WriteFile(page, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("%s is not what the program says now; look at the difference after UPDATE=1 go test ./docs", page)
	}
}

// find returns the longest verb that the words begin with, or an error if the first word
// is not a verb.
func (v verb) find(words []string) (verb, error) {
	for _, sub := range v.subs {
		if len(words) > 0 && sub.words[len(sub.words)-1] == words[0] {
			return sub.find(words[1:])
		}
	}
	if len(v.words) == 0 {
		return v, errors.New("no such verb")
	}
	return v, nil
}
