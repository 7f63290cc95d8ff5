package audit_test

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/audit"
	"github.com/claude-swarm/claude-swarm/internal/git"
	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// hooks lists the hooks that git might run.
var hooks = []string{
	"applypatch-msg", "commit-msg", "fsmonitor-watchman", "post-applypatch", "post-checkout", "post-commit", "post-index-change",
	"post-merge", "post-receive", "post-rewrite", "post-update", "pre-applypatch", "pre-auto-gc", "pre-commit", "pre-merge-commit",
	"pre-push", "pre-rebase", "pre-receive", "prepare-commit-msg", "proc-receive", "push-to-checkout", "reference-transaction",
	"sendemail-validate", "update",
}

// trap replaces every program that git could run with one that appends a line to the file
// named sprung.
func (p *project) trap() (sprung string) {
	p.Helper()
	sprung = filepath.Join(p.home, "sprung")
	for _, dir := range []string{filepath.Join(p.dir, ".git/hooks"), filepath.Join(p.home, "hooks")} {
		for _, name := range hooks {
			p.script(filepath.Join(dir, name), "echo \"$0 $*\" >>"+sprung+"\n")
		}
	}
	program := filepath.Join(p.home, "hooks", "update")
	p.write(filepath.Join(p.home, ".gitconfig"), gitconfig+`[core]
	hooksPath = `+filepath.Join(p.home, "hooks")+`
	fsmonitor = `+program+`
	pager = `+program+`
	editor = `+program+`
	sshCommand = `+program+`
	attributesFile = `+filepath.Join(p.home, "attributes")+`
[commit]
	gpgSign = true
[gpg]
	program = `+program+`
[log]
	showSignature = true
[diff]
	external = `+program+`
[diff "trap"]
	textconv = `+program+`
[filter "trap"]
	clean = `+program+`
	required = true
[gc]
	auto = 1
	autoDetach = false
[user]
	useConfigOnly = true
[fastimport]
	unpackLimit = 1
`)
	p.write(filepath.Join(p.home, "attributes"), "* filter=trap diff=trap text eol=crlf\n")
	return sprung
}

func TestThePersonsRepositoryIsUntouched(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.write(filepath.Join(p.dir, "a.txt"), "one\n")
	p.write(filepath.Join(p.dir, "b.txt"), "one\n")
	p.write(filepath.Join(p.dir, ".gitignore"), ".dead-drop/\n.claude-swarm/\n")
	p.git("add", ".")
	p.git("commit", "-q", "-m", "start")
	p.git("switch", "-q", "-c", "feature")
	p.write(filepath.Join(p.dir, "a.txt"), "staged\n")
	p.git("add", "a.txt")
	p.write(filepath.Join(p.dir, "b.txt"), "not staged\n")
	p.write(filepath.Join(p.dir, "c.txt"), "not tracked\n")
	// A git command that the person ran has crashed and left the index's lock file
	// behind.
	p.write(filepath.Join(p.dir, ".git/index.lock"), "")
	status := p.git("--no-optional-locks", "status", "--branch", "--porcelain=v2")
	sprung := p.trap()

	a := p.audit()
	for seq := range 2 {
		p.turn("coder", seq, p.now, nil)
		skip := []string{".git/objects", ".git/refs/heads/dead-drop", ".git/logs/refs/heads/dead-drop"}
		before := snapshot(t, p.dir, skip...)
		p.record(a)
		if diff := cmp.Diff(before, snapshot(t, p.dir, skip...)); diff != "" {
			t.Errorf("files outside of the branch changed (-before +after):\n%s", diff)
		}
	}
	if packs, err := filepath.Glob(filepath.Join(p.dir, ".git/objects/pack/*.pack")); err != nil || len(packs) > 0 {
		t.Errorf("packs %q, %v: a pack for each turn makes git slow", packs, err)
	}
	if ran, err := os.ReadFile(sprung); err == nil {
		t.Errorf("git ran:\n%s", ran)
	}
	if err := os.Remove(filepath.Join(p.home, ".gitconfig")); err != nil {
		t.Fatal(err)
	}
	if got := p.git("--no-optional-locks", "status", "--branch", "--porcelain=v2"); got != status {
		t.Errorf("status = %q, was %q", got, status)
	}
	if got := p.log("%an <%ae> %cn"); len(got) != 2 || got[1] != "coder <coder@claude-swarm.invalid> coder" {
		t.Errorf("commits by %q", got)
	}
}

