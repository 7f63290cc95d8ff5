package packages_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/acptest"
)

var (
	repository string
	made       string // the folder with the packages
	version    string // their version
	// full makes the packages for all platforms, and shares no cache between two builds.
	full = os.Getenv("PACKAGES") == "full"
)

// patience is the timeout for one command; the longest builds all platforms without a cache.
const patience = 40 * time.Minute

func TestMain(m *testing.M) {
	code, err := run(m)
	if err != nil {
		fmt.Fprintln(os.Stderr, "packages:", err)
		code = 1
	}
	os.Exit(code)
}

func run(m *testing.M) (int, error) {
	flag.Parse()
	if testing.Short() {
		fmt.Println("packages: left out by -short: it builds a release")
		return 0, nil
	}
	if status, done, err := acptest.Again(); done {
		return status, err
	}
	out, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}").Output()
	if err != nil {
		return 0, err
	}
	repository = strings.TrimSpace(string(out))
	dir, err := os.MkdirTemp("", "packages")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	made = filepath.Join(dir, "dist")
	if out, err := makePackages(context.Background(), repository, made); err != nil {
		return 0, fmt.Errorf("make packages: %w\n%s", err, out)
	}
	names, err := filepath.Glob(filepath.Join(made, "*_"+runtime.GOOS+"_"+runtime.GOARCH+".tar.gz"))
	if err != nil || len(names) != 1 {
		return 0, fmt.Errorf("make packages made %q for this machine, %v", names, err)
	}
	version = strings.Split(filepath.Base(names[0]), "_")[1]
	return m.Run(), nil
}

// makePackages makes the packages of the source in one folder, in another folder.
func makePackages(ctx context.Context, source, to string, env ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	platforms := runtime.GOOS + "/" + runtime.GOARCH
	if full {
		platforms = ""
	}
	cmd := exec.CommandContext(ctx, "make", "--no-print-directory", "-C", source, "packages", "DIST="+to, "PLATFORMS="+platforms,
		"TOOLS="+filepath.Join(repository, ".tools"))
	cmd.Env = append(os.Environ(), env...)
	return cmd.CombinedOutput()
}

// packageFile returns the path of the package of this machine with a suffix such as ".deb".
func packageFile(suffix string) string {
	return filepath.Join(made, "claude-swarm_"+version+"_"+runtime.GOOS+"_"+runtime.GOARCH+suffix)
}

// A machine is a place into which a package is installed.
type machine struct {
	t   *testing.T
	top string // contains here, home, run and tmp
	env []string
	dir string // the working directory of its commands
}

// newMachine returns a machine whose commands have an empty home folder and the programs of
// this machine.
func newMachine(t *testing.T) *machine {
	t.Helper()
	top, err := os.MkdirTemp("", "p") // short, because the length of the control socket's path is limited
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(top); err != nil {
			t.Error(err)
		}
	})
	m := &machine{t: t, top: top, dir: filepath.Join(top, "here")}
	for _, dir := range []string{m.dir, filepath.Join(top, "home"), filepath.Join(top, "run"), filepath.Join(top, "tmp")} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	m.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + filepath.Join(top, "home"), "XDG_RUNTIME_DIR=" + filepath.Join(top, "run"),
		"TMPDIR=" + filepath.Join(top, "tmp"), "LANG=C.UTF-8", "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1"}
	return m
}

// path puts a folder in front of the machine's PATH.
func (m *machine) path(dir string) {
	m.env[0] = "PATH=" + dir + ":" + strings.TrimPrefix(m.env[0], "PATH=")
}

// run runs a command that must succeed, and returns its standard output.
func (m *machine) run(args ...string) string {
	m.t.Helper()
	out, stderr, err := m.try(args...)
	if err != nil {
		m.t.Fatalf("%q: %v\n%s%s", args, err, out, stderr)
	}
	return out
}

func (m *machine) try(args ...string) (stdout, stderr string, err error) {
	m.t.Helper()
	ctx, cancel := context.WithTimeout(m.t.Context(), patience)
	defer cancel()
	var out, failed bytes.Buffer
	// env finds the program on the machine's PATH.
	cmd := exec.CommandContext(ctx, "env", args...)
	cmd.Dir, cmd.Env, cmd.Stdout, cmd.Stderr = m.dir, m.env, &out, &failed
	err = cmd.Run()
	return out.String(), failed.String(), err
}

// listing returns the files and folders below a folder, without those that skip names.
func listing(t *testing.T, root string, skip ...string) []string {
	t.Helper()
	var all []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, path)
		switch {
		case err != nil:
			return err
		case slices.Contains(skip, name) && d.IsDir():
			return filepath.SkipDir
		case name != ".":
			all = append(all, name)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// added returns the entries of the second list that the first one lacks.
func added(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(after), func(name string) bool { return slices.Contains(before, name) })
}

func read(t *testing.T, path string) []byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return data
}
