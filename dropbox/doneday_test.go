package dropbox_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/claude-swarm/claude-swarm/dropbox"
)

// A message's receipt is found even if the clock was set back after the delivery. A
// receipt in a folder in done/ that is not a day's folder does not count.
func TestTheReceiptOfAMessageFromTheFuture(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	now = now.AddDate(0, 0, -6) // the clock was corrected
	c := claim(t, b, list(t, b)[0])
	elsewhere := filepath.Join(s.Dir(), "coder/done/kept")
	if err := os.MkdirAll(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(elsewhere, c.Base()+".receipt.yaml"), []byte("a copy\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if done, err := b.HasReceipt(c.Entry); err != nil || done {
		t.Errorf("HasReceipt before the turn = %v, %v", done, err)
	}
	if err := errors.Join(b.Commit(c.Entry, []byte("r\n")), b.Finish(c.Entry)); err != nil {
		t.Fatal(err)
	}
	if done, err := b.HasReceipt(c.Entry); err != nil || !done {
		t.Errorf("HasReceipt after the turn = %v, %v", done, err)
	}
}

// The receipt of an old message is in a day's folder that is found only by listing done/.
// If done/ cannot be listed, HasReceipt must not report that there is no receipt, because
// the message would then be handled again.
func TestHasReceiptNeedsTheDays(t *testing.T) {
	now := time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC)
	s := newStore(t, dropbox.Options{Now: func() time.Time { return now }}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	e := list(t, b)[0]
	now = now.AddDate(0, 0, 10)
	done := filepath.Join(s.Dir(), "coder/done")
	if err := errors.Join(os.RemoveAll(done), os.WriteFile(done, nil, 0o600)); err != nil {
		t.Fatal(err)
	}
	if there, err := b.HasReceipt(e); !errors.Is(err, syscall.ENOTDIR) {
		t.Errorf("HasReceipt = %v, %v, want the error %v", there, err, syscall.ENOTDIR)
	}
}

// The receipt stays in cur/ until the move of the message is durable.
func TestTheReceiptStaysUntilTheMessageIsFiled(t *testing.T) {
	failing := false
	s := newStore(t, dropbox.Options{Step: func(st dropbox.Step) error {
		if failing && st.Op == dropbox.OpSyncDir && strings.HasPrefix(st.Name, "coder/done/") {
			failing = false
			return syscall.EIO
		}
		return nil
	}}, "coder")
	b := mailbox(t, s, "coder")
	deliver(t, s, "coder", text("work"))
	c := claim(t, b, list(t, b)[0])
	if err := b.Commit(c.Entry, []byte("r\n")); err != nil {
		t.Fatal(err)
	}
	failing = true
	if err := b.Finish(c.Entry); !errors.Is(err, syscall.EIO) {
		t.Errorf("Finish = %v, want %v", err, syscall.EIO)
	}
	if left, err := b.Receipts(); err != nil || len(left) != 1 {
		t.Errorf("receipts in cur/: %v, %v, want one", left, err)
	}
	if err := b.Finish(c.Entry); err != nil {
		t.Error(err)
	}
}