func TestTheTrapsWork(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	sprung := p.trap()
	p.git("commit", "-q", "--allow-empty", "--no-gpg-sign", "-m", "x", "--author", "a <a@b.c>")
	if _, err := os.Stat(sprung); err != nil {
		t.Errorf("a plain commit ran no hook: %v", err)
	}
}

func TestAnInheritedEnvironmentPointsNowhere(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	other := newProject(t)
	p.turn("coder", 1, p.now, nil)
	o := p.options()
	index := filepath.Join(p.home, "index")
	o.Environ = append(o.Environ,
		"GIT_DIR="+filepath.Join(other.dir, ".git"), "GIT_WORK_TREE="+other.dir, "GIT_INDEX_FILE="+index,
		"GIT_OBJECT_DIRECTORY="+filepath.Join(p.home, "objects"), "GIT_COMMON_DIR="+filepath.Join(other.dir, ".git"),
		"GIT_NAMESPACE=x", "GIT_AUTHOR_NAME=nobody", "GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=core.bare", "GIT_CONFIG_VALUE_0=true",
		"GIT_TRACE="+filepath.Join(p.home, "trace"), "GIT_CEILING_DIRECTORIES="+p.dir, "GIT_PREFIX=x/")
	p.record(p.auditWith(o))
	if got := p.log("%an"); !slices.Equal(got, []string{"coder"}) {
		t.Errorf("commits by %q, want coder", got)
	}
	for _, name := range []string{index, filepath.Join(p.home, "objects"), filepath.Join(p.home, "trace"), filepath.Join(other.dir, ".git/refs/heads/dead-drop")} {
		if _, err := os.Stat(name); err == nil {
			t.Errorf("%s was made", name)
		}
	}
}

