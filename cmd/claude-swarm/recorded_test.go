package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/view"
	"github.com/claude-swarm/claude-swarm/swarm"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// TestRecordedProject opens projects that earlier versions of this program created, and
// finishes their work. It fails if a change to a file format loses or duplicates mail,
// loses the information about which agents were stopped, or replaces a session with a new
// one. If you change a format on purpose, record an additional project and keep the old
// one; see testdata/project-v1/README.md.
//
// The file opened.txt contains the output of the verbs before the daemon starts, and
// finished.txt contains the outcome of every message. RECORD=1 writes both files for a
// new recording. Do not rewrite them for a recording that is already committed.
func TestRecordedProject(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds; CI always runs it")
	}
	t.Parallel()
	recordings, err := filepath.Glob("../../testdata/project-v*")
	if err != nil || len(recordings) == 0 {
		t.Fatalf("no recorded project: %v", err)
	}
	for _, dir := range recordings {
		t.Run(filepath.Base(dir), func(t *testing.T) {
			t.Parallel()
			p := openRecording(t, dir)
			compareRecorded(t, filepath.Join(dir, "opened.txt"), p.opened())
			p.finish()
			compareRecorded(t, filepath.Join(dir, "finished.txt"), p.finished())
			p.demandKey()
		})
	}
}

func compareRecorded(t *testing.T, path, got string) {
	t.Helper()
	if os.Getenv("RECORD") == "1" {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
		t.Errorf("%s (-want +got):\n%s", filepath.Base(path), diff)
	}
}

// A recordedProject is a copy of a recording in a separate folder.
type recordedProject struct {
	t         *testing.T
	source    string // the recording
	dir, home string
	env       []string
	ids       map[string]string // maps the names from record.sh to message ids
	recorded  map[string]string // maps message ids to the messages' folders
}

