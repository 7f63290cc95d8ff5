package provision_test

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/provision"
)

// folders contains functions that create typical project folders.
var folders = map[string]func(t *testing.T, dir string){
	"empty": func(*testing.T, string) {},
	"a .gitignore without an end of line": func(t *testing.T, dir string) {
		put(t, dir, ".gitignore", "*.o\nbuild", 0o640)
	},
	"carriage returns": func(t *testing.T, dir string) {
		put(t, dir, ".gitignore", "*.o\r\nbuild\r\n", 0o644)
		put(t, dir, "README.md", "hello\r\n", 0o600)
	},
	"somebody's .claude/settings.json": func(t *testing.T, dir string) {
		put(t, dir, ".claude/settings.json", "{\n\t\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"say done\"}]}]}, \"model\": \"opus\"\n}", 0o600)
		put(t, dir, ".gitignore", "", 0o644)
	},
	"a git repository with worktrees": func(t *testing.T, dir string) {
		put(t, dir, "main.go", "package main\n", 0o755)
		for _, args := range [][]string{
			{"init", "-q", "."}, {"add", "."},
			{"-c", "user.name=ada", "-c", "user.email=ada@example.com", "commit", "-qm", "begin"},
			{"worktree", "add", "-q", "-b", "reviews", "wt/reviews"},
		} {
			git(t, dir, args...)
		}
		if err := os.Symlink("../main.go", filepath.Join(dir, "wt", "link")); err != nil {
			t.Fatal(err)
		}
	},
}

func git(t *testing.T, dir string, args ...string) string {
	t.Helper()
	cmd := exec.Command("git", append([]string{"-C", dir}, args...)...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_SYSTEM=/dev/null")
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("git %q: %v\n%s", args, err, out)
	}
	return string(out)
}

// put writes a file with an old modification time.
func put(t *testing.T, dir, name, text string, mode fs.FileMode) {
	t.Helper()
	path := filepath.Join(dir, name)
	old := time.Date(2020, 2, 3, 4, 5, 6, 789, time.UTC)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if err == nil {
		err = os.WriteFile(path, []byte(text), mode)
	}
	if err = errors.Join(err, os.Chmod(path, mode), os.Chtimes(path, old, old)); err != nil {
		t.Fatal(err)
	}
}

// snapshot describes everything below dir: content, mode and, for files, the modification
// time.
func snapshot(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		name, _ := filepath.Rel(dir, path)
		switch {
		case d.Type().IsRegular():
			data, err := os.ReadFile(path)
			all[name] = fmt.Sprintf("%v %v %s", info.Mode(), info.ModTime(), data)
			return err
		case d.Type()&fs.ModeSymlink != 0:
			to, err := os.Readlink(path)
			all[name] = "to " + to
			return err
		}
		all[name] = info.Mode().String()
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// A trip runs init, with or without attached sessions, and then removes everything that
// init created.
type trip struct {
	make   func(dir string, step func(string) error) error
	remove func(dir string, step func(string) error) error
}

var initTrip = trip{
	make: func(dir string, step func(string) error) error {
		_, err := provision.Init(dir, provision.Options{Step: step})
		return err
	},
	remove: func(dir string, step func(string) error) error {
		_, err := provision.Remove(dir, provision.RemoveOptions{Step: step})
		return err
	},
}

var errCut = errors.New("cut off here")

// cutAfter returns a Step function that allows n changes and ends the run at the next
// one.
func cutAfter(n int) func(string) error {
	return func(string) error {
		if n == 0 {
			return errCut
		}
		n--
		return nil
	}
}

// steps returns the number of changes that a run makes.
func steps(n *int) func(string) error {
	return func(string) error { *n++; return nil }
}

// A run that is interrupted after any of its changes can be continued and undone: see
// trip.test.
func TestRemoveUndoesInit(t *testing.T) {
	for name, prepare := range folders {
		t.Run(name, func(t *testing.T) { t.Parallel(); initTrip.test(t, prepare) })
	}
}

func (tr trip) test(t *testing.T, prepare func(*testing.T, string)) {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	same := func(when, dir string, before map[string]string) {
		t.Helper()
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Fatalf("%s, -before +after:\n%s", when, diff)
		}
	}
	sound := func(when, dir string) {
		t.Helper()
		if r, err := provision.Check(dir); err != nil || !r.Sound() {
			t.Fatalf("%s: Check = %+v, %v", when, r, err)
		}
	}

	dir := t.TempDir()
	prepare(t, dir)
	before := snapshot(t, dir)
	makes, removes := 0, 0
	must(tr.make(dir, steps(&makes)))
	sound("made", dir)
	made := snapshot(t, dir)
	must(tr.make(dir, func(what string) error { return fmt.Errorf("the second time it does %q", what) }))
	same("made twice", dir, made)
	must(tr.remove(dir, steps(&removes)))
	same("removed", dir, before)
	must(tr.remove(dir, nil))
	same("removed twice", dir, before)
	if makes < 5 || removes < 5 {
		t.Fatalf("%d changes to make it, %d to remove it: the cuts below prove little", makes, removes)
	}

	// Each round ends in the state in which it began, so that all rounds can use one
	// folder.
	dir = inMemory(t)
	prepare(t, dir)
	before = snapshot(t, dir)
	for n := range makes {
		if err := tr.make(dir, cutAfter(n)); !errors.Is(err, errCut) {
			t.Fatalf("cut after %d of %d changes: %v", n, makes, err)
		}
		if n%2 == 0 { // as if a person gave up instead of repeating init
			must(tr.remove(dir, nil))
			same(fmt.Sprintf("cut after change %d, and removed", n), dir, before)
		}
		must(tr.make(dir, nil))
		sound(fmt.Sprintf("cut after change %d, and made again", n), dir)
		must(tr.remove(dir, nil))
		same(fmt.Sprintf("cut after change %d, made again and removed", n), dir, before)
	}
	for n := range removes {
		must(tr.make(dir, nil))
		if err := tr.remove(dir, cutAfter(n)); !errors.Is(err, errCut) {
			t.Fatalf("removal cut after %d of %d changes: %v", n, removes, err)
		}
		if n%2 == 0 {
			must(tr.make(dir, nil))
			sound(fmt.Sprintf("removal cut after change %d, and made again", n), dir)
		}
		must(tr.remove(dir, nil))
		same(fmt.Sprintf("removal cut after change %d, and removed again", n), dir, before)
	}
}

