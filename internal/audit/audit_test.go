package audit_test

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"

	"github.com/google/go-cmp/cmp"
	"gopkg.in/yaml.v3"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/internal/audit"
	"github.com/claude-swarm/claude-swarm/internal/testkit/execfile"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

// A project is a temporary repository that contains mailboxes, with a separate HOME.
type project struct {
	testing.TB
	home, dir string
	drop      string // the mailboxes
	now       time.Time
	malloc    []string // variables of git's environment that configure its allocator
}

// keepMemory makes the allocator of glibc keep freed memory. Otherwise git fast-import
// returns and requests some pages for each object, which takes most of its time.
var keepMemory = []string{"MALLOC_TRIM_THRESHOLD_=67108864", "MALLOC_MMAP_THRESHOLD_=67108864"}

func newProject(t testing.TB) *project {
	t.Helper()
	base, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	files, err := template()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.CopyFS(base, files); err != nil {
		t.Fatal(err)
	}
	p := projectIn(t, base)
	if _, ok := t.(*testing.B); ok {
		p.write(filepath.Join(p.home, ".gitconfig"), gitconfig) // measure what a project pays
	} else {
		p.malloc = keepMemory
	}
	return p
}

func projectIn(t testing.TB, base string) *project {
	p := &project{TB: t, home: filepath.Join(base, "home"), dir: filepath.Join(base, "project"), now: time.Now().UTC().Truncate(time.Second)}
	p.drop = filepath.Join(p.dir, ".dead-drop")
	return p
}

// template contains the files of a new project: a HOME, and an empty repository with
// mailboxes. It is made once, because git init in each test would take longer than what
// most of the tests are about. No file in it contains a path.
var template = sync.OnceValues(func() (files fstest.MapFS, err error) {
	base, err := os.MkdirTemp("", "git-template-")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(base)) }()
	p := projectIn(nil, base)
	if err := errors.Join(os.Mkdir(p.home, 0o700), os.Mkdir(p.dir, 0o700), os.WriteFile(filepath.Join(p.home, ".gitconfig"), []byte(gitconfig+noFlush), 0o600)); err != nil {
		return nil, err
	}
	// The empty template of git leaves out the samples of hooks.
	if _, err := p.gitIn(p.dir, "init", "-q", "--template="); err != nil {
		return nil, err
	}
	if err := dropbox.Create(p.drop); err != nil {
		return nil, err
	}
	files = fstest.MapFS{}
	err = filepath.WalkDir(base, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(base, name)
		if err != nil {
			return err
		}
		file := &fstest.MapFile{Mode: info.Mode()}
		if !e.IsDir() {
			file.Data, err = os.ReadFile(name)
		}
		files[filepath.ToSlash(rel)] = file
		return err
	})
	return files, err
})

const gitconfig = `[user]
	name = Per Son
	email = per@example.org
[init]
	defaultBranch = main
`

// noFlush makes git write its objects out, but not wait until the disk has flushed its cache.
// The audit chooses with core.fsync which files it flushes, and no test cuts the power.
const noFlush = "[core]\n\tfsyncMethod = writeout-only\n"

func (p *project) environ() []string {
	return append([]string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.home, "GIT_CONFIG_NOSYSTEM=1"}, p.malloc...)
}

func (p *project) command(dir string, args ...string) *exec.Cmd {
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = dir, p.environ()
	return cmd
}

func (p *project) gitIn(dir string, args ...string) (string, error) {
	cmd := p.command(dir, args...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		err = fmt.Errorf("git %v: %w\n%s", args, err, &stderr)
	}
	return string(out), err
}

func (p *project) git(args ...string) string {
	p.Helper()
	out, err := p.gitIn(p.dir, args...)
	if err != nil {
		p.Fatal(err)
	}
	return out
}

func (p *project) write(name, text string) {
	p.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(text), 0o600)); err != nil {
		p.Fatal(err)
	}
}

// script writes a program.
func (p *project) script(name, text string) {
	p.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), execfile.Write(name, []byte("#!/bin/sh\n"+text))); err != nil {
		p.Fatal(err)
	}
}

func (p *project) options() audit.Options {
	return audit.Options{Environ: p.environ(), Now: func() time.Time { return p.now }}
}

