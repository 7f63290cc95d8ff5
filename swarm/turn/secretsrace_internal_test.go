package turn

import (
	"strconv"
	"sync"
	"testing"

	"github.com/claude-swarm/claude-swarm/internal/tokens"
)

// The supervisor removes secrets from its whispers while the turn finds new secrets. The
// race detector makes this test fail if Text is not safe for concurrent use.
func TestTextDuringATurn(t *testing.T) {
	s := NewSecrets(tokens.NewSource(t.TempDir()))
	var turn sync.WaitGroup
	turn.Go(func() {
		for n := range 200 {
			s.keep("secret-"+strconv.Itoa(n), "[secret]")
		}
	})
	for range 200 {
		if got := s.Text("it is safe"); got != "it is safe" {
			t.Errorf("Text = %q", got)
		}
	}
	turn.Wait()
	if got := s.Text("it is secret-199"); got != "it is [secret]" {
		t.Errorf("Text = %q, want no secret", got)
	}
}
