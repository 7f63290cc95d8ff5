package shown_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/standin"
)

// update reports whether to rewrite the pages instead of checking them.
var update = os.Getenv("UPDATE") != ""

// patience is the timeout for one command on a page.
const patience = 2 * time.Minute

// programs is the folder that built has created. It is "" if built was not called.
var programs string

// built returns a folder with the real program and, under the name claude, the stand-in.
// The folder is created only once.
var built = sync.OnceValues(func() (string, error) {
	if err := noteSources(); err != nil {
		return "", err
	}
	bin, err := os.MkdirTemp("", "cs-bin")
	if err != nil {
		return "", err
	}
	programs = bin
	self, err := os.Executable()
	if err != nil {
		return bin, err
	}
	// The test binary is the stand-in if its name is claude; see TestMain.
	claude := filepath.Join(bin, "claude")
	if os.Link(self, claude) != nil { // for example, because it is on another disk
		if err := os.Symlink(self, claude); err != nil {
			return bin, err
		}
	}
	// Without its symbols, the program is linked in half the time.
	out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-ldflags", "-s -w", "-o", bin+"/", "../../cmd/...").CombinedOutput()
	if err != nil {
		return bin, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return bin, nil
})

// noteSources reads the program's source folders, so that the go command discards a
// cached result of this test when one of them changes.
func noteSources() error {
	for _, dir := range []string{"cmd", "dropbox", "internal", "ircbridge", "streamjson", "swarm", "window"} {
		err := filepath.WalkDir(filepath.Join("../..", dir), func(_ string, _ fs.DirEntry, err error) error { return err })
		if err != nil {
			return fmt.Errorf("look at the sources: %w", err)
		}
	}
	return nil
}

func TestMain(m *testing.M) {
	if filepath.Base(os.Args[0]) == "claude" {
		os.Exit(standin.Main(os.Args[1:], os.Environ(), os.Stdin, os.Stdout, os.Stderr))
	}
	code := m.Run()
	os.RemoveAll(programs) // "" if no test needed them
	os.Exit(code)
}

// parallel lets a test with its own project run beside others, because it mostly waits for
// a daemon. With UPDATE, two tests at a time could write the same page.
func parallel(t *testing.T) {
	if !update {
		t.Parallel()
	}
}

func program(t *testing.T) (bin string) {
	t.Helper()
	bin, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return bin
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

var fenced = regexp.MustCompile("(?ms)^ *```([a-z]*)\n(.*?)^ *```$")

// shownBlock returns the lines of the first block that begins with the given text on a
// page.
func shownBlock(t *testing.T, page, begin string) []string {
	t.Helper()
	for _, m := range fenced.FindAllStringSubmatch(read(t, page), -1) {
		if strings.HasPrefix(m[2], begin) {
			return strings.Split(strings.TrimSuffix(m[2], "\n"), "\n")
		}
	}
	t.Fatalf("%s has no block that begins with %q", page, begin)
	return nil
}