func TestWhereMailboxesMayLie(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Parallel()
	type place struct {
		move func(p *project) // moves p.drop
		want string           // the path of the version file in the tree
	}
	for name, c := range map[string]place{
		"empty repository": {want: ".dead-drop/version"},
		"sha256": {
			move: func(p *project) {
				if err := os.RemoveAll(filepath.Join(p.dir, ".git")); err != nil {
					p.Fatal(err)
				}
				p.git("init", "-q", "--object-format=sha256")
			}, want: ".dead-drop/version",
		},
		"folder of a large repository": {
			move: func(p *project) { p.drop = filepath.Join(p.dir, "services/a b*\"é\\/.dead-drop") }, want: "services/a b*\"é\\/.dead-drop/version",
		},
		"another name": {move: func(p *project) { p.drop = filepath.Join(p.dir, "mail") }, want: "mail/version"},
		"linked worktree": {
			move: func(p *project) {
				p.git("commit", "-q", "--allow-empty", "-m", "start")
				p.git("worktree", "add", "-q", "../linked")
				p.drop = filepath.Join(p.dir, "../linked/.dead-drop")
			}, want: ".dead-drop/version",
		},
		"a separate repository": {
			move: func(p *project) {
				p.drop = filepath.Join(p.home, "mail")
				if err := os.MkdirAll(p.drop, 0o700); err != nil {
					p.Fatal(err)
				}
				p.dir = p.drop
				p.git("init", "-q")
			}, want: "version",
		},
		"submodule": {
			move: func(p *project) {
				need.Program(p, "sed") // git submodule is a shell script
				other := newProject(p.TB)
				other.git("commit", "-q", "--allow-empty", "-m", "start")
				p.git("-c", "protocol.file.allow=always", "submodule", "add", "-q", other.dir, "sub")
				p.dir = filepath.Join(p.dir, "sub")
				p.drop = filepath.Join(p.dir, ".dead-drop")
			}, want: ".dead-drop/version",
		},
		"behind a link": {
			move: func(p *project) {
				if err := os.Symlink(p.drop, filepath.Join(p.home, "link")); err != nil {
					p.Fatal(err)
				}
				p.drop = filepath.Join(p.home, "link")
			}, want: ".dead-drop/version",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newProject(t)
			if c.move != nil {
				old := p.drop
				c.move(p)
				if fi, err := os.Lstat(p.drop); err != nil || fi.IsDir() {
					data, err := os.ReadFile(filepath.Join(old, "version"))
					if err != nil {
						t.Fatal(err)
					}
					p.write(filepath.Join(p.drop, "version"), string(data))
				}
			}
			base := p.turn("coder", 1, p.now, nil)
			a := p.audit()
			p.record(a)
			prefix := strings.TrimSuffix(c.want, "version")
			tree := p.tree()
			for _, want := range []string{c.want, prefix + base + ".md", prefix + base + ".receipt.yaml"} {
				if !slices.Contains(tree, want) {
					t.Errorf("%q is not in the tree %q", want, tree)
				}
			}
			p.record(p.audit())
			p.turn("coder", 2, p.now, nil)
			p.record(a)
			if got := p.log("%s"); !slices.Equal(got, []string{"coder: Do PERF-1", "coder: Do PERF-2"}) {
				t.Errorf("commits = %q, want one for each turn", got)
			}
		})
	}
}

func TestWhereThereIsNoRepository(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	if err := os.RemoveAll(filepath.Join(p.dir, ".git")); err != nil {
		t.Fatal(err)
	}
	if _, err := audit.Open(t.Context(), p.drop, p.options()); !errors.Is(err, audit.ErrNoRepository) || !strings.Contains(err.Error(), "git init") {
		t.Errorf("OpenAudit = %v, want ErrNoRepository with what to do", err)
	}
	p.git("init", "-q", "--bare")
	if _, err := audit.Open(t.Context(), p.drop, p.options()); !errors.Is(err, audit.ErrNoRepository) {
		t.Errorf("OpenAudit in a bare repository = %v, want ErrNoRepository", err)
	}
	o := p.options()
	o.Git = filepath.Join(p.home, "no-such-git")
	if _, err := audit.Open(t.Context(), p.drop, o); !errors.Is(err, git.ErrNoGit) {
		t.Errorf("OpenAudit without git = %v, want ErrNoGit", err)
	}
	if _, err := audit.Open(t.Context(), filepath.Join(p.dir, "none"), p.options()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("OpenAudit without mailboxes = %v, want ErrNotExist", err)
	}
}

func TestABranchThatIsCheckedOutStays(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	a := p.audit()
	p.git("symbolic-ref", "HEAD", "refs/heads/"+audit.Branch)
	if err := a.Record(t.Context()); !errors.Is(err, audit.ErrCheckedOut) {
		t.Errorf("Record with an unborn branch checked out = %v, want ErrCheckedOut", err)
	}
	p.git("symbolic-ref", "HEAD", "refs/heads/main")
	p.git("commit", "-q", "--allow-empty", "-m", "start")
	p.record(a)
	tip := p.tip()
	p.git("worktree", "add", "-q", "../look", audit.Branch)
	p.turn("coder", 1, p.now, nil)
	if err := a.Record(t.Context()); !errors.Is(err, audit.ErrCheckedOut) || !strings.Contains(err.Error(), "look") {
		t.Errorf("Record with the branch checked out = %v, want ErrCheckedOut and where", err)
	}
	if got := p.tip(); got != tip {
		t.Error("the branch moved")
	}
	// If a worktree was deleted without git worktree remove, the branch does not count as
	// checked out.
	if err := os.RemoveAll(filepath.Join(p.dir, "../look")); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	if got := p.log("%an"); !slices.Equal(got, []string{"swarm", "coder"}) {
		t.Errorf("commits by %q", got)
	}
}

