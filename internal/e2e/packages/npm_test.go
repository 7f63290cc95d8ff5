package packages_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"crypto/sha512"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/internal/testkit/need"
)

// A registry serves the npm packages on loopback, as a registry of npm does. It has a manifest
// for each platform, but the package only if it has been made.
type registry struct {
	*httptest.Server
	manifests map[string]map[string]any // by name
	files     map[string][]byte         // by name
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{manifests: map[string]map[string]any{}, files: map[string][]byte{}}
	names, err := filepath.Glob(filepath.Join(made, "*.tgz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		data := read(t, name)
		m := manifestOf(t, data)
		r.manifests[m["name"].(string)], r.files[m["name"].(string)] = m, data
	}
	for name, version := range r.manifests["claude-swarm"]["optionalDependencies"].(map[string]any) {
		if r.manifests[name] == nil {
			words := strings.Split(name, "-")
			r.manifests[name] = map[string]any{"name": name, "version": version, "os": words[2:3], "cpu": words[3:4]}
		}
	}
	if len(r.manifests) != 5 {
		t.Fatalf("there are %d npm packages, want five", len(r.manifests))
	}
	r.Server = httptest.NewServer(r)
	t.Cleanup(r.Close)
	return r
}

// manifestOf returns the package.json of an npm package.
func manifestOf(t *testing.T, data []byte) map[string]any {
	t.Helper()
	zip, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	files := tar.NewReader(zip)
	if h, err := files.Next(); err != nil || h.Name != "package/package.json" {
		t.Fatalf("a package begins with %v, %v", h, err)
	}
	text, err := io.ReadAll(files)
	if err != nil {
		t.Fatal(err)
	}
	var m map[string]any
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	return m
}

func (r *registry) ServeHTTP(w http.ResponseWriter, req *http.Request) {
	if name, ok := strings.CutPrefix(path.Clean(req.URL.Path), "/files/"); ok && r.files[name] != nil {
		_, _ = w.Write(r.files[name])
		return
	}
	m := r.manifests[strings.TrimPrefix(req.URL.Path, "/")]
	if m == nil {
		http.NotFound(w, req)
		return
	}
	name := m["name"].(string)
	sum := sha512.Sum512(r.files[name])
	m["dist"] = map[string]any{"tarball": r.URL + "/files/" + name, "integrity": "sha512-" + base64.StdEncoding.EncodeToString(sum[:])}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"name": name, "dist-tags": map[string]any{"latest": m["version"]},
		"versions": map[string]any{m["version"].(string): m}})
}

// An npm is an npm with a separate prefix and registry.
type npm struct {
	*machine
	prefix string
	before []string // what is in the prefix of an npm that has installed nothing
}

