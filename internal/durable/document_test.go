package durable_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

type colors struct {
	V    durable.Version1  `json:"v"`
	Of   map[string]string `json:"of"`
	List []string          `json:"list,omitempty"`
}

func openColors(t *testing.T, f durable.Files, path string, o durable.DocOptions) *durable.Doc[colors] {
	t.Helper()
	doc, err := durable.OpenDoc[colors](f, path, o)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func paint(doc *durable.Doc[colors], what, color string) error {
	return doc.Change(func(c *colors) bool {
		c.Of[what] = color
		c.List = append(c.List, what)
		return true
	})
}

func TestDoc(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	doc := openColors(t, durable.Files{}, path, durable.DocOptions{})
	if err := doc.Change(func(c *colors) bool { c.Of["lost"] = "red"; return false }); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) || len(doc.Get().Of) != 0 {
		t.Errorf("a change of nothing made %v, file %v", doc.Get(), err)
	}
	if err := paint(doc, "sky", "blue"); err != nil {
		t.Fatal(err)
	}
	const want = "{\n  \"v\": 1,\n  \"of\": {\n    \"sky\": \"blue\"\n  },\n  \"list\": [\n    \"sky\"\n  ]\n}\n"
	if got := read(t, path); got != want {
		t.Errorf("the file has %q", got)
	}
	again := openColors(t, durable.Files{}, path, durable.DocOptions{})
	if diff := cmp.Diff(doc.Get(), again.Get()); diff != "" {
		t.Errorf("read again, -want +got\n%s", diff)
	}
}

// The documents of all stores survive a power cut, because this one does.
func TestThePowerCutsInADoc(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	for _, keep := range []bool{false, true} {
		durabletest.Check(t, path, func(f durable.Files, n int) error {
			doc := openColors(t, f, path, durable.DocOptions{Keep: keep})
			return doc.Change(func(c *colors) bool { c.Of["sky"] = fmt.Sprint("blue ", n); return true })
		})
	}
}

// A document in memory remains the old one if any step of a write fails.
func TestAChangeThatCannotBeWrittenIsUndone(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	var refused durable.Op
	doc := openColors(t, durable.Files{Step: refuse(&refused)}, path, durable.DocOptions{})
	if err := paint(doc, "sky", "blue"); err != nil {
		t.Fatal(err)
	}
	for _, refused = range []durable.Op{durable.Create, durable.Fill, durable.Sync, durable.Rename, durable.SyncDir} {
		if err := paint(doc, "sky", "grey"); !errors.Is(err, syscall.EIO) {
			t.Errorf("a refused %s: %v", refused, err)
		}
		if got := doc.Get(); got.Of["sky"] != "blue" || len(got.List) != 1 {
			t.Errorf("after a refused %s: %v", refused, got)
		}
	}
	if err := doc.CatchUp(); err != nil {
		t.Errorf("CatchUp = %v, although nothing is missing in the file", err)
	}
}

func TestAChangeThatCannotBeWrittenStaysInMemory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	refused := durable.Sync
	doc := openColors(t, durable.Files{Step: refuse(&refused)}, path, durable.DocOptions{Keep: true})
	if err := paint(doc, "sky", "blue"); !errors.Is(err, syscall.EIO) {
		t.Errorf("a refused sync: %v", err)
	}
	if err := doc.CatchUp(); !errors.Is(err, syscall.EIO) || doc.Get().Of["sky"] != "blue" {
		t.Errorf("CatchUp = %v, in memory %v", err, doc.Get())
	}
	refused = ""
	if err := doc.CatchUp(); err != nil {
		t.Fatal(err)
	}
	if got := openColors(t, durable.Files{}, path, durable.DocOptions{}).Get(); got.Of["sky"] != "blue" {
		t.Errorf("the file has %v", got)
	}
	refused = durable.Create
	if err := doc.CatchUp(); err != nil {
		t.Errorf("CatchUp writes a file that lacks nothing: %v", err)
	}
}

func refuse(op *durable.Op) func(durable.Step) error {
	return func(s durable.Step) error {
		if s.Op == *op {
			return syscall.EIO
		}
		return nil
	}
}

// A change has its own maps and slices, so the result of Get does not change.
func TestAChangeIsMadeToACopy(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	doc := openColors(t, durable.Files{}, path, durable.DocOptions{})
	if err := paint(doc, "sky", "blue"); err != nil {
		t.Fatal(err)
	}
	before := doc.Get()
	change := func(c *colors) { c.Of["sky"], c.List[0] = "grey", "clouds" }
	doc.ChangeMemory(change)
	if before.Of["sky"] != "blue" || before.List[0] != "sky" || doc.Get().Of["sky"] != "grey" {
		t.Errorf("before the change %v, after it %v", before, doc.Get())
	}
	if got := openColors(t, durable.Files{}, path, durable.DocOptions{}).Get(); got.Of["sky"] != "blue" {
		t.Errorf("a change in memory is in the file: %v", got)
	}
	if err := paint(doc, "sea", "green"); err != nil {
		t.Fatal(err)
	}
	if got := openColors(t, durable.Files{}, path, durable.DocOptions{}).Get(); got.Of["sky"] != "grey" {
		t.Errorf("the next change did not write it: %v", got)
	}

	list, err := durable.OpenDoc[map[string][]string](durable.Files{}, filepath.Join(t.TempDir(), "list.json"), durable.DocOptions{})
	if err != nil {
		t.Fatal(err)
	}
	empty := list.Get()
	if err := list.Change(func(l *map[string][]string) bool { (*l)["a"] = []string{"b"}; return true }); err != nil {
		t.Fatal(err)
	}
	if empty == nil || len(empty) != 0 || len(list.Get()) != 1 {
		t.Errorf("before the change %v, after it %v", empty, list.Get())
	}
}