func TestAPersonsBranchOfThatNameStays(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.git("commit", "-q", "--allow-empty", "-m", "my own")
	p.git("branch", audit.Branch)
	if err := p.audit().Record(t.Context()); !errors.Is(err, audit.ErrForeign) {
		t.Errorf("Record = %v, want ErrForeign", err)
	}
	p.git("branch", "-m", audit.Branch, audit.Branch+"/mine")
	if err := p.audit().Record(t.Context()); err == nil || !strings.Contains(err.Error(), audit.Branch+"/mine") {
		t.Errorf("Record with the branch in the way = %v, want its name", err)
	}
	if got := p.git("branch", "--list", "--format=%(refname:short)"); got != audit.Branch+"/mine\nmain\n" {
		t.Errorf("branches = %q", got)
	}
	if found, _ := filepath.Glob(filepath.Join(p.dir, ".git/fast_import_crash_*")); len(found) > 0 {
		t.Errorf("left behind: %q", found)
	}
}

func TestStrangeThingsInTheFolders(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	board := filepath.Join(p.drop, "board")
	good := []string{"with space", "quote\".md", "back\\slash", "new\nline", "tab\there", "\xff\xfe", "ümlaut", "-dash", "a/b/c/d", "done", "#x", "50%", "\x01"}
	bad := []string{".git", ".GIT/config", "a/.git/config", "git~1", "GIT~2", ".g\u200cit/x", "\u200c.git", `x\.git\config`, ".hidden", ".gitmodules"}
	for _, name := range slices.Concat(good, bad) {
		p.write(filepath.Join(board, name), "content of "+name)
	}
	dead := filepath.Join(p.drop, "coder/dead")
	p.write(filepath.Join(dead, "folder/inside.txt"), "x")
	if err := errors.Join(
		os.Symlink("/etc/passwd", filepath.Join(dead, "link")), os.Symlink(p.home, filepath.Join(board, "linked")),
		os.Symlink("../coder", filepath.Join(p.drop, "alias")),
		syscall.Mkfifo(filepath.Join(dead, "fifo"), 0o600), syscall.Mkfifo(filepath.Join(board, "fifo"), 0o600),
		os.WriteFile(filepath.Join(board, "large"), nil, 0o600), os.Truncate(filepath.Join(board, "large"), 65<<20),
	); err != nil {
		t.Fatal(err)
	}
	p.write(filepath.Join(p.drop, "stray/done"), "a file in the way")
	p.write(filepath.Join(p.drop, "coder/done/notes.txt"), "no day")
	p.write(filepath.Join(p.drop, "coder/done/2026-13-45/x.md"), "no day")
	base := p.turn("coder", 1, p.now, nil)
	p.write(filepath.Join(p.drop, filepath.Dir(base), "left by hand.txt"), "x")
	if err := os.Symlink("/etc/passwd", filepath.Join(p.drop, filepath.Dir(base), "1-link.receipt.yaml")); err != nil {
		t.Fatal(err)
	}
	for _, waiting := range []string{"coder/new/1-x.md", "coder/cur/1-x.md", "coder/tmp/x", "coder/keys/x", "coder/work/x", "coder/FULL", "HALT", ".lock"} {
		p.write(filepath.Join(p.drop, waiting), "x")
	}
	a := p.audit()
	p.record(a)

	want := []string{".dead-drop/.gitignore", ".dead-drop/version", ".dead-drop/" + base + ".md", ".dead-drop/" + base + ".receipt.yaml", ".dead-drop/" + filepath.Dir(base) + "/left by hand.txt"}
	for _, name := range good {
		want = append(want, ".dead-drop/board/"+name)
	}
	files := p.contents()
	got := slices.Sorted(maps.Keys(files))
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	for _, name := range good {
		if got := files[".dead-drop/board/"+name]; got != "content of "+name {
			t.Errorf("%q holds %q", name, got)
		}
	}
	before := p.tip()
	p.record(a)
	p.record(p.audit())
	if after := p.tip(); after != before {
		t.Errorf("Record without news made commits: %q", p.log("%s"))
	}
	p.git("fsck", "--strict", "--no-dangling")
}