// openRecording copies a recording and fills in this machine's paths and the current
// time. When the test ends, it also stops the daemon that the test started.
func openRecording(t *testing.T, recording string) *recordedProject {
	t.Helper()
	scratch, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	runtime, err := os.MkdirTemp("", "cs") // the path of a socket is limited to about 100 bytes
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("claude-swarm")
	if err != nil {
		t.Fatal(err)
	}
	p := &recordedProject{t: t, source: recording, dir: filepath.Join(scratch, "project"), home: filepath.Join(scratch, "home"), ids: map[string]string{}, recorded: map[string]string{}}
	p.env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "XDG_RUNTIME_DIR=" + runtime, "LANG=C.UTF-8", "TZ=UTC",
		"SHELL=/bin/sh", "GORACE=atexit_sleep_ms=0",
	}
	now := time.Now().UTC()
	fill := strings.NewReplacer(
		"@PROJECT@", p.dir, "@HOME@", p.home, "@RUNTIME@", runtime, "@PROGRAMS@", filepath.Dir(program),
		"@SINCE@", now.Format(time.RFC3339), "@UNTIL@", now.Add(24*time.Hour).Format(time.RFC3339),
	)
	folders, err := os.ReadFile(filepath.Join(recording, "recording", "folders"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Fields(string(folders)) { // git does not store empty folders
		if err := os.MkdirAll(filepath.Join(p.dir, hiddenName(name)), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	copyRecorded(t, filepath.Join(recording, "recording", "files"), func(name string) string { return filepath.Join(p.dir, hiddenName(name)) }, fill)
	// The stand-in stores the sessions for a folder in a subfolder whose name is a hash
	// of the folder's path.
	hash := fnv.New64a()
	hash.Write([]byte(p.dir))
	sessions := fmt.Sprintf("standin/%016x", hash.Sum64())
	copyRecorded(t, filepath.Join(recording, "recording", "sessions"), func(name string) string { return filepath.Join(p.home, ".claude", sessions, name) }, fill)
	copyRecorded(t, filepath.Join(recording, "recording", "account"), func(name string) string { return filepath.Join(p.dir, "other-account", sessions, name) }, fill)

	ids, err := os.ReadFile(filepath.Join(recording, "recording", "ids"))
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(ids)) {
		name, id, _ := strings.Cut(strings.TrimSpace(line), " ")
		p.ids[name] = id
	}
	for _, name := range p.messages() {
		place, file := filepath.Split(name)
		base, _, _ := strings.Cut(strings.TrimSuffix(file, ".md"), "~")
		p.recorded[base[strings.LastIndex(base, "-")+1:]] = place
	}
	for _, path := range p.scratch() {
		old := time.Now().Add(-2 * time.Hour)
		if err := os.Chtimes(path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := endDaemon(journal.HomeOf(p.dir)); err != nil {
			t.Error(err)
		}
		os.RemoveAll(runtime)
	})
	return p
}

// messages returns the file names of all messages, relative to the mailboxes folder. It
// omits unfinished files and drops.
func (p *recordedProject) messages() (names []string) {
	p.t.Helper()
	box := filepath.Join(p.dir, ".dead-drop")
	err := filepath.WalkDir(box, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(box, path)
		switch folder := filepath.Base(filepath.Dir(path)); {
		case err != nil && !os.IsNotExist(err): // messages can move to other folders during the scan
			return err
		case err != nil || d.IsDir() || !strings.HasSuffix(name, ".md") || folder == "tmp" || folder == "board" || strings.Count(name, "/") < 2:
			return nil
		}
		names = append(names, name)
		return nil
	})
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

// scratch returns the unfinished file that an interrupted delivery to coder left behind.
func (p *recordedProject) scratch() []string {
	p.t.Helper()
	names, err := filepath.Glob(filepath.Join(p.dir, ".dead-drop", "coder", "tmp", "*"))
	if err != nil {
		p.t.Fatal(err)
	}
	return names
}

// files returns the number of messages in a mailbox's folder that contain the given text.
func (p *recordedProject) files(mailbox, folder, text string) (n int) {
	p.t.Helper()
	for _, name := range p.messages() {
		if strings.HasPrefix(name, mailbox+"/"+folder+"/") {
			data, err := os.ReadFile(filepath.Join(p.dir, ".dead-drop", name))
			if err == nil && bytes.Contains(data, []byte(text)) {
				n++
			}
		}
	}
	return n
}

func (p *recordedProject) read(path string) string {
	p.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		p.t.Fatal(err)
	}
	return string(data)
}

// session returns the id of the session that an agent had when the project was recorded.
func (p *recordedProject) session(agent string) string {
	p.t.Helper()
	var sessions map[string]struct{ ID string }
	if err := json.Unmarshal([]byte(p.read(filepath.Join(p.source, "recording", "files", "claude-swarm", "sessions.json"))), &sessions); err != nil {
		p.t.Fatal(err)
	}
	return sessions[agent].ID
}

// sessionFile returns the file in which the stand-in stores that session.
func (p *recordedProject) sessionFile(agent string) string {
	p.t.Helper()
	found, err := filepath.Glob(filepath.Join(p.home, ".claude", "standin", "*", p.session(agent)+".jsonl"))
	if err != nil || len(found) != 1 {
		p.t.Fatalf("%d files of the session of %s, want 1", len(found), agent)
	}
	return found[0]
}

// created returns the time at which a message in the recording was created.
func (p *recordedProject) created(id string) time.Time {
	p.t.Helper()
	for _, m := range verbJSON[struct{ Messages []view.TracedMessage }](p, "trace", id).Messages {
		if m.ID == id {
			return m.Created
		}
	}
	p.t.Fatalf("no message %s", id)
	return time.Time{}
}

// working returns the number of agents that are not idle, paused, stopped or limited.
func (p *recordedProject) working() (n int) {
	p.t.Helper()
	for _, a := range verbJSON[swarm.Status](p, "status").Agents {
		switch a.State {
		case swarm.Idle, swarm.Paused, swarm.Stopped, swarm.Limited:
		default:
			n++
		}
	}
	return n
}

// demandStates checks the agents' states. An agent that is not in want must be idle.
func (p *recordedProject) demandStates(when string, want map[string]swarm.State) {
	p.t.Helper()
	for _, a := range verbJSON[swarm.Status](p, "status").Agents {
		state := want[a.Name]
		if state == "" {
			state = swarm.Idle
		}
		if a.State != state {
			p.t.Errorf("%s: %s is %s (%s), want %s", when, a.Name, a.State, a.Why, state)
		}
	}
}

// await waits until the function so returns true. After scriptPatience, it fails the test.
func (p *recordedProject) await(what string, so func() bool) {
	p.t.Helper()
	if !poll(so) {
		p.t.Fatalf("not true after %v: %s\n%s", scriptPatience, what, p.run("status"))
	}
}

// hiddenName converts a file's name in a recording to its name in a project. In a
// recording, no name begins with a dot, because git would apply a .gitignore there.
func hiddenName(name string) string {
	first, rest, _ := strings.Cut(strings.TrimPrefix(name, "./"), "/")
	switch first {
	case "dead-drop":
		if rest == "gitignore" {
			rest = ".gitignore"
		}
		return filepath.Join(".dead-drop", rest)
	case "claude-swarm":
		return filepath.Join(".claude-swarm", rest)
	}
	return filepath.Join(first, rest)
}

// copyRecorded copies all files below a folder. Only their owner can read the copies.
func copyRecorded(t *testing.T, from string, to func(name string) string, fill *strings.Replacer) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		target := to(name)
		if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
			return err
		}
		return os.WriteFile(target, []byte(fill.Replace(string(data))), 0o600)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// run runs a verb and returns its output. The test fails if the verb fails.
func (p *recordedProject) run(args ...string) []byte {
	p.t.Helper()
	cmd := exec.CommandContext(p.t.Context(), "claude-swarm", args...)
	cmd.Dir, cmd.Env = p.dir, p.env
	var complaints bytes.Buffer
	cmd.Stderr = &complaints
	out, err := cmd.Output()
	if err != nil {
		p.t.Fatalf("claude-swarm %q: %v\n%s%s", args, err, out, complaints.Bytes())
	}
	return out
}

// verbJSON runs a verb with --json and returns its decoded output.
func verbJSON[T any](p *recordedProject, args ...string) (v T) {
	p.t.Helper()
	if err := json.Unmarshal(p.run(append(args, "--json")...), &v); err != nil {
		p.t.Fatalf("claude-swarm %q: %v", args, err)
	}
	return v
}
