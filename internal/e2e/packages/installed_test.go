package packages_test

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// shares are the paths of what a package installs beside the program.
type shares struct {
	prefix string // "/usr" in a root
	zsh    string // the folder of the completion for zsh, below share/zsh
	zipped bool   // whether the manual pages are compressed
}

// checkInstalled runs the program below a prefix, shows each manual page, and completes a
// word in each shell.
func checkInstalled(m *machine, s shares) {
	m.t.Helper()
	program := filepath.Join(s.prefix, "bin", "claude-swarm")
	if said := m.run(program, "version"); !strings.HasPrefix(said, "claude-swarm ") || !strings.Contains(said, runtime.GOOS+"/"+runtime.GOARCH) {
		m.t.Errorf("the installed program says %q", said)
	}
	if info, err := os.Stat(program); err != nil || info.Mode().Perm() != 0o755 {
		m.t.Errorf("the mode of the installed program: %v, %v", info.Mode(), err)
	}
	m.path(filepath.Dir(program))
	checkPages(m, s)
	checkCompletion(m, s)
	for _, name := range []string{"README.md", "CHANGELOG.md"} {
		if !bytes.Equal(read(m.t, filepath.Join(s.prefix, "share/doc/claude-swarm", name)), read(m.t, filepath.Join(repository, name))) {
			m.t.Errorf("the installed %s is another one", name)
		}
	}
}

func checkPages(m *machine, s shares) {
	m.t.Helper()
	need.Program(m.t, "man")
	dir := filepath.Join(s.prefix, "share/man/man1")
	names := listing(m.t, dir)
	if len(names) < 5 {
		m.t.Errorf("only these manual pages are installed: %q", names)
	}
	for _, name := range names {
		if strings.HasSuffix(name, ".gz") != s.zipped {
			m.t.Errorf("the manual page is called %s", name)
		}
		shown, warned, err := m.try("MANWIDTH=80", "man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", filepath.Join(dir, name))
		if err != nil || warned != "" {
			m.t.Errorf("man %s: %v\n%s", name, err, warned)
		}
		// A bold letter is printed twice, with a backspace between.
		if len(shown) < 1000 || !strings.Contains(shown, "S\bSE\bEE\bE A\bAL\bLS\bSO\bO") {
			m.t.Errorf("man %s shows\n%s", name, shown)
		}
	}
	// man finds a page by its name.
	if at := m.run("MANPATH="+filepath.Join(s.prefix, "share/man"), "man", "-w", "claude-swarm-mail"); !strings.HasPrefix(at, dir) {
		m.t.Errorf("man -w finds %s, want a page in %s", at, dir)
	}
}

func checkCompletion(m *machine, s shares) {
	m.t.Helper()
	need.Programs(m.t, "bash", "zsh", "fish")
	share := filepath.Join(s.prefix, "share")
	got := m.run("bash", "--norc", "-c", `. "$1"; COMP_WORDS=(claude-swarm unsu); COMP_CWORD=1; _claude_swarm; echo "${COMPREPLY[@]}"; complete -p claude-swarm`,
		"bash", filepath.Join(share, "bash-completion/completions/claude-swarm"))
	if want := "unsubscribe\ncomplete -F _claude_swarm claude-swarm\n"; got != want {
		m.t.Errorf("bash completes to %q, want %q", got, want)
	}
	// fish finds its completions by itself.
	got = m.run("XDG_DATA_DIRS="+share, "fish", "--no-config", "-c", "source "+filepath.Join(share, "fish/vendor_completions.d/claude-swarm.fish")+`; complete -C "claude-swarm unsu"`)
	if want := "unsubscribe\tend an agent's subscriptions\n"; got != want {
		m.t.Errorf("fish completes to %q, want %q", got, want)
	}
	// zsh loads its completion from a folder of $fpath when the tab key is pressed.
	archive, err := txtar.ParseFile(filepath.Join(repository, "cmd/claude-swarm/testdata/zsh/completion.txtar"))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, f := range archive.Files {
		if f.Name == "tab.zsh" {
			tab := filepath.Join(m.dir, "tab.zsh")
			script := strings.ReplaceAll(string(f.Data), "$WORK/fpath", filepath.Join(share, "zsh", s.zsh))
			if err := os.WriteFile(tab, []byte(script), 0o644); err != nil {
				m.t.Fatal(err)
			}
			if got, want := m.run("zsh", "-f", tab, "claude-swarm unsu"), "LINE<claude-swarm unsubscribe >"; !strings.Contains(got, want) {
				m.t.Errorf("zsh shows %q, want %s", got, want)
			}
			if err := os.Remove(tab); err != nil {
				m.t.Fatal(err)
			}
			return
		}
	}
	m.t.Error("completion.txtar has no tab.zsh any more")
}

