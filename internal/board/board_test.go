package board_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/board"
	"github.com/claude-swarm/claude-swarm/internal/durable"
	"github.com/claude-swarm/claude-swarm/internal/testkit/durabletest"
)

var noon = time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)

func TestPages(t *testing.T) {
	b := board.Of(t.TempDir())
	if _, err := b.Read(board.Status); !errors.Is(err, board.ErrNoPage) {
		t.Errorf("Read of an empty board = %v, want ErrNoPage", err)
	}
	if got, err := b.List(); err != nil || len(got) != 0 {
		t.Errorf("List of an empty board = %q, %v", got, err)
	}
	p, err := b.Replace(board.Status, "All is well.\n\n\n")
	if err != nil || p.Text != "All is well.\n" || p.Name != board.Status || time.Since(p.Changed).Abs() > time.Hour {
		t.Errorf("Replace = %+v, %v", p, err)
	}
	if _, err := b.Replace(board.Status, "Still."); err != nil {
		t.Fatal(err)
	}
	if _, err := b.Append(board.Decisions, "We use YAML.", "coder", noon); err != nil {
		t.Fatal(err)
	}
	p, err = b.Append(board.Decisions, "No, JSON.", "reviewer", noon.Add(time.Minute))
	if want := "## 2026-11-21 12:00 UTC, coder\n\nWe use YAML.\n\n## 2026-11-21 12:01 UTC, reviewer\n\nNo, JSON.\n"; err != nil || p.Text != want {
		t.Errorf("Append = %q, %v, want %q", p.Text, err, want)
	}
	if _, err := b.Replace(board.Handoff("coder"), "Go on."); err != nil {
		t.Fatal(err)
	}
	if got, err := b.List(); err != nil || !slices.Equal(got, []string{"decisions", "handoff/coder", "status"}) {
		t.Errorf("List = %q, %v", got, err)
	}
	if p, err := b.Read(board.Status); err != nil || p.Text != "Still.\n" {
		t.Errorf("Read = %+v, %v", p, err)
	}
}

func TestWhatIsNoPage(t *testing.T) {
	b := board.Of(t.TempDir())
	for _, name := range []string{"", "stat", "status.md", "../status", "handoff", "handoff/", "handoff/../status", "handoff/Coder", "handoff/a/b", "/etc/passwd", "handoff/all"} {
		if _, err := b.Read(name); !isNameError(err) {
			t.Errorf("Read(%q) = %v, want a NameError", name, err)
		}
		if _, err := b.Replace(name, "x"); !isNameError(err) {
			t.Errorf("Replace(%q) = %v, want a NameError", name, err)
		}
	}
	if err := board.Check(board.Handoff("lead")); err != nil {
		t.Errorf("the lead has no handoff: %v", err)
	}
}

func isNameError(err error) bool {
	_, ok := errors.AsType[*board.NameError](err)
	return ok
}

func TestLimits(t *testing.T) {
	b := board.Of(t.TempDir())
	if _, err := b.Replace(board.Status, strings.Repeat("x", board.MaxPage-1)); err != nil {
		t.Errorf("a page of %d bytes: %v", board.MaxPage, err)
	}
	if _, err := b.Replace(board.Status, strings.Repeat("x", board.MaxPage)); !isTooLong(err) {
		t.Errorf("a page of %d bytes with its newline = %v, want a TooLongError", board.MaxPage+1, err)
	}
	if _, err := b.Append(board.Status, "more", "coder", noon); !isTooLong(err) {
		t.Errorf("Append to a full page = %v, want a TooLongError", err)
	}
	if _, err := b.Replace(board.Status, "a\x00b"); err == nil {
		t.Error("a NUL byte was written")
	}
	if p, err := b.Read(board.Status); err != nil || len(p.Text) != board.MaxPage {
		t.Errorf("a refused write has changed the page: %d bytes, %v", len(p.Text), err)
	}
}

func isTooLong(err error) bool {
	_, ok := errors.AsType[*board.TooLongError](err)
	return ok
}

