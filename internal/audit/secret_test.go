package audit_test

import (
	"bytes"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/audit"
	"github.com/claude-swarm/claude-swarm/swarm/journal"
)

const token = "NDGFHCVWAUMSOU4NHL3JBTNHQD"

type hidden struct{}

func (hidden) Hidden(text []byte) []byte {
	return bytes.ReplaceAll(text, []byte(token), []byte("[token of coder]"))
}

// No commit contains a token. A file that contains a token is left out and named in the
// error; all other files are recorded.
func TestNoTokenIsCommitted(t *testing.T) {
	t.Parallel()
	p := newProject(t)
	o := p.options()
	o.Secrets = hidden{}
	a := p.auditWith(o)
	base := p.turn("coder", 1, p.now, func(r *journal.Receipt) { r.Text = "as asked" })
	message := filepath.Join(p.drop, base+".md")
	data := "---\nid: k000000001\nfrom: lead\nsubject: is it " + token + "?\n---\nIt is " + token + ".\n"
	p.write(message, data)
	p.write(filepath.Join(p.drop, "board", "status.md"), "my token is "+token+"\n")
	p.write(filepath.Join(p.drop, "board", "decisions.md"), "we use tabs\n")
	p.write(filepath.Join(p.drop, "attach", strings.Repeat("a", 64), "env.txt"), "TOKEN="+token+"\n")

	err := a.Record(t.Context())
	secret, ok := errors.AsType[*audit.SecretError](err)
	if !ok || !slices.Contains(secret.Files, "board/status.md") {
		t.Fatalf("Record = %v, want a SecretError for board/status.md", err)
	}
	commits := func() string { return p.git("log", "-p", "--all") }
	if text := commits(); strings.Contains(text, token) {
		t.Errorf("a commit contains the token:\n%s", text)
	} else if !strings.Contains(text, "we use tabs") || !strings.Contains(text, "as asked") {
		t.Errorf("a file without a token is not recorded:\n%s", text)
	}
	before := p.tip()
	if err := a.Record(t.Context()); err == nil || p.tip() != before {
		t.Errorf("the second Record = %v, want an error and the branch still at %s", err, before)
	}
	// A new daemon starts with a comparison from scratch.
	if err := p.auditWith(o).Record(t.Context()); err == nil || strings.Contains(commits(), token) || p.tip() != before {
		t.Errorf("after a restart Record = %v", err)
	}

	p.write(filepath.Join(p.drop, "board", "status.md"), "all is well\n")
	if err := a.Record(t.Context()); err != nil {
		t.Errorf("Record without the token = %v", err)
	}
	if text := commits(); !strings.Contains(text, "all is well") {
		t.Errorf("the page is not recorded without the token:\n%s", text)
	}
}