func TestAFileThatCannotBeReadStopsNoOther(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	base := p.turn("coder", 1, p.now, nil)
	sealed := filepath.Join(p.drop, filepath.Dir(base), "sealed.md")
	p.write(sealed, "x")
	// The root user can read files with any mode, so the test also makes the file too
	// large.
	if err := errors.Join(os.Truncate(sealed, 65<<20), os.Chmod(sealed, 0)); err != nil {
		t.Fatal(err)
	}
	var log strings.Builder
	o := p.options()
	o.Log = textLog(&log)
	a := p.auditWith(o)
	for i := range 2 { // a comparison from scratch, and one with the memory
		p.turn("coder", 10+i, p.now, nil)
		p.record(a)
	}
	if got := p.log("%an"); !slices.Equal(got, []string{"coder", "coder", "coder"}) {
		t.Errorf("commits by %q, want three by coder", got)
	}
	before := p.tip()
	if got := strings.Count(log.String(), "sealed.md"); got != 1 {
		t.Errorf("the log names the file %d times, want once:\n%s", got, &log)
	}
	p.record(p.audit())
	if after := p.tip(); after != before {
		t.Errorf("commits by %q: an empty one was made", p.log("%an"))
	}
}

func TestTheMailboxesVanish(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.turn("coder", 1, p.now, nil)
	a := p.audit()
	p.record(a)
	aside := p.drop + ".aside"
	if err := os.Rename(p.drop, aside); err != nil {
		t.Fatal(err)
	}
	if err := a.Record(t.Context()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("Record without mailboxes = %v, want ErrNotExist", err)
	}
	if err := os.Rename(aside, p.drop); err != nil {
		t.Fatal(err)
	}
	p.turn("coder", 2, p.now, nil)
	p.record(a)
	if got := p.log("%s"); !slices.Equal(got, []string{"coder: Do PERF-1", "coder: Do PERF-2"}) {
		t.Errorf("commits = %q", got)
	}
}

// git names the repository of another user in two ways: the patched versions before 2.35.2 and
// the later ones.
func TestARepositoryOfAnotherUser(t *testing.T) {
	for _, says := range []string{"fatal: detected dubious ownership in repository at '/srv/a b'\nTo add an exception", "fatal: unsafe repository ('/srv/a b' is owned by someone else)\nTo add"} {
		p := newProject(t)
		_, err := audit.Open(t.Context(), p.drop, p.gitThat("cat >&2 <<'END'\n"+says+"\nEND\nexit 128"))
		owner, ok := errors.AsType[*git.OwnerError](err)
		if !ok || owner.Dir != "/srv/a b" {
			t.Errorf("%q: OpenAudit = %v, want an OwnerError of /srv/a b", says, err)
		}
	}
}

// A git command that runs while the project is moved goes on in the moved repository, and
// writes nothing to the old place.
func TestACommandGoesOnInAMovedProject(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	moved := p.dir + "-moved"
	a := p.auditWith(p.gitThat(`case "$*" in *fast-import*) mv ` + p.dir + ` ` + moved + `;; esac`))
	p.turn("coder", 1, p.now, nil)
	_ = a.Record(t.Context()) // it may fail: the audit's own folder has been moved
	if _, err := os.Lstat(p.dir); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the old place: %v, want nothing there", err)
	}
	p.dir = moved
	p.tip()
}
