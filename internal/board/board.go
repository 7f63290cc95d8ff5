// Package board stores the knowledge that all agents of a swarm share, in pages that
// people and git can read:
//
//	.dead-drop/board/
//	    status.md          the current state; overwritten
//	    decisions.md       what was decided; each entry is appended
//	    handoff/AGENT.md   notes of an agent for its next session, and for others
//
// A page is always complete, because a rename replaces it. Several processes may write
// concurrently: each waits for the previous writer to finish. The package does not read
// or write a page that is a symbolic link, and it does not follow a link that leads out of
// the store.
package board

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/sys/unix"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/durable"
)

// Names of the pages that every agent may write.
const (
	Status    = "status"
	Decisions = "decisions"
)

// handoffs is the folder that contains one page for each agent.
const handoffs = "handoff"

// Handoff returns the name of the page that an agent writes for its next session.
func Handoff(agent string) string { return handoffs + "/" + agent }

// MaxPage is the maximum length of a page, in bytes. The limit is small because an agent
// reads a whole page into its context.
const MaxPage = 32 << 10

// ErrNoPage reports that a page has not been written yet.
var ErrNoPage = errors.New("nobody has written it yet")

// A NameError reports an invalid page name.
type NameError struct{ Name string }

func (e *NameError) Error() string {
	return fmt.Sprintf("there is no page %q; the pages are %s, %s and %s/AGENT", e.Name, Status, Decisions, handoffs)
}

// A TooLongError reports that a write would make a page too long.
type TooLongError struct{ Bytes int }

func (e *TooLongError) Error() string {
	return fmt.Sprintf("the page would be %d bytes long, but the maximum is %d; summarize its text, and replace it", e.Bytes, MaxPage)
}

// Check returns a [*NameError] if a page cannot have this name.
func Check(page string) error {
	agent, isHandoff := strings.CutPrefix(page, handoffs+"/")
	switch {
	case page == Status, page == Decisions:
	case isHandoff && (agent == dropbox.Lead || dropbox.CheckAgent(agent) == nil):
	default:
		return &NameError{page}
	}
	return nil
}

// A Board is the folder that contains the pages. Its methods are safe for concurrent use.
type Board struct {
	store string // the folder that contains the board's folder
	files durable.Files
}

// Of returns the board that belongs to the mailboxes in the folder store. It creates no
// files or folders.
func Of(store string) Board { return Board{store: store} }

// folder is the board's folder, below the store.
const folder = "board"

// open opens the board's folder. It returns an error if the folder is a link that leads out
// of the store. The caller closes the root.
func (b Board) open() (*os.Root, error) {
	store, err := os.OpenRoot(b.store)
	if err != nil {
		return nil, err
	}
	defer store.Close()
	return store.OpenRoot(folder)
}

// create creates the board's missing folders.
func (b Board) create() error {
	store, err := os.OpenRoot(b.store)
	if err != nil {
		return err
	}
	defer store.Close()
	return store.MkdirAll(path.Join(folder, handoffs), 0o700)
}

// With returns a copy of the board that writes its pages through files.
func (b Board) With(files durable.Files) Board {
	b.files = files
	return b
}

// A Page is the content of a page at the time it was read.
type Page struct {
	Name    string
	Text    string
	Changed time.Time
}

// Read reads a page. Callers can test for [ErrNoPage] and [*NameError]. Read also returns an
// error for a page that is not a regular file.
func (b Board) Read(page string) (Page, error) {
	if err := Check(page); err != nil {
		return Page{}, err
	}
	root, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return Page{}, fmt.Errorf("page %s: %w", page, ErrNoPage)
	} else if err != nil {
		return Page{}, err
	}
	defer root.Close()
	return read(root, page)
}

func read(root *os.Root, page string) (Page, error) {
	name := page + ".md"
	info, err := root.Lstat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return Page{}, fmt.Errorf("page %s: %w", page, ErrNoPage)
	} else if err != nil {
		return Page{}, err
	}
	if !info.Mode().IsRegular() {
		return Page{}, fmt.Errorf("page %s is not a plain file", page)
	}
	f, err := root.Open(name)
	if err != nil {
		return Page{}, err
	}
	defer f.Close()
	// A person may have written the page by hand, at any length. Therefore, read only the
	// end, which is the newest part.
	if over := info.Size() - MaxPage; over > 0 {
		if _, err := f.Seek(over, io.SeekStart); err != nil {
			return Page{}, err
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, MaxPage))
	if err != nil {
		return Page{}, err
	}
	return Page{Name: page, Text: strings.ToValidUTF8(string(data), "\uFFFD"), Changed: info.ModTime()}, nil
}

// List returns the existing pages, sorted by name.
func (b Board) List() ([]string, error) {
	pages := []string{}
	root, err := b.open()
	if errors.Is(err, fs.ErrNotExist) {
		return pages, nil
	} else if err != nil {
		return nil, err
	}
	defer root.Close()
	for _, dir := range []string{".", handoffs} {
		entries, err := fs.ReadDir(root.FS(), dir)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		} else if err != nil {
			return nil, err
		}
		for _, e := range entries {
			page, isPage := strings.CutSuffix(path.Join(dir, e.Name()), ".md")
			if isPage && e.Type().IsRegular() && Check(page) == nil {
				pages = append(pages, page)
			}
		}
	}
	slices.Sort(pages)
	return pages, nil
}

// Replace overwrites a page and returns the new page.
func (b Board) Replace(page, text string) (Page, error) {
	return b.change(page, func(string) string { return text })
}

// Append adds an entry to the end of a page, under a heading with the author and the time.
// It returns the new page.
func (b Board) Append(page, text, by string, at time.Time) (Page, error) {
	return b.change(page, func(old string) string {
		if old = strings.TrimRight(old, "\n"); old != "" {
			old += "\n\n"
		}
		return fmt.Sprintf("%s## %s, %s\n\n%s", old, at.UTC().Format("2006-01-02 15:04 MST"), by, text)
	})
}

func (b Board) change(page string, change func(old string) string) (_ Page, err error) {
	if err := Check(page); err != nil {
		return Page{}, err
	}
	if err := b.create(); err != nil {
		return Page{}, err
	}
	root, err := b.open()
	if err != nil {
		return Page{}, err
	}
	defer root.Close()
	unlock, err := lock(root)
	if err != nil {
		return Page{}, err
	}
	defer unlock()
	old, err := read(root, page)
	if err != nil && !errors.Is(err, ErrNoPage) {
		return Page{}, err
	}
	text := strings.TrimRight(change(old.Text), "\n") + "\n"
	switch {
	case len(text) > MaxPage:
		return Page{}, &TooLongError{len(text)}
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return Page{}, errors.New("the text is not UTF-8, or has a NUL byte")
	}
	// One process writes at a time, so a writer may overwrite a temporary file that a crash
	// left behind.
	o := durable.Options{Temp: "." + path.Base(page) + ".md.tmp"}
	if err := b.files.WriteIn(root, page+".md", o, []byte(text)); err != nil {
		return Page{}, err
	}
	return read(root, page)
}

// lock makes other writers wait until unlock is called or the process ends. It locks the
// folder itself.
func lock(root *os.Root) (unlock func(), err error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	if err := unix.Flock(int(dir.Fd()), unix.LOCK_EX); err != nil {
		dir.Close()
		return nil, fmt.Errorf("lock the board: %w", err)
	}
	return func() { dir.Close() }, nil
}
