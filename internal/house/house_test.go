package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// small is a module with one example for each measure.
var small = map[string]string{
	"go.mod": "module example.com/small\n\ngo 1.26\n",
	"mail/box.go": `package mail

// A Box has methods, and unexported fields.
type Box struct {
	a, b int
	C    int
}

func (b *Box) Open() { b.shut() }
func (b *Box) Look() {}

// Data has methods too, but every field of it is exported.
type Data struct{ A, B, C, D, E int }

func (Data) Print() {}

// Drop gets its methods and fields by embedding.
type Drop struct {
	Box
	d int
}

func (Drop) Print() {}

type Stray struct{ *Box }

func (Stray) Print() {}

type Opener interface {
	Open()
	Look()
}
`,
	"mail/shut.go": `package mail

import "os"

func (b *Box) shut() { b.Open() }

func write(path string) error {
	f, err := os.CreateTemp("", "")
	if err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}

// move only moves.
func move(from, to string) error { return os.Rename(from, to) }

/* a comment
of two lines */
var text = ` + "`one\ntwo`" + `

func init() { _ = write }
`,
	"mail/alone.go": "package mail\n\nconst alone = 1\n",
	"cmd/small/main.go": `package main

func main() {}
`,
	"internal/testkit/bench/main.go": `package main

func init() {}
func main() {}
`,
}

func TestNumbers(t *testing.T) {
	dir := t.TempDir()
	for name, text := range small {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	var out strings.Builder
	if err := run(&out, dir, true); err != nil {
		t.Fatal(err)
	}
	want := `measure now where
methods of a type 3 mail.Box; 1 mail.Data; 1 mail.Drop
with those of embedded structs 4 mail.Drop; 4 mail.Stray
fields of a type with methods 3 mail.Box; 2 mail.Drop
with those of embedded structs 5 mail.Drop
types that embed the same struct 2 mail.Box: mail.Drop mail.Stray
methods of an interface 2 mail.Opener
files that use each other in a cycle 2 mail, of 3 files
files of a package 3 mail; 1 cmd/small
functions called init 1 mail/shut.go: init
places that write a file by renaming 1 mail/shut.go
programs 1 cmd/small
lines of product code 38 and 6 of comments
lines of test machinery code 3 and 0 of tests

methods of a type:
3 mail.Box
1 mail.Data
1 mail.Drop
1 mail.Stray

with those of embedded structs:
4 mail.Drop
4 mail.Stray

fields of a type with methods:
3 mail.Box
2 mail.Drop

with those of embedded structs:
5 mail.Drop

types that embed the same struct:
2 mail.Box: mail.Drop mail.Stray

methods of an interface:
2 mail.Opener

files that use each other in a cycle:
2 mail, of 3 files
files: box.go shut.go
box.go → shut.go: shut
shut.go → box.go: Box Open

files of a package:
3 mail
1 cmd/small

functions called init:
1 mail/shut.go: init

places that write a file by renaming:
1 mail/shut.go

programs:
1 cmd/small`
	var got []string
	for line := range strings.Lines(out.String()) {
		got = append(got, strings.Join(strings.Fields(line), " ")) // the width of a column does not matter
	}
	if diff := cmp.Diff(want, strings.TrimSpace(strings.Join(got, "\n"))); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestSourceThatDoesNotCompile(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"go.mod": small["go.mod"], "a.go": "package a\n\nvar x = missing\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if err := run(&strings.Builder{}, dir, false); err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("run = %v, want the compiler's error", err)
	}
}

// With -v, a cycle is printed with its files and the uses that form it.
func TestWhatClosesACycle(t *testing.T) {
	dir := t.TempDir()
	files := map[string]string{"go.mod": small["go.mod"]}
	const n = 9
	for i := range n { // each file uses one name from the next; the last file uses two names from the first, as checked below
		file := string(rune('a' + i))
		next := strings.ToUpper(string(rune('a' + (i+1)%n)))
		files[file+".go"] = fmt.Sprintf("package ring\n\nfunc %s1() { %s1() }\nfunc %[1]s2() {}\n", strings.ToUpper(file), next)
	}
	files["i.go"] = "package ring\n\nfunc I1() { A2(); A1() }\n"
	files["j.go"] = "package ring\n\nfunc J1() { A1() }\n"
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want := `files that use each other in a cycle:
   9  example.com/small, of 10 files
        files: a.go b.go c.go d.go e.go f.go g.go h.go i.go
        a.go → b.go: B1
        b.go → c.go: C1
        c.go → d.go: D1
        d.go → e.go: E1
        e.go → f.go: F1
        f.go → g.go: G1
        g.go → h.go: H1
        h.go → i.go: I1
        i.go → a.go: A1 A2`
	for range 3 { // the order does not change from run to run
		var out strings.Builder
		if err := run(&out, dir, true); err != nil {
			t.Fatal(err)
		}
		_, got, _ := strings.Cut(out.String(), "\n\nfiles that use")
		got, _, _ = strings.Cut("files that use"+got, "\n\n")
		if diff := cmp.Diff(want, strings.TrimSpace(got)); diff != "" {
			t.Fatalf("-want +got\n%s", diff)
		}
	}
}

func TestLargestCycle(t *testing.T) {
	graph := func(edges ...string) map[string]map[string]bool {
		g := make(map[string]map[string]bool)
		for _, e := range edges {
			from, to, _ := strings.Cut(e, ">")
			if g[from] == nil {
				g[from] = make(map[string]bool)
			}
			g[from][to] = true
		}
		return g
	}
	for i, c := range []struct {
		edges []string
		want  int
	}{
		{nil, 0},
		{[]string{"a>b", "b>c"}, 1},
		{[]string{"a>b", "b>a"}, 2},
		{[]string{"a>b", "b>c", "c>a", "c>d", "d>e", "e>d"}, 3},
		{[]string{"a>b", "b>c", "c>b", "c>d", "d>a"}, 4},
	} {
		if got := largestCycle(graph(c.edges...)); len(got) != c.want {
			t.Errorf("%s: largestCycle(%v) = %q, want %d files", fmt.Sprint(i), c.edges, got, c.want)
		}
	}
}