func (p *project) audit() *audit.Audit { p.Helper(); return p.auditWith(p.options()) }

func (p *project) auditWith(o audit.Options) *audit.Audit {
	p.Helper()
	a, err := audit.Open(p.Context(), p.drop, o)
	if err != nil {
		p.Fatal(err)
	}
	return a
}

func (p *project) record(a *audit.Audit) {
	p.Helper()
	if err := a.Record(p.Context()); err != nil {
		p.Fatalf("Record = %v", err)
	}
}

// turn writes the files that a finished turn leaves behind. seq makes their names unique.
func (p *project) turn(agent string, seq int, ended time.Time, change func(*journal.Receipt)) (base string) {
	p.Helper()
	id := fmt.Sprintf("k%09d", seq)
	r := &journal.Receipt{
		V: 1, ID: id, Turn: "turn-" + id, Agent: agent, Backend: "claude", Via: "mailbox", Proven: true,
		Outcome: "done", Ended: ended, CostUSD: 0.0125, Text: "Done, and tested.",
	}
	if change != nil {
		change(r)
	}
	data, err := yaml.Marshal(r)
	if err != nil {
		p.Fatal(err)
	}
	base = filepath.Join(agent, "done", ended.UTC().Format("2006-01-02"), "1-"+ended.UTC().Format("20060102T150405.000000Z")+"-"+id)
	p.write(filepath.Join(p.drop, base+".md"), fmt.Sprintf("---\nv: 1\nid: %s\nfrom: lead\nto: [%s]\ntype: task\nsubject: \"Do PERF-%d\"\ntrace: t%s\n---\nPlease.\n", id, agent, seq, id))
	p.write(filepath.Join(p.drop, base+".receipt.yaml"), string(data))
	return filepath.ToSlash(base)
}

// log returns the branch's history, oldest commit first, in a git log format.
func (p *project) log(format string) []string {
	p.Helper()
	out := p.git("log", "--reverse", "--format="+format+"%x00", audit.Branch)
	lines := strings.Split(strings.TrimSuffix(out, "\x00\n"), "\x00\n")
	for i := range lines {
		lines[i] = strings.Trim(lines[i], "\n")
	}
	return lines
}

// tip returns the branch's newest commit. It reads git's file, because a process for each
// look takes longer than the call that the test is about.
func (p *project) tip() string {
	p.Helper()
	data, err := os.ReadFile(filepath.Join(p.dir, ".git/refs/heads", audit.Branch))
	if err != nil {
		p.Fatal(err)
	}
	return strings.TrimSpace(string(data))
}

// tree returns the paths in the tree of the branch's newest commit.
func (p *project) tree() []string {
	p.Helper()
	out := p.git("ls-tree", "-r", "-z", "--name-only", "--full-tree", audit.Branch)
	return strings.Split(strings.Trim(out, "\x00"), "\x00")
}

// contents returns the files in the tree of the branch's newest commit.
func (p *project) contents() map[string]string {
	p.Helper()
	var names []string
	var ids strings.Builder
	for line := range strings.SplitSeq(p.git("ls-tree", "-r", "-z", "--full-tree", audit.Branch), "\x00") {
		if kind, name, ok := strings.Cut(line, "\t"); ok {
			names = append(names, name)
			fmt.Fprintln(&ids, kind[strings.LastIndexByte(kind, ' ')+1:])
		}
	}
	cmd := p.command(p.dir, "cat-file", "--batch=%(objectsize)")
	cmd.Stdin = strings.NewReader(ids.String())
	out, err := cmd.Output()
	if err != nil {
		p.Fatalf("git cat-file: %v", err)
	}
	files := map[string]string{}
	for _, name := range names {
		line, rest, _ := bytes.Cut(out, []byte("\n"))
		size, err := strconv.Atoi(string(line))
		if err != nil || size >= len(rest) {
			p.Fatalf("git cat-file wrote %q for %s", line, name)
		}
		files[name], out = string(rest[:size]), rest[size+1:]
	}
	return files
}

