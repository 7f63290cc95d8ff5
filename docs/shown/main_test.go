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
)

// update reports whether to rewrite the pages instead of checking them.
var update = os.Getenv("UPDATE") != ""

// patience is the timeout for one command on a page.
const patience = 2 * time.Minute

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
	out, err := exec.Command("go", "build", "-tags", "urfave_cli_no_docs", "-o", bin+"/", "../../cmd/...", "../../internal/testkit/standin/claude").CombinedOutput()
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
	code := m.Run()
	if bin, _ := built(); bin != "" {
		os.RemoveAll(bin)
	}
	os.Exit(code)
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