// inMemory returns a scratch folder in memory, if the system has one. The test does
// hundreds of runs and needs no durability, because it checks only the order of changes.
func inMemory(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("/dev/shm", "provision")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// If init or attach is killed, both can be repeated, and everything can be removed.
func TestKilledWhileAttaching(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	if dir := os.Getenv("PROVISION_DIR"); dir != "" {
		left, err := strconv.Atoi(os.Getenv("PROVISION_CHANGES"))
		if err != nil {
			t.Fatal(err)
		}
		err = attachTrip(t, provision.BySettings).make(dir, func(string) error {
			if left == 0 {
				_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
				select {} // wait until the signal is delivered
			}
			left--
			return nil
		})
		t.Fatalf("it ended: %v", err)
	}
	dir := t.TempDir()
	folders["somebody's .claude/settings.json"](t, dir)
	before := snapshot(t, dir)
	tr := attachTrip(t, provision.BySettings)
	makes := 0
	if err := tr.make(dir, steps(&makes)); err != nil {
		t.Fatal(err)
	}
	for _, n := range []int{0, makes / 4, makes / 2, makes - 1} {
		if err := tr.remove(dir, nil); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
			t.Fatalf("before it is killed after change %d, -want +got:\n%s", n, diff)
		}
		cmd := exec.Command(os.Args[0], "-test.run=^TestKilledWhileAttaching$")
		cmd.Env = append(os.Environ(), "PROVISION_DIR="+dir, "PROVISION_CHANGES="+strconv.Itoa(n))
		out, err := cmd.CombinedOutput()
		if status, ok := cmd.ProcessState.Sys().(syscall.WaitStatus); !ok || status.Signal() != syscall.SIGKILL {
			t.Fatalf("it was not killed after change %d: %v\n%s", n, err, out)
		}
		if err := tr.make(dir, nil); err != nil {
			t.Fatalf("killed after change %d, and made again: %v", n, err)
		}
		if r, err := provision.Check(dir); err != nil || !r.Sound() {
			t.Fatalf("killed after change %d, and made again: Check = %+v, %v", n, r, err)
		}
	}
	if err := tr.remove(dir, nil); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("at the end, -want +got:\n%s", diff)
	}
}