// snapshot returns every file below dir with its mode, modification time and content, except
// those named in skip.
func snapshot(t testing.TB, dir string, skip ...string) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(dir, func(name string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, _ := filepath.Rel(dir, name)
		if slices.ContainsFunc(skip, func(s string) bool { return rel == s || strings.HasPrefix(rel, s+"/") }) || e.IsDir() {
			return nil
		}
		info, err := e.Info()
		if err != nil {
			return err
		}
		data := []byte(nil)
		if info.Mode().IsRegular() {
			data, err = os.ReadFile(name)
		}
		files[rel] = fmt.Sprintf("%v %v %s", info.Mode(), info.ModTime(), data)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// If the cost of a turn is unknown, its commit message says so rather than reporting a
// cost of 0.
func TestACommitSaysThatTheCostIsUnknown(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	ended := p.now.Add(-time.Hour)
	p.turn("coder", 1, ended, func(r *journal.Receipt) { r.CostUSD, r.CostUnknown = 0, true })
	p.turn("coder", 2, ended, func(r *journal.Receipt) { r.CostUnknown = true })
	p.record(p.audit())
	log := strings.Join(p.log("%B"), "\n")
	for i, want := range []string{"unknown", "≥0.0125"} {
		if trailer := fmt.Sprintf("Turn: turn-k%09d\nOutcome: done\nCost-USD: %s", i+1, want); !strings.Contains(log, trailer) {
			t.Errorf("no %q in\n%s", trailer, log)
		}
	}
}

func TestAFinishedTurnIsACommit(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	p.record(p.audit())
	ended := p.now.Add(-time.Hour)
	base := p.turn("coder", 15, ended, nil)
	a := p.audit()
	p.record(a)

	want := []string{
		"swarm|swarm@claude-swarm.invalid|swarm: record 2 files|",
		"coder|coder@claude-swarm.invalid|coder: Do PERF-15|Message-Id: k000000015\nFrom: lead\nProven: yes\nTrace: tk000000015\nTurn: turn-k000000015\nOutcome: done\nCost-USD: 0.0125",
	}
	log := p.log("%an|%ae|%s|%(trailers)%x01%at %ct%x01%b")
	var got []string
	for _, c := range log {
		head, _, _ := strings.Cut(c, "\x01")
		got = append(got, strings.Trim(head, "\n"))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("commits (-want +got):\n%s", diff)
	}
	newest := strings.Split(log[1], "\x01")
	if got := newest[1]; got != fmt.Sprintf("%d %d", ended.Unix(), p.now.Unix()) {
		t.Errorf("author and committer date = %s", got)
	}
	if got := newest[2]; !strings.HasPrefix(got, "Done, and tested.\n\nMessage-Id: ") {
		t.Errorf("body = %q", got)
	}
	if diff := cmp.Diff([]string{".dead-drop/.gitignore", ".dead-drop/" + base + ".md", ".dead-drop/" + base + ".receipt.yaml", ".dead-drop/version"}, p.tree()); diff != "" {
		t.Errorf("tree (-want +got):\n%s", diff)
	}
	file, err := os.ReadFile(filepath.Join(p.drop, base+".md"))
	if err != nil {
		t.Fatal(err)
	}
	if got := p.git("show", audit.Branch+":.dead-drop/"+base+".md"); got != string(file) {
		t.Errorf("recorded message = %q, want %q", got, file)
	}
	before := p.tip()
	p.record(a)
	p.record(p.audit())
	if after := p.tip(); after != before {
		t.Error("Record without news made a commit")
	}
	p.git("fsck", "--strict", "--no-dangling")
}

func TestTheRealMailboxIsUnderstood(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	store, err := dropbox.Open(p.drop, dropbox.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	if err := store.MakeMailbox("coder"); err != nil {
		t.Fatal(err)
	}
	att, err := store.Attach("plan.txt", strings.NewReader("the plan"))
	if err != nil {
		t.Fatal(err)
	}
	box, err := store.Mailbox("coder")
	if err != nil {
		t.Fatal(err)
	}
	a := p.audit()
	late, err := store.Attach("late.txt", strings.NewReader("came while it ran"))
	if err != nil {
		t.Fatal(err)
	}
	p.record(a)
	finish := func(typ dropbox.Type, subject string, atts []dropbox.Attachment, r journal.Receipt) dropbox.Entry {
		t.Helper()
		d, err := store.Deliver("coder", &dropbox.Message{Type: typ, Subject: subject, Attachments: atts, Body: []byte("Body line.\nSecond.\n")})
		if err != nil {
			t.Fatal(err)
		}
		entries, err := box.List()
		if err != nil || len(entries) != 1 {
			t.Fatalf("List = %v, %v", entries, err)
		}
		claim, err := box.Claim(entries[0])
		if err != nil {
			t.Fatal(err)
		}
		r.V, r.ID, r.Agent, r.Ended = 1, d.ID, "coder", p.now
		data, err := yaml.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		if err := box.Commit(claim.Entry, data); err != nil {
			t.Fatal(err)
		}
		if err := box.Finish(claim.Entry); err != nil {
			t.Fatal(err)
		}
		return claim.Entry
	}
	third, err := store.Attach("third.txt", strings.NewReader("after the first look"))
	if err != nil {
		t.Fatal(err)
	}
	note := finish(dropbox.Note, "by the way", []dropbox.Attachment{third}, journal.Receipt{Turn: "t1", Outcome: "rode along"})
	task := finish(dropbox.Task, "", []dropbox.Attachment{att}, journal.Receipt{Turn: "t1", Outcome: "done"})
	p.record(a)

	if diff := cmp.Diff([]string{"coder: Body line.|" + task.ID + "|" + note.ID}, p.log("%s|%(trailers:key=Message-Id,valueonly,separator=%x20)|%(trailers:key=Rode-Along,valueonly,separator=%x20)")[1:]); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	tree := p.tree()
	for _, path := range []string{att.Path, late.Path, third.Path} {
		if !slices.Contains(tree, ".dead-drop/"+path) {
			t.Errorf("attachment %s is not in the tree", path)
		}
	}
	// Mail that the lead files has no receipt. It becomes part of the next commit.
	if _, err := store.Deliver("lead", &dropbox.Message{From: "coder", Type: dropbox.Status, Body: []byte("fine\n")}); err != nil {
		t.Fatal(err)
	}
	lead, err := store.Mailbox("lead")
	if err != nil {
		t.Fatal(err)
	}
	mail, err := lead.List()
	if err != nil || len(mail) != 1 {
		t.Fatalf("List = %v, %v", mail, err)
	}
	if err := lead.File(mail[0]); err != nil {
		t.Fatal(err)
	}
	d, err := store.Deliver("coder", &dropbox.Message{Body: []byte("give up\n")})
	if err != nil {
		t.Fatal(err)
	}
	entries, err := box.List()
	if err != nil {
		t.Fatal(err)
	}
	if err := box.GiveUp(entries[0], "it kills the machine"); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	last := p.log("%an: %s")
	if got := last[len(last)-1]; got != "swarm: swarm: record 3 files" {
		t.Errorf("newest commit = %q", got)
	}
	tree = p.tree()
	for _, part := range []string{mail[0].ID + ".md", d.ID + ".md", d.ID + ".reason.txt"} {
		if !slices.ContainsFunc(tree, func(n string) bool { return strings.HasSuffix(n, part) }) {
			t.Errorf("…%s is not in the tree", part)
		}
	}
	// After a retry, the dead letter is no longer in the newest tree.
	dead, err := box.DeadLetters().List()
	if err != nil || len(dead) != 1 {
		t.Fatalf("Dead = %v, %v", dead, err)
	}
	if err := box.DeadLetters().Retry(dead[0]); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	if tree = p.tree(); slices.ContainsFunc(tree, func(n string) bool { return strings.Contains(n, "/dead/") }) {
		t.Errorf("tree still has the dead letter: %q", tree)
	}
}

func TestAMessageWhoseReceiptIsOnItsWayWaits(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	a := p.audit()
	// Four days ago, a daemon was interrupted between the two renames.
	base := p.turn("coder", 1, p.now.AddDate(0, 0, -4), nil)
	receipt := filepath.Join(p.drop, base+".receipt.yaml")
	inCur := filepath.Join(p.drop, "coder/cur", filepath.Base(receipt))
	p.write(inCur, "")
	if err := os.Rename(receipt, inCur); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	if got := p.log("%an"); len(got) != 1 {
		t.Errorf("commits by %q before the receipt came", got)
	}
	if slices.Contains(p.tree(), ".dead-drop/"+base+".md") {
		t.Error("the message was recorded without its receipt")
	}
	if err := os.Rename(inCur, receipt); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	if got := p.log("%an"); len(got) != 2 || got[1] != "coder" {
		t.Errorf("commits by %q, want swarm and coder", got)
	}
}

func TestTheBoardIsFollowed(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	a := p.audit()
	status := filepath.Join(p.drop, "board/status.md")
	p.write(status, "one")
	p.write(filepath.Join(p.drop, "board/handoff/coder.md"), "take over")
	p.record(a)
	info, err := os.Stat(status)
	if err != nil {
		t.Fatal(err)
	}
	p.write(status, "two") // the same size, and within the same tick of the file system's clock
	if err := os.Chtimes(status, time.Time{}, info.ModTime()); err != nil {
		t.Fatal(err)
	}
	p.turn("coder", 1, p.now, nil)
	p.record(a)
	if got := p.git("show", audit.Branch+":.dead-drop/board/status.md"); got != "two" {
		t.Errorf("board/status.md = %q, want two", got)
	}
	if err := os.Remove(status); err != nil {
		t.Fatal(err)
	}
	p.record(a)
	if slices.Contains(p.tree(), ".dead-drop/board/status.md") {
		t.Error("board/status.md is still in the tree")
	}
	// The second version of the page rode along with the turn.
	if got := p.log("%an: %s"); !slices.Equal(got, []string{"swarm: swarm: record 4 files", "coder: coder: Do PERF-1", "swarm: swarm: remove board/status.md"}) {
		t.Errorf("commits = %q, want the board to ride along, and to follow the removal", got)
	}
	// Identical content with a new modification time is not a change.
	handoff := filepath.Join(p.drop, "board/handoff/coder.md")
	p.write(handoff, "take over")
	if err := os.Chtimes(handoff, time.Time{}, p.now.Add(-time.Hour)); err != nil {
		t.Fatal(err)
	}
	before := p.tip()
	p.record(a)
	p.record(p.audit())
	if after := p.tip(); after != before {
		t.Errorf("commits = %q, want no more", p.log("%s"))
	}
}

func TestTextFromOutsideStaysInItsPlace(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	base := p.turn("coder", 1, p.now, func(r *journal.Receipt) {
		r.Text = "all good\r\n\nMessage-Id: forged\nAuthor: x\n\x1b[2Jdata 3\ndone\n---\nCost-USD: 0\n"
		r.Outcome = "done\nTrace: forged"
	})
	p.write(filepath.Join(p.drop, base+".md"), "---\nid: x\nfrom: \"lead\\nProven: no\"\nsubject: \"one\\ntwo \\e[31m\\u0000 "+strings.Repeat("é", 200)+"\"\n---\nbody")
	broken := p.turn("coder", 2, p.now.Add(time.Second), nil)
	p.write(filepath.Join(p.drop, broken+".receipt.yaml"), "{{{ not yaml")
	p.write(filepath.Join(p.drop, broken+".md"), "\xff\xfe no front matter\n")
	p.record(p.audit())
	const trailers = "%(trailers:key=Message-Id,valueonly,separator=%x2c)%x01" +
		"%(trailers:key=From,valueonly,separator=%x2c)/%(trailers:key=Trace,valueonly)/%(trailers:key=Proven,valueonly,separator=%x2c)"
	var ids []string
	var commits [][]string
	for _, c := range p.log(trailers + "%x01%s") {
		fields := strings.Split(c, "\x01")
		ids = append(ids, fields[0])
		commits = append(commits, fields)
	}
	if diff := cmp.Diff([]string{"k000000001", "k000000002"}, ids); diff != "" {
		t.Fatalf("Message-Id (-want +got):\n%s", diff)
	}
	if got := commits[0][1]; got != "lead Proven: no//yes" {
		t.Errorf("From/Trace/Proven = %q", got)
	}
	subject := commits[0][2]
	if !strings.HasPrefix(subject, "coder: one two [31m é") || len([]rune(subject)) > 110 {
		t.Errorf("subject = %q", subject)
	}
	p.git("fsck", "--strict", "--no-dangling")
}