// commands returns the commands in a section of docs/install.md, one string per block, for the
// files of this machine.
func commands(t *testing.T, title string) []string {
	t.Helper()
	page := string(read(t, filepath.Join(repository, "docs/install.md")))
	_, section, ok := strings.Cut(page, "\n## "+title+"\n")
	if !ok {
		t.Fatalf("docs/install.md has no section %s", title)
	}
	section, _, _ = strings.Cut(section, "\n## ")
	ours := strings.NewReplacer("VERSION", version, "linux_amd64", runtime.GOOS+"_"+runtime.GOARCH, "claude-swarm-linux-x64", platformPackage())
	var blocks []string
	for _, block := range strings.Split(section, "```sh\n")[1:] {
		block, _, _ = strings.Cut(block, "```")
		blocks = append(blocks, ours.Replace(block))
	}
	return blocks
}

// bring puts a package into the machine's folder, as a person who downloads it does.
func (m *machine) bring(name string) {
	m.t.Helper()
	if err := os.WriteFile(filepath.Join(m.dir, name), read(m.t, filepath.Join(made, name)), 0o644); err != nil {
		m.t.Fatal(err)
	}
}

// The commands of docs/install.md unpack and remove the tar.gz.
func TestTarball(t *testing.T) {
	t.Parallel()
	m := newMachine(t)
	m.bring(filepath.Base(packageFile(".tar.gz")))
	prefix := filepath.Join(m.top, "home", ".local")
	if err := os.MkdirAll(filepath.Join(prefix, "share", "man"), 0o700); err != nil { // a folder that is already there keeps its mode
		t.Fatal(err)
	}
	blocks := commands(t, "A folder of yours")
	if len(blocks) != 2 {
		t.Fatalf("docs/install.md has the commands %q, want one block that unpacks and one that removes", blocks)
	}
	m.run("sh", "-e", "-c", blocks[0])
	if info, err := os.Stat(filepath.Join(prefix, "share", "man")); err != nil || info.Mode().Perm() != 0o700 {
		t.Errorf("unpacking changed the mode of a folder to %v, %v", info.Mode(), err)
	}
	checkInstalled(m, shares{prefix: prefix, zsh: "site-functions"})
	checkTask(m, filepath.Join(prefix, "bin", "claude-swarm"))

	m.run("sh", "-e", "-c", blocks[1])
	for _, name := range listing(t, prefix) {
		if info, err := os.Stat(filepath.Join(prefix, name)); err != nil || !info.IsDir() && !strings.Contains(name, "share/fish/") || strings.Contains(name, "claude") {
			t.Errorf("left behind: %s (%v)", name, err)
		}
	}
}

// The files that docs/install.md names for apt, dnf and sha256sum are those of a release.
func TestTheInstallPageNamesTheFiles(t *testing.T) {
	t.Parallel()
	for title, want := range map[string]string{
		"Debian and Ubuntu":         "sudo apt install ./" + filepath.Base(packageFile(".deb")) + "\n",
		"Fedora, RHEL and openSUSE": "sudo dnf install ./" + filepath.Base(packageFile(".rpm")) + "\n",
	} {
		if blocks := commands(t, title); len(blocks) != 2 || blocks[0] != want {
			t.Errorf("the section %s has the commands %q, the first must be %s", title, blocks, want)
		}
	}
	m := newMachine(t)
	m.bring(filepath.Base(packageFile(".tar.gz")))
	m.bring("checksums.txt")
	if said := m.run("sh", "-c", commands(t, "Before you begin")[0]); said != filepath.Base(packageFile(".tar.gz"))+": OK\n" {
		t.Errorf("the check of a downloaded file says %q", said)
	}
}