func TestRemoveKeepsWhatIsYours(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, ".gitignore", "*.o\n", 0o644)
	initIn(t, dir, provision.Options{})
	store, err := dropbox.Open(filepath.Join(dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Deliver("coder", &dropbox.Message{Body: []byte("keep me\n")}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	yaml, _ := os.ReadFile(filepath.Join(dir, "claude-swarm.yaml"))
	if err := os.WriteFile(filepath.Join(dir, "claude-swarm.yaml"), append(yaml, "# mine\n"...), 0o644); err != nil {
		t.Fatal(err)
	}
	ignore, _ := os.ReadFile(filepath.Join(dir, ".gitignore"))
	if err := os.WriteFile(filepath.Join(dir, ".gitignore"), append([]byte("first\n"), append(ignore, "last\n"...)...), 0o644); err != nil {
		t.Fatal(err)
	}

	r, err := provision.Remove(dir, provision.RemoveOptions{})
	if err != nil {
		t.Fatal(err)
	}
	want := "taken .gitignore\nkept claude-swarm.yaml\nkept .dead-drop/coder\nremoved .dead-drop/lead\n" +
		"removed .dead-drop/reviewer\nkept .claude-swarm\n"
	if diff := cmp.Diff(want, items(r)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if text, _ := os.ReadFile(filepath.Join(dir, ".gitignore")); string(text) != "first\n*.o\nlast\n" {
		t.Errorf(".gitignore = %q", text)
	}
	if mail, _ := filepath.Glob(filepath.Join(dir, ".dead-drop/coder/new/*.md")); len(mail) != 1 {
		t.Errorf("the message is gone: %v", mail)
	}

	r, err = provision.Remove(dir, provision.RemoveOptions{Purge: true})
	if err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(filepath.Join(dir, ".[cd]*")); len(left) != 0 {
		t.Errorf("with Purge %v stay; report %+v", left, r)
	}
	if _, err := os.Stat(filepath.Join(dir, "claude-swarm.yaml")); err != nil {
		t.Errorf("your claude-swarm.yaml: %v", err)
	}
}

// If the mailboxes' folder is a link, it is foreign, and so is its content.
func TestPurgeBehindALink(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".dead-drop")); err != nil {
		t.Fatal(err)
	}
	before := snapshot(t, dir)
	initIn(t, dir, provision.Options{})
	store, err := dropbox.Open(filepath.Join(dir, ".dead-drop"), dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := store.Deliver("coder", &dropbox.Message{Body: []byte("keep me\n")}); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}
	if held, err := provision.MailToPurge(dir, ""); err != nil || len(held) != 0 {
		t.Errorf("MailToPurge = %v, %v, want nothing behind a link", held, err)
	}
	r, err := provision.Remove(dir, provision.RemoveOptions{Purge: true})
	if err != nil || !strings.Contains(items(r), "kept .dead-drop/coder\n") {
		t.Errorf("Remove = %s, %v", items(r), err)
	}
	mail, _ := filepath.Glob(filepath.Join(elsewhere, "coder/new/*.md"))
	if len(mail) != 1 {
		t.Errorf("the mail at the link's target is gone: %v", mail)
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("in the project, -before +after:\n%s", diff)
	}

	// If there is no mail, none of our files remain at the link's target, but the link
	// itself remains.
	dir, elsewhere = t.TempDir(), t.TempDir()
	if err := os.Symlink(elsewhere, filepath.Join(dir, ".dead-drop")); err != nil {
		t.Fatal(err)
	}
	before = snapshot(t, dir)
	initIn(t, dir, provision.Options{})
	if _, err := provision.Remove(dir, provision.RemoveOptions{}); err != nil {
		t.Fatal(err)
	}
	if left, err := os.ReadDir(elsewhere); err != nil || len(left) != 0 {
		t.Errorf("at the target %v is left: %v", left, err)
	}
	if diff := cmp.Diff(before, snapshot(t, dir)); diff != "" {
		t.Errorf("in the project, -before +after:\n%s", diff)
	}
}

func TestRemoveOneAgent(t *testing.T) {
	dir := t.TempDir()
	initIn(t, dir, provision.Options{})
	r, err := provision.Remove(dir, provision.RemoveOptions{Agent: "reviewer"})
	if err != nil || items(r) != "removed .dead-drop/reviewer\nkept claude-swarm.yaml\n" || !strings.Contains(r.Items[1].Why, "reviewer is still in it") {
		t.Errorf("Remove = %+v, %v", r, err)
	}
	r, err = provision.Check(dir)
	if err != nil || r.Sound() {
		t.Errorf("Check = %+v, %v, want a mailbox missing", r, err)
	}
}

func TestCheckTellsDrift(t *testing.T) {
	dir := t.TempDir()
	r, err := provision.Check(dir)
	if err != nil || items(r) != "missing claude-swarm.yaml\n" || r.Sound() {
		t.Fatalf("Check of nothing = %+v, %v", r, err)
	}
	if left, _ := os.ReadDir(dir); len(left) != 0 {
		t.Errorf("Check left %v", left)
	}
	put(t, dir, ".gitignore", "*.o\n", 0o644)
	initIn(t, dir, provision.Options{Config: "agents: {coder: }\n"})
	check := func(want string, sound bool) {
		t.Helper()
		r, err := provision.Check(dir)
		if err != nil || items(r) != want || r.Sound() != sound {
			t.Errorf("Check = %s(%v), sound %v, want %s, %v", items(r), err, r.Sound(), want, sound)
		}
	}
	boxes := "current .dead-drop\ncurrent .dead-drop/coder\ncurrent .dead-drop/lead\n"
	check("current claude-swarm.yaml\n"+boxes+"current .gitignore\n", true)
	put(t, dir, "claude-swarm.yaml", "agents: {coder: }\n# mine\n", 0o644)
	check("present claude-swarm.yaml\n"+boxes+"current .gitignore\n", true)
	put(t, dir, ".gitignore", "*.o\n# >>> claude-swarm >>>\n.claude-swarm/\n# mine\n", 0o644)
	check("present claude-swarm.yaml\n"+boxes+"drifted .gitignore\n", false)
	put(t, dir, ".gitignore", "*.o\n", 0o644)
	check("present claude-swarm.yaml\n"+boxes+"missing .gitignore\n", false)
	initIn(t, dir, provision.Options{})
	check("present claude-swarm.yaml\n"+boxes+"current .gitignore\n", true)
}
