package dropbox_test

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

func TestDeadLetters(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	d := deliver(t, s, "coder", text("x"))
	c := claim(t, b, list(t, b)[0])
	back, err := b.PutBack(c.Entry, true)
	if err != nil {
		t.Fatal(err)
	}
	c = claim(t, b, back)
	for _, reason := range []string{"failed 3 times:\nno disk\n", "a second reason"} {
		if err := b.GiveUp(c.Entry, reason); err != nil {
			t.Fatal(err)
		}
	}
	dead := onlyDead(t, b)
	if dead.ID != d.ID || dead.Reason != "failed 3 times:\nno disk" || dead.Name != c.Base()+".md" || dead.Begun != 0 {
		t.Errorf("List() = %+v", dead)
	}
	if reason, err := b.Reason(dead.Entry); err != nil || reason != dead.Reason {
		t.Errorf("Reason = %q, %v", reason, err)
	}
	if err := b.DeadLetters().Retry(dead); err != nil {
		t.Fatal(err)
	}
	if err := b.DeadLetters().Retry(dead); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Retry = %v, want ErrGone", err)
	}
	e := list(t, b)[0]
	if e.Begun != 0 || e.Failed != 0 || e.ID != d.ID {
		t.Errorf("after Retry %+v waits", e)
	}
	if err := b.Cancel(e); err != nil {
		t.Fatal(err)
	}
	if err := b.Cancel(e); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Cancel = %v, want ErrGone", err)
	}
	dead = onlyDead(t, b)
	if dead.Reason != "cancelled while it waited" {
		t.Errorf("reason %q", dead.Reason)
	}
	if err := b.DeadLetters().Purge(dead); err != nil {
		t.Fatal(err)
	}
	if err := b.DeadLetters().Purge(dead); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("second Purge = %v, want ErrGone", err)
	}
	if err := b.GiveUp(e, "gone"); !errors.Is(err, dropbox.ErrGone) {
		t.Errorf("GiveUp of a missing message = %v, want ErrGone", err)
	}
	if left := tree(t, filepath.Join(s.Dir(), "coder/dead")); len(left) != 0 {
		t.Errorf("left in dead: %v", left)
	}
}

// A dropped file that became a dead letter can be listed, retried and purged, regardless
// of its name.
func TestSetAsideNames(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	for name, want := range map[string]string{
		"a\nb\x1b[31m.md":        "a_b_[31m.md",
		"a\u0080\u009bJ\u2028b":  "a__J_b",
		"---":                    "file",
		"-rf":                    "rf",
		"not\xffutf8":            "not_utf8",
		strings.Repeat("ü", 127): strings.Repeat("ü", 60),
		"x.reason.txt":           "x.reason.txt_",
		"Über uns.md":            "Über uns.md",
	} {
		drop(t, s, "coder", name, "content")
		if err := b.Drops().SetAside(onlyStray(t, b), "why"); err != nil {
			t.Fatal(err)
		}
		dead := onlyDead(t, b)
		if dead.Original != want || !strings.Contains(dead.Reason, "why") {
			t.Errorf("%q became %+v, want %q", name, dead, want)
		}
		if f, err := s.Find(dead.ID); err != nil || f.State != dropbox.Dead {
			t.Errorf("Find(%s) = %+v, %v", dead.ID, f, err)
		}
		// A drop with the same name is not replaced, and the reason is kept.
		drop(t, s, "coder", want, "another")
		if err := b.DeadLetters().Retry(dead); !errors.Is(err, fs.ErrExist) || onlyDead(t, b) != dead {
			t.Errorf("Retry over another file = %v", err)
		}
		if err := os.Remove(filepath.Join(s.Dir(), "coder", want)); err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(b.DeadLetters().Retry(dead), b.Drops().SetAside(onlyStray(t, b), "again"), b.DeadLetters().Purge(onlyDead(t, b))); err != nil {
			t.Fatal(err)
		}
	}
}

// If BeginGiveUp is repeated after a crash, it returns the same time. After the message is
// retried, it returns a later time.
func TestBeginGiveUp(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("x"))
	var times []time.Time
	for range 2 {
		c := claim(t, b, list(t, b)[0])
		first, err := b.BeginGiveUp(c.Entry, "why")
		if err != nil {
			t.Fatal(err)
		}
		cut, err := b.Reasons()
		if err != nil || len(cut) != 1 || cut[0].ID != c.ID {
			t.Fatalf("Reasons = %v (%v), want the message whose reason is written", cut, err)
		}
		again, err := b.BeginGiveUp(cut[0], "why else")
		if err != nil || !again.Equal(first) {
			t.Errorf("BeginGiveUp = %v (%v), want %v as before", again, err, first)
		}
		if err := b.GiveUp(c.Entry, "why else"); err != nil {
			t.Fatal(err)
		}
		d := onlyDead(t, b)
		if d.Reason != "why" {
			t.Errorf("the reason is %q, want the first one", d.Reason)
		}
		times = append(times, first)
		if err := b.DeadLetters().Retry(d); err != nil {
			t.Fatal(err)
		}
	}
	if !times[1].After(times[0]) {
		t.Errorf("given up at %v, want a later time after the retry", times)
	}
}

// A dead letter that would be set aside again is found before it is retried, in the state in
// which it is then.
func TestCheckRetry(t *testing.T) {
	s := newStore(t, dropbox.Options{}, "coder")
	b := mailbox(t, s, "coder")
	for content, ok := range map[string]bool{"text": true, "a\x00b": false, "\xff": false, " \n": false, "---\nhops: many\n---\nx": false} {
		if err := os.WriteFile(filepath.Join(s.Dir(), "coder/new/plan.txt"), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := b.ListAside(); err != nil {
			t.Fatal(err)
		}
		dead := onlyDead(t, b)
		if err := b.DeadLetters().CheckRetry(dead); (err == nil) != ok || err != nil && !errors.Is(err, dropbox.ErrInvalid) {
			t.Errorf("CheckRetry of %q = %v", content, err)
		}
		if err := os.WriteFile(filepath.Join(s.Dir(), "coder/dead", dead.Name), []byte("corrected"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := b.DeadLetters().CheckRetry(dead); err != nil {
			t.Errorf("CheckRetry of a corrected file = %v", err)
		}
		if err := b.DeadLetters().Purge(dead); err != nil {
			t.Fatal(err)
		}
	}
}