func newNPM(t *testing.T, registry string) *npm {
	t.Helper()
	need.Programs(t, "npm", "node")
	n := &npm{machine: newMachine(t)}
	n.prefix = filepath.Join(n.dir, "prefix")
	// npm creates these folders, and keeps them.
	for _, dir := range []string{"bin", "lib/node_modules", "share/man/man1"} {
		if err := os.MkdirAll(filepath.Join(n.prefix, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	n.env = append(n.env, "npm_config_prefix="+n.prefix, "npm_config_registry="+registry, "npm_config_update_notifier=false",
		"npm_config_audit=false", "npm_config_fund=false", "npm_config_fetch_retries=0")
	n.before = listing(t, n.prefix)
	return n
}

func (n *npm) command() string { return filepath.Join(n.prefix, "bin", "claude-swarm") }

// isNative checks that the command is the program itself, under a path that does not change
// with an update.
func (n *npm) isNative() {
	n.t.Helper()
	if begin := read(n.t, n.command())[:4]; !slices.Contains([]string{"\x7fELF", "\xcf\xfa\xed\xfe"}, string(begin)) {
		n.t.Errorf("the installed command begins with %q, so it is not the program", begin)
	}
	if said := n.run(n.command(), "version"); !strings.Contains(said, runtime.GOOS+"/"+runtime.GOARCH) {
		n.t.Errorf("the installed command says %q", said)
	}
}

func (n *npm) uninstall(name string) {
	n.t.Helper()
	n.run("npm", "uninstall", "-g", name)
	n.isGone()
}

// isGone checks that nothing is left after a removal.
func (n *npm) isGone() {
	n.t.Helper()
	if left := added(n.before, listing(n.t, n.prefix)); !slices.Equal(left, []string{"lib/node_modules/.package-lock.json"}) && len(left) > 0 {
		n.t.Errorf("left behind: %q", left)
	}
}

// platformPackage is the name of the package with the program for this machine.
func platformPackage() string {
	return "claude-swarm-" + runtime.GOOS + "-" + strings.Replace(runtime.GOARCH, "amd64", "x64", 1)
}

func TestNPM(t *testing.T) {
	t.Parallel()
	n := newNPM(t, newRegistry(t).URL)
	n.run("npm", "install", "-g", "claude-swarm")
	n.isNative()
	for _, name := range listing(t, filepath.Join(n.prefix, "lib")) {
		if base := filepath.Base(name); strings.HasPrefix(base, "claude-swarm-") && filepath.Base(filepath.Dir(name)) == "node_modules" && base != platformPackage() {
			t.Errorf("npm has installed %s on this machine", base)
		}
	}
	if at := n.run("MANPATH="+filepath.Join(n.prefix, "share/man"), "man", "-w", "claude-swarm-daemon"); !strings.HasPrefix(at, n.prefix) {
		t.Errorf("man finds %s", at)
	}
	checkTask(n.machine, n.command())

	// In a folder with a package.json, both packages have the command, and both are the program.
	n.run("sh", "-e", "-c", "mkdir local && echo {} >local/package.json && npm install --prefix local claude-swarm")
	if said := n.run("local/node_modules/.bin/claude-swarm", "version"); !strings.HasPrefix(said, "claude-swarm ") {
		t.Errorf("the command in a folder says %q", said)
	}

	// Installing it again keeps the program, and so does the script alone.
	n.run("npm", "install", "-g", "claude-swarm")
	n.isNative()
	script := filepath.Join(n.prefix, "lib/node_modules/claude-swarm/install.js")
	n.run("node", script)
	n.isNative()
	if left := listing(t, filepath.Join(filepath.Dir(script), "bin")); len(left) != 1 {
		t.Errorf("the install script leaves %q", left)
	}
	n.uninstall("claude-swarm")
}

// Where npm runs no install scripts, a launcher starts the program, and doctor says so.
func TestNPMWithoutScripts(t *testing.T) {
	t.Parallel()
	n := newNPM(t, newRegistry(t).URL)
	n.run("npm", "install", "-g", "--ignore-scripts", "claude-swarm")
	if begin := read(t, n.command())[:2]; string(begin) != "#!" {
		t.Fatalf("the command begins with %q, so it is not the launcher", begin)
	}
	if said := n.run(n.command(), "version"); !strings.HasPrefix(said, "claude-swarm ") {
		t.Errorf("the launcher says %q", said)
	}
	if _, said, err := n.try(n.command(), "sned"); exitStatus(err) != 2 || !strings.Contains(said, "send") {
		t.Errorf("the launcher of a mistyped verb: %v\n%s", err, said)
	}
	if said := n.run("sh", "-c", `echo ' a  b ' | "$0" __complete -- se`, n.command()); !strings.HasPrefix(said, "send\t") {
		t.Errorf("the launcher passes the arguments so that the program says %q", said)
	}

	n.run(n.command(), "init", "--non-interactive", "--agent", "coder")
	script := filepath.Join(n.prefix, "lib/node_modules/claude-swarm/install.js")
	if said, _, _ := n.try(n.command(), "doctor"); !strings.Contains(said, "warn  program: npm ran no install script") || !strings.Contains(said, "try: node "+script+"\n") {
		t.Errorf("doctor by the launcher says\n%s", said)
	}
	checkSignals(n)
	// Hooks and tool servers name the program, not the launcher.
	native := filepath.Join(n.prefix, "lib/node_modules/claude-swarm/node_modules", platformPackage(), "bin/claude-swarm")
	n.run(n.command(), "attach", "ada", "--way", "settings")
	for _, name := range []string{".mcp.json", ".claude/settings.json"} {
		if text := string(read(t, filepath.Join(n.dir, name))); !strings.Contains(text, native) || strings.Contains(text, n.command()) {
			t.Errorf("%s does not name %s:\n%s", name, native, text)
		}
	}
	// A process below the launcher has its environment, but is started directly.
	if said, _, _ := n.try("sh", "-c", `CLAUDE_SWARM_LAUNCHER="1 x" "$0" doctor; true`, native); strings.Contains(said, "program:") || !strings.Contains(said, "configuration:") {
		t.Errorf("doctor without the launcher says\n%s", said)
	}

	n.run("node", script)
	n.isNative()
	if said, _, _ := n.try(n.command(), "doctor"); strings.Contains(said, "program:") || !strings.Contains(said, "configuration:") {
		t.Errorf("doctor without the launcher says\n%s", said)
	}
	n.uninstall("claude-swarm")
}

// terminal starts a program in a terminal, presses Ctrl-C, sends SIGTERM to it, and prints
// how it ended.
const terminal = `
zmodload zsh/zpty
zpty program "trap : INT; node $1; print -r -- ENDED:\$?"
typeset seen
until-seen() {
  local chunk
  while [[ $seen != *$~1* ]]; do
    zpty -r program chunk || { print -ru2 -- "no $1 in: $seen"; exit 1 }
    seen+=$chunk
  done
}
until-seen 'LAUNCHER:<->:'
zpty -w -n program $'\x03'
until-seen 'CTRL-C'
launcher=${${seen#*LAUNCHER:}%%:*}
kill -TERM $launcher
until-seen 'ENDED:<->'
print -r -- $seen
`

// counter is a program that counts the times of Ctrl-C until SIGTERM.
const counter = `#!/usr/bin/env node
let n = 0
process.on('SIGINT', () => { n++; console.log('CTRL-C') })
process.on('SIGTERM', () => { console.log('COUNT:' + n); process.exit(7) })
setInterval(() => {}, 1000)
console.log('LAUNCHER:' + process.ppid + ':')
`

// A terminal sends its Ctrl-C to the launcher and to the program. The program gets it once,
// because a second one means something else to it.
func TestCtrlCReachesTheProgramOnce(t *testing.T) {
	t.Parallel()
	need.Program(t, "zsh")
	n := newNPM(t, newRegistry(t).URL)
	n.run("npm", "install", "-g", "--ignore-scripts", "claude-swarm")
	program := filepath.Join(n.prefix, "lib/node_modules/claude-swarm/node_modules", platformPackage(), "bin/claude-swarm")
	if err := os.WriteFile(program, []byte(counter), 0o755); err != nil {
		t.Fatal(err)
	}
	said := n.run("zsh", "-f", "-c", terminal, "zsh", n.command())
	if !strings.Contains(said, "COUNT:1") || !strings.Contains(said, "ENDED:7") {
		t.Errorf("the program in a terminal says %q", said)
	}
}

// checkSignals sends signals to the launcher, and looks for what they do to the program.
func checkSignals(n *npm) {
	n.t.Helper()
	for _, step := range []struct {
		name    string
		signal  syscall.Signal
		program bool // whether the signal is sent to the program, not to the launcher
		end     string
	}{
		{"a signal that the program obeys", syscall.SIGTERM, false, "exit status 0"},
		{"Ctrl-C without a terminal", syscall.SIGINT, false, "exit status 0"},
		{"a signal that ends the program", syscall.SIGKILL, true, "signal: killed"},
	} {
		ctx, cancel := context.WithTimeout(n.t.Context(), patience)
		cmd := exec.CommandContext(ctx, n.command(), "start", "--foreground")
		cmd.Dir, cmd.Env = n.dir, n.env
		out, err := cmd.StderrPipe()
		if err == nil {
			err = cmd.Start()
		}
		if err != nil {
			n.t.Fatal(err)
		}
		// The launcher has no other child.
		var st struct{ Daemon *struct{ PID int } }
		for st.Daemon == nil && ctx.Err() == nil {
			if err := json.Unmarshal([]byte(n.run(n.command(), "status", "--json")), &st); err != nil {
				n.t.Fatal(err)
			}
		}
		pid := cmd.Process.Pid
		if step.program {
			pid = st.Daemon.PID
		}
		if err := syscall.Kill(pid, step.signal); err != nil {
			n.t.Fatal(err)
		}
		// Without its launcher, the program still holds the pipe.
		timeout := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(st.Daemon.PID, syscall.SIGKILL) })
		said, err := io.ReadAll(out)
		err = errors.Join(err, cmd.Wait())
		if !timeout.Stop() {
			n.t.Errorf("%s: the program did not end with its launcher", step.name)
		}
		if got := cmd.ProcessState.String(); got != step.end {
			n.t.Errorf("%s: the launcher ends with %s (%v), want %s\n%s", step.name, got, err, step.end, said)
		}
		if err := syscall.Kill(st.Daemon.PID, 0); !errors.Is(err, syscall.ESRCH) {
			n.t.Errorf("%s: the program still runs after its launcher", step.name)
		}
		cancel()
	}
}

func exitStatus(err error) int {
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return exit.ExitCode()
	}
	return 0
}