func TestADamagedDoc(t *testing.T) {
	for _, content := range []string{"", "{", `{"v": "one"}`, `{"of": {"sky": "blue"}, "list": 3}`} {
		path := filepath.Join(t.TempDir(), "colors.json")
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		o := durable.DocOptions{Lost: "the colors are unknown", Next: "look out of the window"}
		doc, err := durable.OpenDoc[colors](durable.Files{}, path, o)
		e, ok := errors.AsType[*durable.DamagedError](err)
		if !ok || e.Path != path || e.Lost != o.Lost || e.Next != o.Next {
			t.Fatalf("%q: %v", content, err)
		}
		if got := doc.Get(); len(got.Of) != 0 || got.List != nil {
			t.Errorf("%q: the document is %v", content, got)
		}
		if err := durable.SetAside(err); err != nil {
			t.Fatal(err)
		}
		if got := read(t, e.Aside()); got != content {
			t.Errorf("%q: set aside is %q", content, got)
		}
		if err := paint(doc, "sky", "blue"); err != nil {
			t.Errorf("%q: %v", content, err)
		}
	}
}

func TestWhatIsDoneAboutDamage(t *testing.T) {
	gone := &durable.DamagedError{Path: filepath.Join(t.TempDir(), "gone"), Err: errors.New("x")}
	if err := durable.SetAside(fmt.Errorf("open: %w", gone)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("SetAside of a missing file = %v", err)
	}
	if err := durable.IgnoreDamage(fmt.Errorf("open: %w", gone)); err != nil {
		t.Errorf("IgnoreDamage = %v", err)
	}
	for _, err := range []error{nil, syscall.EIO} {
		if got := durable.SetAside(err); got != err {
			t.Errorf("SetAside(%v) = %v", err, got)
		}
		if got := durable.IgnoreDamage(err); got != err {
			t.Errorf("IgnoreDamage(%v) = %v", err, got)
		}
	}
}

// A file that cannot be read is not damaged.
func TestADocThatCannotBeRead(t *testing.T) {
	_, err := durable.OpenDoc[colors](durable.Files{}, t.TempDir(), durable.DocOptions{})
	if _, damaged := errors.AsType[*durable.DamagedError](err); err == nil || damaged {
		t.Errorf("OpenDoc of a folder = %v", err)
	}
}

// A program of today writes the fields of today, so its files have today's version.
func TestTheVersionOfADoc(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	if err := os.WriteFile(path, []byte(`{"v": 7, "of": null}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := paint(openColors(t, durable.Files{}, path, durable.DocOptions{}), "sky", "blue"); err != nil {
		t.Fatal(err)
	}
	var got struct {
		V  int
		Of map[string]string
	}
	if err := durable.ReadJSON(path, &got); err != nil || got.V != 1 || got.Of["sky"] != "blue" {
		t.Errorf("the file has %v, %v", got, err)
	}
}

func TestADocIsRestored(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	doc := openColors(t, durable.Files{}, path, durable.DocOptions{})
	if err := doc.Restore(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("an empty document was restored: %v", err)
	}
	if err := paint(doc, "sky", "blue"); err != nil {
		t.Fatal(err)
	}
	want := read(t, path)
	if err := errors.Join(os.Remove(path), doc.Restore()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != want {
		t.Errorf("restored %q, want %q", got, want)
	}
	if err := errors.Join(os.WriteFile(path, nil, 0o600), doc.Restore()); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "" {
		t.Errorf("a file that is there was replaced by %q", got)
	}
}

func TestADocOfManyGoroutines(t *testing.T) {
	path := filepath.Join(t.TempDir(), "colors.json")
	f := durable.Files{Sync: func(*os.File) error { return nil }}
	doc := openColors(t, f, path, durable.DocOptions{})
	var wg sync.WaitGroup
	for n := range 8 {
		wg.Go(func() {
			for i := range 20 {
				if err := paint(doc, fmt.Sprint(n, "-", i), "blue"); err != nil {
					t.Error(err)
				}
				for range doc.Get().Of {
				}
			}
		})
	}
	wg.Wait()
	if got := openColors(t, f, path, durable.DocOptions{}).Get(); len(got.Of) != 160 || len(got.List) != 160 {
		t.Errorf("%d and %d entries, want 160", len(got.Of), len(got.List))
	}
}