func TestDeb(t *testing.T) {
	t.Parallel()
	need.Program(t, "dpkg")
	m := newMachine(t)
	root := filepath.Join(m.dir, "root")
	for _, dir := range []string{"info", "updates", "triggers"} {
		if err := os.MkdirAll(filepath.Join(root, "var/lib/dpkg", dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"status", "available"} {
		if err := os.WriteFile(filepath.Join(root, "var/lib/dpkg", file), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, root, "var/lib/dpkg")
	dpkg := []string{"dpkg", "--root=" + root, "--log=" + filepath.Join(m.dir, "dpkg.log")}
	m.run(append(dpkg, "-i", packageFile(".deb"))...)
	if wrong := m.run(append(dpkg, "--verify", "claude-swarm")...); wrong != "" {
		t.Errorf("dpkg --verify says %s", wrong)
	}
	if want := debVersion(version) + "-1"; m.run("dpkg-query", "--admindir="+root+"/var/lib/dpkg", "-W", "-f", "${Version} ${Depends}", "claude-swarm") != want+" " {
		t.Errorf("the deb does not have the version %s without dependencies", want)
	}
	checkInstalled(m, shares{prefix: filepath.Join(root, "usr"), zsh: "vendor-completions", zipped: true})
	if !bytes.Equal(read(t, filepath.Join(root, "usr/share/doc/claude-swarm/copyright")), read(t, filepath.Join(repository, "LICENSE"))) {
		t.Error("the copyright of the deb is not the license")
	}
	checkTask(m, filepath.Join(root, "usr/bin/claude-swarm"))

	m.run(append(dpkg, "--purge", "claude-swarm")...)
	if left := added(before, listing(t, root, "var/lib/dpkg")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if known := m.run(append(dpkg, "--get-selections")...); known != "" {
		t.Errorf("dpkg still knows %s", known)
	}
}

// debVersion returns a semantic version as deb and rpm write it: a tilde sorts before
// everything.
func debVersion(version string) string { return strings.Replace(version, "-", "~", 1) }

func TestRPM(t *testing.T) {
	t.Parallel()
	need.Program(t, "rpm")
	m := newMachine(t)
	root := filepath.Join(m.dir, "root")
	if err := os.Mkdir(root, 0o755); err != nil {
		t.Fatal(err)
	}
	m.run("rpm", "--root", root, "--initdb")
	// The folders that every system has.
	for _, dir := range []string{"usr/bin", "usr/share/doc", "usr/share/licenses", "usr/share/man/man1"} {
		if err := os.MkdirAll(filepath.Join(root, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	before := listing(t, root, "var/lib/rpm")
	m.run("rpm", "--root", root, "-i", packageFile(".rpm"))
	if wrong := m.run("rpm", "--root", root, "-V", "claude-swarm"); wrong != "" {
		t.Errorf("rpm -V says %s", wrong)
	}
	if got, want := m.run("rpm", "--root", root, "-q", "--qf", "%{version} %{buildhost}", "claude-swarm"), debVersion(version)+" localhost"; got != want {
		t.Errorf("the rpm has the version and host %s, want %s", got, want)
	}
	checkInstalled(m, shares{prefix: filepath.Join(root, "usr"), zsh: "site-functions", zipped: true})
	if !bytes.Equal(read(t, filepath.Join(root, "usr/share/licenses/claude-swarm/LICENSE")), read(t, filepath.Join(repository, "LICENSE"))) {
		t.Error("the license of the rpm is another one")
	}
	checkTask(m, filepath.Join(root, "usr/bin/claude-swarm"))

	m.run("rpm", "--root", root, "-e", "claude-swarm")
	if left := added(before, listing(t, root, "var/lib/rpm")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
	if _, _, err := m.try("rpm", "--root", root, "-q", "claude-swarm"); err == nil {
		t.Error("rpm still knows the package")
	}
}