// A person who has only the file for this machine needs no registry and no script.
func TestNPMFromOneFile(t *testing.T) {
	t.Parallel()
	n := newNPM(t, "http://127.0.0.1:1")
	n.env = append(n.env, "npm_config_ignore_scripts=true")
	n.bring(platformPackage() + "-" + version + ".tgz")
	blocks := commands(t, "npm")
	if len(blocks) != 2 {
		t.Fatalf("docs/install.md has the commands %q, want one that installs and one that removes", blocks)
	}
	n.run("sh", "-e", "-c", blocks[0])
	n.isNative()
	if at := n.run("MANPATH="+filepath.Join(n.prefix, "share/man"), "man", "-w", "claude-swarm"); !strings.HasPrefix(at, n.prefix) {
		t.Errorf("man finds %s", at)
	}
	n.run("sh", "-e", "-c", blocks[1])
	n.isGone()
}

// Without a program for the machine, the installation fails with one sentence.
func TestNPMWithoutAProgram(t *testing.T) {
	t.Parallel()
	r := newRegistry(t)
	delete(r.manifests, platformPackage())
	n := newNPM(t, r.URL)
	if _, said, err := n.try("npm", "install", "-g", "claude-swarm"); err == nil || !strings.Contains(said, "claude-swarm: the package "+platformPackage()+" is not installed\n") {
		t.Errorf("npm without the optional packages: %v\n%s", err, said)
	}
	// npm removes the packages, but not the links that it has made to them.
	if left := added(n.before, listing(t, n.prefix)); slices.ContainsFunc(left, func(name string) bool { return strings.HasPrefix(name, "lib/") }) {
		t.Errorf("the failed installation leaves %q", left)
	}

	n.run("npm", "install", "-g", "--ignore-scripts", "claude-swarm")
	dir := filepath.Join(n.prefix, "lib/node_modules/claude-swarm")
	for _, script := range []string{filepath.Join(dir, "install.js"), n.command()} {
		if _, said, err := n.try("node", script); exitStatus(err) != 1 || !strings.HasPrefix(said, "claude-swarm: the package "+platformPackage()+" is not installed\n  try: ") {
			t.Errorf("node %s: %v\n%s", script, err, said)
		}
		other := filepath.Join(n.dir, "other.js")
		if err := os.WriteFile(other, []byte("Object.defineProperty(process, 'platform', { value: 'sunos' })\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		arch := strings.TrimPrefix(platformPackage(), "claude-swarm-"+runtime.GOOS+"-")
		want := "claude-swarm: there is no program for sunos-" + arch + ", only for darwin-arm64, darwin-x64, linux-arm64, linux-x64\n"
		if _, said, err := n.try("node", "-r", other, script); exitStatus(err) != 1 || said != want {
			t.Errorf("node %s on another platform: %v\n%s\nwant %s", script, err, said, want)
		}
	}

	// A program of another version is not used.
	stray := filepath.Join(dir, "node_modules", platformPackage())
	if err := os.MkdirAll(stray, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(stray, "package.json"), []byte(`{"name": "`+platformPackage()+`", "version": "0.0.1"}`), fs.FileMode(0o644)); err != nil {
		t.Fatal(err)
	}
	if _, said, err := n.try(n.command(), "version"); exitStatus(err) != 1 || !strings.Contains(said, "has version 0.0.1, but this is version "+version) {
		t.Errorf("the launcher with a program of another version: %v\n%s", err, said)
	}
}
