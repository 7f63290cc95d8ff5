package swarm_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
	"github.com/claude-swarm/claude-swarm/swarm"
)

// alerts returns the lead's messages whose subject contains part.
func (f *field) alerts(part string) []*dropbox.Message {
	f.t.Helper()
	return slices.DeleteFunc(f.mail(dropbox.Lead), func(m *dropbox.Message) bool {
		return m.From != dropbox.Swarm || !strings.Contains(m.Subject, part)
	})
}

// A file in a folder that is not a mailbox is not moved. The lead gets one alert, even
// across a restart, with the name that was probably meant.
func TestADropIntoAWrongFolderIsTold(t *testing.T) {
	f := newField(t, "coder", "reviewer")
	f.start()
	wrong := filepath.Join(f.store.Dir(), "codr")
	if err := os.Mkdir(wrong, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"plan.md", "more.md", ".hidden"} {
		if err := os.WriteFile(filepath.Join(wrong, name), []byte("work\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	drop(f, ".", "loose.md", "work\n")
	f.until("the lead is told", func() bool { return len(f.alerts("codr/")) > 0 && len(f.alerts("loose.md")) > 0 })
	f.halt()
	f.start()
	// After at most two rounds of checks, the daemon has checked this folder again.
	drop(f, "coder", "a.md", "first\n")
	f.until("a turn", func() bool { return len(f.bodies()) == 1 })
	f.until("another look", func() bool { return f.looked() })
	alerts := f.alerts("codr/")
	if len(alerts) != 1 || len(f.alerts("loose.md")) != 1 {
		t.Fatalf("%d alerts of the folder and %d of the file, want one each", len(alerts), len(f.alerts("loose.md")))
	}
	for _, want := range []string{"did you mean coder?", "more.md, plan.md", "mv '" + filepath.Join(wrong, "more.md")} {
		if body := string(alerts[0].Body); !strings.Contains(body, want) {
			t.Errorf("the alert lacks %q:\n%s", want, body)
		}
	}
	if _, err := os.Stat(filepath.Join(wrong, "plan.md")); err != nil {
		t.Errorf("the file is not where it was dropped: %v", err)
	}
	if strings.Contains(string(alerts[0].Body), ".hidden") {
		t.Error("a hidden file is named")
	}
}

// looked waits for the next complete folder check, which recreates the store's mark after
// it has been deleted.
func (f *field) looked() bool {
	f.t.Helper()
	mark := filepath.Join(f.store.Dir(), "version")
	if err := os.Remove(mark); err != nil {
		f.t.Fatal(err)
	}
	f.until("a look at the folders", func() bool { _, err := os.Stat(mark); return err == nil })
	return true
}

// A file in new/ whose name is not a message name is set aside, and the lead gets one
// alert. When a person restores the file, it is handled like a dropped file.
func TestAFileWithoutAMessagesNameIsTold(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	f.untilState("coder", swarm.Idle)
	if err := os.WriteFile(filepath.Join(f.store.Dir(), "coder/new/plan.md"), []byte("do it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.until("the lead is told", func() bool { return len(f.alerts("plan.md")) == 1 })
	body := string(f.alerts("plan.md")[0].Body)
	_, id, ok := strings.Cut(body, "claude-swarm dead retry ")
	id, _, _ = strings.Cut(id, "\n")
	if !ok || len(id) != 10 {
		t.Fatalf("the alert does not say what to type:\n%s", body)
	}
	f.retry("coder", id)
	f.until("it is taken in", func() bool { return slices.Contains(f.bodies(), "do it") })

	// No agent lists the lead's mailbox, so only the periodic check finds such a file in
	// that mailbox.
	if err := os.WriteFile(filepath.Join(f.store.Dir(), "lead/new/note.md"), []byte("look\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.until("the lead is told", func() bool { return len(f.alerts("note.md")) == 1 })
	f.looked()
	if n := len(f.alerts("plan.md")); n != 1 {
		t.Errorf("the lead was told %d times", n)
	}
}

// The mailbox of an agent that is not allowed to work is also checked.
func TestAMisnamedFileOfAStoppedAgentIsTold(t *testing.T) {
	f := newField(t, "coder")
	f.start()
	if err := f.daemon.Pause("coder", swarm.PauseOrder{By: "lead", For: time.Hour}); err != nil {
		t.Fatal(err)
	}
	f.untilState("coder", swarm.Paused)
	if err := os.WriteFile(filepath.Join(f.store.Dir(), "coder/new/plan.md"), []byte("do it\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	f.status("coder")
	f.until("the lead is told", func() bool { return len(f.alerts("plan.md")) == 1 })
}

// Litter in a mailbox costs no turn and stays where it is, and the lead is told of it once:
// of each file that may be meant as a message, and once of all backups.
func TestLitterIsToldOnce(t *testing.T) {
	f := newField(t, "coder")
	names := []string{".hidden.md", ".DS_Store", "a.md.orig", "b.md.bak", "c.md~", "task.sync-conflict-1.md"}
	for _, name := range names {
		path := filepath.Join(f.store.Dir(), "coder", name)
		f.must(os.WriteFile(path, []byte("x"), 0o600))
	}
	told := func() (subjects []string) {
		for _, m := range f.mail(dropbox.Lead) {
			subjects = append(subjects, m.Subject)
		}
		slices.Sort(subjects)
		return subjects
	}
	for range 2 { // the second daemon tells nothing again
		f.start()
		f.daemon.TellLitter(time.Now()) // too early
		f.daemon.TellLitter(time.Now().Add(3 * time.Minute))
		f.daemon.TellLitter(time.Now().Add(4 * time.Minute))
		f.until("the lead is told", func() bool { return len(told()) >= 4 })
		f.halt()
	}
	f.start()
	f.answer(f.send("coder", "work"))
	if got := told(); len(got) != 5 || !slices.Contains(got, "left in place: .hidden.md") || !slices.Contains(got, "left in place: task.sync-conflict-1.md") {
		t.Errorf("the lead was told %q", got)
	}
	for _, name := range names {
		if _, err := os.Stat(filepath.Join(f.store.Dir(), "coder", name)); err != nil {
			t.Error(err)
		}
	}
	if n := len(f.backend.Runs()); n != 1 {
		t.Errorf("%d turns, want 1", n)
	}
}