// Files in the folder that are not pages are ignored.
func TestForeignFiles(t *testing.T) {
	store := t.TempDir()
	b := board.Of(store)
	if _, err := b.Replace(board.Handoff("coder"), "Go on."); err != nil {
		t.Fatal(err)
	}
	secret := filepath.Join(t.TempDir(), "secret")
	for path, make := range map[string]func(string) error{
		"status.md": func(path string) error { return os.Symlink(secret, path) },
		"decisions.md": func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("old\n", 20_000)+"the end \xff\n"), 0o600)
		},
		"notes.md":            func(path string) error { return os.WriteFile(path, nil, 0o600) },
		".status.md.tmp":      func(path string) error { return os.Symlink(secret, path) },
		"handoff/reviewer.md": func(path string) error { return os.Mkdir(path, 0o700) },
	} {
		if err := errors.Join(os.WriteFile(secret, []byte("secret"), 0o600), make(filepath.Join(store, "board", path))); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := b.List(); err != nil || !slices.Equal(got, []string{"decisions", "handoff/coder"}) {
		t.Errorf("List = %q, %v", got, err)
	}
	if p, err := b.Read(board.Status); err == nil {
		t.Errorf("a link was followed: %q", p.Text)
	}
	if _, err := b.Replace(board.Status, "x"); err == nil {
		t.Error("a link was overwritten")
	}
	if _, err := b.Read(board.Handoff("reviewer")); err == nil {
		t.Error("a folder was read")
	}
	if p, err := b.Read(board.Decisions); err != nil || len(p.Text) > board.MaxPage+2 || !strings.HasSuffix(p.Text, "the end \uFFFD\n") {
		t.Errorf("Read of a long page returns %d bytes, %v; want its end", len(p.Text), err)
	}
	if data, err := os.ReadFile(secret); err != nil || string(data) != "secret" {
		t.Errorf("the file behind the link is %q, %v", data, err)
	}
}

// A link out of the store in place of one of the board's folders is not followed.
func TestForeignFolders(t *testing.T) {
	for _, name := range []string{"board", "board/handoff"} {
		store, outside := t.TempDir(), t.TempDir()
		link := filepath.Join(store, name)
		if err := os.MkdirAll(filepath.Dir(link), 0o700); err != nil {
			t.Fatal(err)
		}
		for _, page := range []string{"status.md", "coder.md"} {
			if err := os.WriteFile(filepath.Join(outside, page), []byte("secret"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := os.Symlink(outside, link); err != nil {
			t.Fatal(err)
		}
		b, page := board.Of(store), board.Status
		if name != "board" {
			page = board.Handoff("coder")
		}
		if p, err := b.Read(page); err == nil || errors.Is(err, board.ErrNoPage) {
			t.Errorf("%s: Read = %q, %v; want an error", name, p.Text, err)
		}
		if got, err := b.List(); err == nil {
			t.Errorf("%s: List = %q, want an error", name, got)
		}
		if _, err := b.Replace(page, "x"); err == nil {
			t.Errorf("%s: Replace wrote through a link", name)
		}
		if data, err := os.ReadFile(filepath.Join(outside, "coder.md")); err != nil || string(data) != "secret" {
			t.Errorf("%s: the file outside is %q, %v", name, data, err)
		}
	}
}

// After concurrent writes, the page contains the entries of all writers.
func TestManyWriters(t *testing.T) {
	const writers, entries = 8, 20
	b := board.Of(t.TempDir())
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for n := range entries {
				if _, err := b.Append(board.Decisions, fmt.Sprintf("entry %d.%d.", w, n), "coder", noon); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	p, err := b.Read(board.Decisions)
	if err != nil {
		t.Fatal(err)
	}
	for w := range writers {
		for n := range entries {
			if !strings.Contains(p.Text, fmt.Sprintf("entry %d.%d.\n", w, n)) {
				t.Errorf("entry %d.%d is missing", w, n)
			}
		}
	}
}

// After a power failure at any step, a page has either its old or its new content.
func TestThePowerCutsInAPage(t *testing.T) {
	store := t.TempDir()
	durabletest.Check(t, filepath.Join(store, "board", "handoff", "coder.md"), func(f durable.Files, n int) error {
		_, err := board.Of(store).With(f).Replace(board.Handoff("coder"), fmt.Sprint("page ", n))
		return err
	})
}
