package mcpserver_test

import (
	"os"
	"path/filepath"
	"testing"
)

// A partial id is sufficient if it matches only one message that the agent may read. If
// it matches several messages, the error lists them, but never the mail of other agents.
func TestPartsOfIDs(t *testing.T) {
	p := newProject(t, asAgent("coder"))
	for file, text := range map[string]string{
		"coder/new/1-20261121T045102.123456Z-sameaaaaaa.md":    "first\nof two",
		"coder/new/1-20261121T045102.123456Z-samebbbbbb.md":    "second",
		"reviewer/new/1-20261121T045102.123456Z-samecccccc.md": "of somebody else",
		"coder/new/1-20261121T045102.123456Z-mineaaaaaa.md":    "mine",
		"reviewer/new/1-20261121T045102.123456Z-minebbbbbb.md": "not mine",
	} {
		data := []byte("---\nfrom: lead\ntype: note\n---\n" + text + "\n")
		if err := os.WriteFile(filepath.Join(p.store.Dir(), filepath.FromSlash(file)), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if out, text := p.call("read", `{"id":"mine"}`); out["id"] != "mineaaaaaa" {
		t.Errorf("read of the only one that coder may read: %v\n%s", out, text)
	}
	p.mistaken("read", arguments{"id": "same"}, "read: \"same\" matches 2 messages:\n  sameaaaaaa  lead → coder  note  first of two\n  samebbbbbb  lead → coder  note  second")
	p.mistaken("read", arguments{"id": "zzzz"}, "at least 4 characters from the beginning or the end of an id are enough")
}
