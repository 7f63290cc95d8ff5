package tokens_test

import (
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

func TestRead(t *testing.T) {
	home := t.TempDir()
	if got, err := tokens.Read(home); len(got) > 0 || err != nil {
		t.Errorf("Read without a file = %q, %v, want none", got, err)
	}
	if err := os.WriteFile(tokens.File(home), []byte("coder ABC\n\nhalf a line\nlead XYZ\n  \ncut"), 0o600); err != nil {
		t.Fatal(err)
	}
	got, err := tokens.Read(home)
	if diff := cmp.Diff(map[string]string{"coder": "ABC", "half": "a line", "lead": "XYZ"}, got); err != nil || diff != "" {
		t.Errorf("Read: %v (-want +got):\n%s", err, diff)
	}
	if err := os.Remove(tokens.File(home)); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(tokens.File(home), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := tokens.Read(home); err == nil {
		t.Errorf("Read of a folder = %q, want an error", got)
	}
}
